package retention

import (
	"context"
	"errors"
	"fmt"
	"time"

	native "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/pkg/clickhouse"
	"lodestone/pkg/event"
	"lodestone/pkg/kafka"
	"lodestone/pkg/store"
)

// monthsBefore returns the months before one that have rows, the oldest first.
func monthsBefore(ctx context.Context, conn driver.Conn, first uint32) ([]uint32, error) {
	tables, err := monthly(ctx, conn)
	if err != nil {
		return nil, err
	}
	var months []uint32
	err = conn.QueryRow(ctx, `SELECT arraySort(groupUniqArray(toUInt32(partition_id))) FROM system.parts
		WHERE database = 'lodestone' AND active AND rows > 0 AND has(?, table) AND toUInt32OrZero(partition_id) < ?`, tables, first).Scan(&months)
	if err != nil {
		return nil, fmt.Errorf("list months: %w", err)
	}
	return months, nil
}

// firstKept returns the oldest month that is retained, and 0 if all are. Deletion is final, so a
// clock that is fast must not decide: the slowest clock of this machine, of ClickHouse and of
// Postgres does.
func (j *Job) firstKept(ctx context.Context, conn driver.Conn, s Setting) (uint32, error) {
	now := time.Now()
	theirs, err := clock(ctx, conn)
	if err != nil {
		return 0, err
	}
	if theirs.Before(now) {
		now = theirs
	}
	if theirs, err = store.New(j.pool.Unscoped()).Now(ctx); err != nil {
		return 0, fmt.Errorf("read Postgres' clock: %w", err)
	}
	if theirs.Before(now) {
		now = theirs
	}
	now = now.UTC()
	months := s.At(now)
	if months == 0 {
		return 0, nil
	}
	return monthOf(time.Date(now.Year(), now.Month()-time.Month(months), 1, 0, 0, 0, 0, time.UTC)), nil
}

// provenFor is how long, by ClickHouse's clock, a step may begin to drop after Postgres has
// confirmed the lock. A process that gets the lock and finds a step that has not begun to drop
// waits longer: the process of that step may not know yet that it lost the lock, as when another
// Postgres took over.
const (
	provenFor = 3 * time.Second
	abandoned = 2 * provenFor
)

// step deletes one month of a shard, and returns false if it cannot be deleted yet. Its views are
// written down first, which may take long, and keeps no one from counting; only the deletion
// excludes counters.
func (j *Job) step(ctx context.Context, client *kgo.Client, all, conn driver.Conn,
	month uint32) (dropped bool, err error) {
	held, err := j.needed(ctx, client, conn, month)
	if err != nil || held {
		return false, err
	}
	err = j.pool.Transaction(ctx, func(tx pgx.Tx) error {
		q := store.New(tx)
		if err := q.AllowIdle(ctx); err != nil {
			return fmt.Errorf("keep the retention's lock: %w", err)
		}
		mine, err := q.TryLock(ctx, jobKey+int64(j.store.Number()))
		if err != nil || !mine { // another process is at it
			return err
		}
		w, err := j.begin(ctx, all, conn, month)
		if err != nil {
			return err
		}
		if err := w.write(ctx); err != nil {
			return err
		}
		for try := 1; ; try++ {
			dropped, err = j.drop(ctx, w)
			if !clickhouse.IsFenced(err) || try == mostTries {
				return err
			}
			if _, lost := q.Now(ctx); lost != nil { // with the lock: another process may be at it
				return errors.Join(err, lost)
			}
			j.log.Warn("ClickHouse was too slow to delete a month safely, will try again", "month", month, "error", err)
		}
	})
	return dropped && err == nil, err
}

// mostTries is how often a step tries to delete its month on a ClickHouse that is too slow for that
// (provenFor), until the next pass.
const mostTries = 5

// drop deletes a month whose views are written down, if nothing was stored of it meanwhile. If that
// comes too late, it has changed nothing.
func (j *Job) drop(ctx context.Context, w *writedown) (dropped bool, err error) {
	err = j.pool.Transaction(ctx, func(tx pgx.Tx) error {
		if err := Lock(ctx, tx); err != nil {
			return err
		}
		due, err := j.stillDue(ctx, tx, w.conn, w.month)
		if err != nil || !due {
			return err
		}
		s, err := readState(ctx, w.conn)
		if err != nil {
			return err
		}
		rows, err := monthRows(ctx, w.conn, w.month)
		if err != nil {
			return err
		}
		if s != w.state || rows != w.rows { // the next pass begins again
			return w.end(ctx)
		}
		now, err := clock(ctx, w.conn)
		if err != nil {
			return err
		}
		if _, err := store.New(tx).Now(ctx); err != nil { // the lock is still held
			return fmt.Errorf("keep the counters' lock: %w", err)
		}
		if j.beforeDrop != nil {
			j.beforeDrop()
		}
		s.phase = dropping
		if err := s.writeBefore(ctx, w.conn, now.Add(provenFor)); err != nil {
			return err
		}
		dropped = true
		if err := finish(ctx, w.conn, s); err != nil {
			return err
		}
		return w.end(ctx)
	})
	return dropped && err == nil, err
}

// stillDue reads the setting again, and locks it until the transaction ends.
func (j *Job) stillDue(ctx context.Context, tx pgx.Tx, conn driver.Conn, month uint32) (bool, error) {
	recorded, err := store.New(tx).LockRetentionSetting(ctx)
	if err != nil {
		return false, fmt.Errorf("read the recorded retention: %w", err)
	}
	first, err := j.firstKept(ctx, conn, settingOf(recorded))
	return month < first, err
}

// needed reports whether the rows of a month are still needed: because Kafka has a record of one of
// them, so that a consumer whose commits are lost would store it again, and a check would report it
// as lost; or because the counters do not have it yet.
func (j *Job) needed(ctx context.Context, client *kgo.Client, conn driver.Conn, month uint32) (bool, error) {
	for topic, table := range map[string]string{event.Topic: "events", event.LinkViewTopic: "link_views"} {
		id, _, err := kafka.Topic(ctx, client, topic)
		if err != nil {
			return false, err
		}
		ranges, err := kafka.Ranges(ctx, client, topic)
		if err != nil {
			return false, err
		}
		ends, err := lastOffsets(ctx, conn, table, month)
		if err != nil {
			return false, err
		}
		for at, last := range ends {
			counted, err := store.New(j.pool.Unscoped()).PartitionProgress(ctx,
				store.PartitionProgressParams{TopicID: at.topicID, Partition: at.partition})
			if err != nil {
				return false, fmt.Errorf("read the counters' progress: %w", err)
			}
			r, isIn := ranges[at.partition]
			if last >= counted.NextOffset || at.topicID == id && isIn && last >= r.From {
				return true, nil
			}
		}
	}
	return false, nil
}

type partition struct {
	topicID   uuid.UUID
	partition int32
}

// lastOffsets returns the last offset of each partition that has rows of a month.
func lastOffsets(ctx context.Context, conn driver.Conn, table string, month uint32) (map[partition]int64, error) {
	rows, err := conn.Query(native.Context(ctx, native.WithParameters(native.Parameters{"month": number(month)})),
		"SELECT kafka_topic_id, kafka_partition, max(kafka_offset) FROM lodestone."+table+
			" WHERE toYYYYMM(created_at) = {month:UInt32} GROUP BY kafka_topic_id, kafka_partition")
	if err != nil {
		return nil, fmt.Errorf("find the offsets of month %d of %s: %w", month, table, err)
	}
	ends := map[partition]int64{}
	for rows.Next() {
		var at partition
		var last int64
		if err = rows.Scan(&at.topicID, &at.partition, &last); err != nil {
			break
		}
		ends[at] = last
	}
	if err = errors.Join(err, rows.Err(), rows.Close()); err != nil {
		return nil, fmt.Errorf("find the offsets of month %d of %s: %w", month, table, err)
	}
	return ends, nil
}

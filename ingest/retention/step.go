package retention

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"time"

	native "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/pkg/clickhouse"
	"lodestone/pkg/event"
	"lodestone/pkg/kafka"
	"lodestone/pkg/service"
	"lodestone/pkg/store"
)

// lockKey is the key of the advisory lock that counters share and that who drops months holds
// alone.
const lockKey = 0x6c6f6465_636f756e // "lodecoun"

// Lock waits for the lock, and holds it alone until the transaction ends: no other process counts
// views or drops months meanwhile.
func Lock(ctx context.Context, tx pgx.Tx) error {
	return take(ctx, tx, func(q *store.Queries) error { return q.Lock(ctx, lockKey) })
}

// Share waits until no month is dropped, and keeps months from being dropped until the transaction
// ends.
func Share(ctx context.Context, tx pgx.Tx) error {
	return take(ctx, tx, func(q *store.Queries) error { return q.LockShared(ctx, lockKey) })
}

// TryShare does the same without waiting, and reports whether it could.
func TryShare(ctx context.Context, tx pgx.Tx) (shared bool, err error) {
	err = take(ctx, tx, func(q *store.Queries) (err error) {
		shared, err = q.TryLockShared(ctx, lockKey)
		return err
	})
	return shared, err
}

// take takes the lock for a transaction that does nothing while ClickHouse works.
func take(ctx context.Context, tx pgx.Tx, lock func(*store.Queries) error) error {
	q := store.New(tx)
	err := q.AllowIdle(ctx)
	if err == nil {
		err = lock(q)
	}
	if err != nil {
		return fmt.Errorf("take the counters' lock: %w", err)
	}
	return nil
}

type phase string

const (
	writingDown phase = "writing"
	dropping    phase = "dropping"
	done        phase = "done"
)

// state is the last step and its phase.
type state struct {
	step, month uint32
	phase       phase
}

func readState(ctx context.Context, conn driver.Conn) (s state, err error) {
	var at string
	err = conn.QueryRow(ctx, "SELECT step, month, toString(phase) FROM lodestone.retention_steps ORDER BY step DESC, phase DESC LIMIT 1").
		Scan(&s.step, &s.month, &at)
	if errors.Is(err, sql.ErrNoRows) {
		return state{phase: done}, nil
	}
	if err != nil {
		return s, fmt.Errorf("read how far the retention is: %w", err)
	}
	s.phase = phase(at)
	return s, nil
}

func (s state) write(ctx context.Context, conn driver.Conn) error {
	return s.writeBefore(ctx, conn, time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC))
}

// writeBefore writes the state if ClickHouse's clock shows less than a time.
func (s state) writeBefore(ctx context.Context, conn driver.Conn, before time.Time) error {
	err := execute(ctx, conn, `INSERT INTO lodestone.retention_steps (step, month, phase) SETTINGS async_insert = 0
		SELECT {step:UInt32}, {month:UInt32}, {phase:String} WHERE throwIf(now64(3) >= fromUnixTimestamp64Milli({before:Int64}), 'the step comes too late') = 0`, native.Parameters{
		"step": number(s.step), "month": number(s.month), "phase": string(s.phase), "before": strconv.FormatInt(before.UnixMilli(), 10),
	})
	if err != nil {
		return fmt.Errorf("write down how far the retention is: %w", err)
	}
	return nil
}

func number(n uint32) string { return strconv.FormatUint(uint64(n), 10) }

func execute(ctx context.Context, conn driver.Conn, query string, p native.Parameters) error {
	return conn.Exec(native.Context(ctx, native.WithParameters(p)), query)
}

// DoneSteps returns the steps whose months are deleted.
func DoneSteps(ctx context.Context, conn driver.Conn) ([]int64, error) {
	var steps []int64
	err := conn.QueryRow(ctx, "SELECT groupUniqArray(toInt64(step)) FROM lodestone.retention_steps WHERE phase = 'done'").Scan(&steps)
	if err != nil {
		return nil, fmt.Errorf("read the steps of the retention: %w", err)
	}
	return steps, nil
}

// Moved counts the recorded phases of steps. If it is the same before and after rows were read, no
// month was dropped meanwhile, whoever held the lock.
func Moved(ctx context.Context, conn driver.Conn) (n uint64, err error) {
	err = clickhouse.EachShard(conn, func(shard driver.Conn) error {
		var steps uint64
		if err := shard.QueryRow(ctx, "SELECT count() FROM lodestone.retention_steps").Scan(&steps); err != nil {
			return fmt.Errorf("read how far the retention is: %w", err)
		}
		n += steps
		return nil
	})
	return n, err
}

// Finish drops the rest of a month whose views are stored. Every process that counts rows calls it
// first, under the lock, or views would count twice.
func Finish(ctx context.Context, conn driver.Conn) error {
	return clickhouse.EachShard(conn, func(shard driver.Conn) error {
		s, err := readState(ctx, shard)
		if err != nil || s.phase != dropping {
			return err
		}
		return finish(ctx, shard, s)
	})
}

func finish(ctx context.Context, conn driver.Conn, s state) error {
	tables, err := monthly(ctx, conn)
	if err != nil {
		return err
	}
	for _, table := range tables {
		// The server's limit is against mistakes by hand.
		if err := conn.Exec(ctx, "ALTER TABLE lodestone."+table+" DROP PARTITION ID '"+number(s.month)+"' SETTINGS max_partition_size_to_drop = 0"); err != nil {
			return fmt.Errorf("drop month %d of %s: %w", s.month, table, err)
		}
	}
	s.phase = done
	return s.write(ctx, conn)
}

// monthly returns the tables that are partitioned by month: those of events, and those derived from
// them.
func monthly(ctx context.Context, conn driver.Conn) (tables []string, err error) {
	err = conn.QueryRow(ctx, "SELECT groupArray(name) FROM system.tables WHERE database = 'lodestone' AND partition_key = 'toYYYYMM(created_at)'").Scan(&tables)
	if err != nil {
		return nil, fmt.Errorf("list tables by month: %w", err)
	}
	return tables, nil
}

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
func (j *Job) step(ctx context.Context, client *kgo.Client, all, conn driver.Conn, month uint32) (dropped bool, err error) {
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
func (j *Job) drop(ctx context.Context, w *writing) (dropped bool, err error) {
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

// lastStep returns the last step once no other process can go on with it.
func lastStep(ctx context.Context, conn driver.Conn) (state, error) {
	s, err := readState(ctx, conn)
	if err != nil || s.phase != writingDown {
		return s, err
	}
	begin, err := clock(ctx, conn)
	if err != nil {
		return s, err
	}
	for now := begin; now.Before(begin.Add(abandoned)); {
		if err := service.Sleep(ctx, abandoned/10); err != nil {
			return s, err
		}
		if now, err = clock(ctx, conn); err != nil {
			return s, err
		}
	}
	return readState(ctx, conn)
}

// clock returns ClickHouse's time.
func clock(ctx context.Context, conn driver.Conn) (now time.Time, err error) {
	if err := conn.QueryRow(ctx, "SELECT now64(3)").Scan(&now); err != nil {
		return now, fmt.Errorf("read ClickHouse's clock: %w", err)
	}
	return now, nil
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
			counted, err := store.New(j.pool.Unscoped()).PartitionProgress(ctx, store.PartitionProgressParams{TopicID: at.topicID, Partition: at.partition})
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

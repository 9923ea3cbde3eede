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

	"lodestone/ingest/view"
	"lodestone/pkg/event"
	"lodestone/pkg/kafka"
	"lodestone/pkg/service"
	"lodestone/pkg/store"
)

// lockKey is the key of the advisory lock under which counters are set and months are dropped.
const lockKey = 0x6c6f6465_636f756e // "lodecoun"

// Lock waits for the lock, and holds it until the transaction ends: no other process counts views or drops months
// meanwhile.
func Lock(ctx context.Context, tx pgx.Tx) error {
	if err := store.New(tx).Lock(ctx, lockKey); err != nil {
		return fmt.Errorf("take the counters' lock: %w", err)
	}
	return nil
}

// TryLock takes the lock if it is free, and reports whether it did.
func TryLock(ctx context.Context, tx pgx.Tx) (mine bool, err error) {
	if mine, err = store.New(tx).TryLock(ctx, lockKey); err != nil {
		return false, fmt.Errorf("take the counters' lock: %w", err)
	}
	return mine, nil
}

type phase string

const (
	writing  phase = "writing"
	dropping phase = "dropping"
	done     phase = "done"
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

// Moved counts the recorded phases of steps. If it is the same before and after rows were read, no month was dropped
// meanwhile, whoever held the lock.
func Moved(ctx context.Context, conn driver.Conn) (n uint64, err error) {
	if err := conn.QueryRow(ctx, "SELECT count() FROM lodestone.retention_steps").Scan(&n); err != nil {
		return 0, fmt.Errorf("read how far the retention is: %w", err)
	}
	return n, nil
}

// Finish drops the rest of a month whose views are stored. Every process that counts rows calls it first, under the
// lock, or views would count twice.
func Finish(ctx context.Context, conn driver.Conn) error {
	s, err := readState(ctx, conn)
	if err != nil || s.phase != dropping {
		return err
	}
	return finish(ctx, conn, s)
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

// monthly returns the tables that are partitioned by month: those of events, and those derived from them.
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

// provenFor is how long, by ClickHouse's clock, a step may begin to drop after Postgres has confirmed the lock. A
// process that gets the lock and finds a step that has not begun to drop waits longer: the process of that step may not
// know yet that it lost the lock, as when another Postgres took over.
const (
	provenFor = 3 * time.Second
	abandoned = 2 * provenFor
)

// step deletes one month, and returns false if it cannot be deleted yet.
func (j *Job) step(ctx context.Context, client *kgo.Client, conn driver.Conn, month uint32) (dropped bool, err error) {
	held, err := inKafka(ctx, client, conn, month)
	if err != nil || held {
		return false, err
	}
	err = j.pool.Transaction(ctx, func(tx pgx.Tx) error {
		// Adding up a large month takes a while, in which the transaction does nothing.
		q := store.New(tx)
		if err := q.AllowIdle(ctx); err != nil {
			return fmt.Errorf("keep the counters' lock: %w", err)
		}
		if err := Lock(ctx, tx); err != nil {
			return err
		}
		due, err := j.stillDue(ctx, tx, conn, month)
		if err != nil || !due {
			return err
		}
		s, err := lastStep(ctx, conn)
		if err != nil {
			return err
		}
		s = state{step: s.step + 1, month: month, phase: writing} // what a step wrote that was cut off never counts
		if err := s.write(ctx, conn); err != nil {
			return err
		}
		if err := writeDown(ctx, conn, s); err != nil {
			return err
		}
		now, err := clock(ctx, conn)
		if err != nil {
			return err
		}
		if _, err := q.Now(ctx); err != nil { // the lock is still held
			return fmt.Errorf("keep the counters' lock: %w", err)
		}
		if j.beforeDrop != nil {
			j.beforeDrop()
		}
		s.phase = dropping
		if err := s.writeBefore(ctx, conn, now.Add(provenFor)); err != nil {
			return err
		}
		dropped = true
		return finish(ctx, conn, s)
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

// lastStep returns the last step once nothing of it can still take effect.
func lastStep(ctx context.Context, conn driver.Conn) (state, error) {
	s, err := readState(ctx, conn)
	if err != nil {
		return s, err
	}
	if s.phase == writing {
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
	}
	if err := Finish(ctx, conn); err != nil {
		return s, err
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

// inKafka reports whether Kafka has a record that is a row of the month. While it has, a consumer whose commits are
// lost would store it again, and a check would report it as lost.
func inKafka(ctx context.Context, client *kgo.Client, conn driver.Conn, month uint32) (bool, error) {
	for topic, table := range map[string]string{event.Topic: "events", event.LinkViewTopic: "link_views"} {
		id, _, err := kafka.Topic(ctx, client, topic)
		if err != nil {
			return false, err
		}
		ranges, err := kafka.Ranges(ctx, client, topic)
		if err != nil {
			return false, err
		}
		held, err := anyInLog(ctx, conn, table, id, ranges, month)
		if err != nil || held {
			return held, err
		}
	}
	return false, nil
}

func anyInLog(ctx context.Context, conn driver.Conn, table string, id uuid.UUID, ranges map[int32]kafka.Range, month uint32) (held bool, err error) {
	rows, err := conn.Query(native.Context(ctx, native.WithParameters(native.Parameters{"topic": id.String(), "month": number(month)})),
		"SELECT kafka_partition, max(kafka_offset) FROM lodestone."+table+
			" WHERE toYYYYMM(created_at) = {month:UInt32} AND kafka_topic_id = {topic:UUID} GROUP BY kafka_partition")
	if err != nil {
		return false, fmt.Errorf("find the offsets of month %d of %s: %w", month, table, err)
	}
	for rows.Next() {
		var partition int32
		var last int64
		if err = rows.Scan(&partition, &last); err != nil {
			break
		}
		if r, ok := ranges[partition]; ok && last >= r.From {
			held = true
		}
	}
	if err = errors.Join(err, rows.Err(), rows.Close()); err != nil {
		return false, fmt.Errorf("find the offsets of month %d of %s: %w", month, table, err)
	}
	return held, nil
}

// accessLinkViews stores the views that end with a month: sessions with a page in it and none in a later one, which
// will count as long as that has rows. The first view of such a session is stored as well.
const accessLinkViews = `
INSERT INTO lodestone.expired_views (account_id, link_id, step, views, first, last)
SELECT account_id, access_link_id, {step:UInt32}, countIf(until < fromUnixTimestamp64Milli({end:Int64})), min(since), max(until)
FROM
(
    SELECT account_id, access_link_id, lead_magnet_id,
        if(session_id = toUUID('00000000-0000-0000-0000-000000000000'), event_id, session_id) AS session,
        min(created_at) AS since, max(created_at) AS until
    FROM lodestone.events
    WHERE event_type = 'page_viewed' AND bot = '' AND (account_id, access_link_id, lead_magnet_id, session) IN
    (
        SELECT account_id, access_link_id, lead_magnet_id,
            if(session_id = toUUID('00000000-0000-0000-0000-000000000000'), event_id, session_id)
        FROM lodestone.events
        WHERE toYYYYMM(created_at) = {month:UInt32} AND event_type = 'page_viewed' AND bot = ''
    )
    GROUP BY account_id, access_link_id, lead_magnet_id, session
)
GROUP BY account_id, access_link_id`

// genericLinkViews stores the views of landing pages in a month.
func genericLinkViews() string {
	return `
INSERT INTO lodestone.expired_views (account_id, link_id, step, views, first, last)
SELECT account_id, generic_link_id, {step:UInt32}, sum(views), min(since), max(until)
FROM (` + view.Landings("toYYYYMM(created_at) = {month:UInt32}") + `)
GROUP BY account_id, generic_link_id` + view.InOrder
}

// writeDown stores what counters need of a month.
func writeDown(ctx context.Context, conn driver.Conn, s state) error {
	p := native.Parameters{
		"step": number(s.step), "month": number(s.month), "end": strconv.FormatInt(endOf(s.month).UnixMilli(), 10),
	}
	for _, query := range []string{accessLinkViews, genericLinkViews()} {
		if err := execute(ctx, conn, query, p); err != nil {
			return fmt.Errorf("write down the views of month %d: %w", s.month, err)
		}
	}
	return nil
}

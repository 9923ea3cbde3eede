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
	"github.com/jackc/pgx/v5"

	"lodestone/pkg/clickhouse"
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
	err = conn.QueryRow(ctx,
		"SELECT step, month, toString(phase) FROM lodestone.retention_steps ORDER BY step DESC, phase DESC LIMIT 1").
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
		"step": number(s.step), "month": number(s.month), "phase": string(s.phase),
		"before": strconv.FormatInt(before.UnixMilli(), 10),
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
	err := conn.QueryRow(ctx,
		"SELECT groupUniqArray(toInt64(step)) FROM lodestone.retention_steps WHERE phase = 'done'").Scan(&steps)
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
		if err := conn.Exec(ctx, "ALTER TABLE lodestone."+table+" DROP PARTITION ID '"+number(s.month)+
			"' SETTINGS max_partition_size_to_drop = 0"); err != nil {
			return fmt.Errorf("drop month %d of %s: %w", s.month, table, err)
		}
	}
	s.phase = done
	return s.write(ctx, conn)
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

// monthOf returns the month in the format of ClickHouse's toYYYYMM.
func monthOf(t time.Time) uint32 { return uint32(t.Year()*100 + int(t.Month())) }

// endOf returns the start of the month after a month.
func endOf(month uint32) time.Time {
	return time.Date(int(month/100), time.Month(month%100)+1, 1, 0, 0, 0, 0, time.UTC)
}

// monthly returns the tables that are partitioned by month: those of events, and those derived from
// them.
func monthly(ctx context.Context, conn driver.Conn) (tables []string, err error) {
	err = conn.QueryRow(ctx,
		"SELECT groupArray(name) FROM system.tables WHERE database = 'lodestone' AND partition_key = 'toYYYYMM(created_at)'").Scan(&tables)
	if err != nil {
		return nil, fmt.Errorf("list tables by month: %w", err)
	}
	return tables, nil
}

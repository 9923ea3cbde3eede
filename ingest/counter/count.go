package counter

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	native "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/pkg/clickhouse"
	"lodestone/pkg/event"
	"lodestone/pkg/store"
)

// kind is what is counted from one topic.
type kind struct {
	topic string
	table string // ClickHouse: that of the rows
	link  string // its column

	// read reads what the rows of a span add to the counters. Postgres is not touched.
	read func(ctx context.Context, conn driver.Conn, s span) (addition, error)
	set  setter
}

// setter sets the counters of links by everything that is stored.
type setter func(ctx context.Context, conn driver.Conn, q *store.Queries, links []link) error

func kinds() []kind {
	return []kind{
		{event.Topic, "events", "access_link_id", readSessions, setAccessLinks},
		{event.LinkViewTopic, "link_views", "generic_link_id", readLandings, setGenericLinks},
	}
}

// addition is what the rows of a span add.
type addition interface {
	links() []uuid.UUID
	// store adds to the counters in Postgres. What is added twice counts once, except for the activity
	// of open sessions. The error is errBusy if it cannot at the moment.
	store(ctx context.Context, tx pgx.Tx) error
	// rowsSince is a time shortly before which the rows of the next span were stored.
	rowsSince() time.Time
}

// link is a link whose counters are set.
type link struct{ account, id uuid.UUID }

// errBusy means that another process counts the partition, or deletes a month.
var errBusy = errors.New("another process is counting")

// count counts a span, which is at most spanOffsets long. Everything that is written, and the
// progress, is one transaction: an interrupted count leaves nothing. The partition is locked for
// its time, so that no other process does the same work. ClickHouse is read before a row is locked.
//
// The error is errBusy if another process has the partition, or has advanced the progress
// meanwhile.
func (c *Counter) count(ctx context.Context, conn driver.Conn, k kind, s span) error {
	links := 0
	err := c.pool.Transaction(ctx, func(tx pgx.Tx) error {
		mine, err := s.tryLock(ctx, tx)
		if err != nil {
			return err
		}
		if !mine {
			return errBusy
		}
		q := store.New(tx)
		at, err := q.PartitionProgress(ctx, store.PartitionProgressParams{TopicID: s.topicID, Partition: s.partition})
		if err != nil || at.NextOffset != s.from {
			return cmp.Or(err, errBusy)
		}
		s.rowsSince = at.RowsSince
		added, err := k.read(ctx, conn, s)
		if err != nil {
			return err
		}
		if links = len(added.links()); links > 0 {
			if err := added.store(ctx, tx); err != nil {
				return fmt.Errorf("add to counters: %w", err)
			}
		}
		return s.setProgress(ctx, q, added.rowsSince())
	})
	if err == nil {
		c.links.Add(float64(links))
	}
	return err
}

// countRows counts the rows of a span and lists their accounts, by the projection by_offset. It has
// no times, so a little of every part of the table is read.
const countRows = `SELECT count(), groupUniqArray(account_id) FROM lodestone.%s
WHERE kafka_topic_id = {topic:UUID} AND kafka_partition = {partition:Int32} AND kafka_offset >= {from:Int64} AND kafka_offset < {to:Int64}`

// search reads the rows of a span without knowing when they were stored or happened, which the
// tables are ordered by. It looks at the likely times first, and at others until it has as many
// rows as by_offset says. Conditions exclude those before.
//
// fn runs a query with a condition and returns how many rows of the span it found.
func (s span) search(ctx context.Context, conn driver.Conn, table string, conditions []string, fn func(ctx context.Context, condition string) (uint64, error)) error {
	since := s.rowsSince
	if since.Before(time.Unix(0, 0)) {
		since = time.Now().Add(-time.Hour)
	}
	p := s.parameters()
	p["since"] = fmt.Sprint(since.UnixMilli())
	var want, got uint64
	var accounts []uuid.UUID
	if err := conn.QueryRow(native.Context(ctx, native.WithParameters(p)), fmt.Sprintf(countRows, table)).Scan(&want, &accounts); err != nil {
		return fmt.Errorf("count new rows of %s: %w", table, err)
	}
	p["accounts"] = clickhouse.UUIDs(accounts)
	ctx = native.Context(ctx, native.WithParameters(p))
	before := ""
	for _, condition := range conditions {
		if got >= want {
			break
		}
		n, err := fn(ctx, "("+condition+")"+before)
		if err != nil {
			return fmt.Errorf("read new rows of %s: %w", table, err)
		}
		got += n
		before += " AND NOT (" + condition + ")"
	}
	if got != want {
		return fmt.Errorf("read new rows of %s: %d rows of partition %d from offset %d to %d, but the index has %d: they change", table, got, s.partition, s.from, s.to-1, want)
	}
	return nil
}

func distinct(ids []uuid.UUID) []uuid.UUID {
	slices.SortFunc(ids, func(a, b uuid.UUID) int { return slices.Compare(a[:], b[:]) })
	return slices.Compact(ids)
}

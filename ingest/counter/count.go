package counter

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	native "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/pkg/clickhouse"
	"lodestone/pkg/event"
	"lodestone/pkg/postgres"
	"lodestone/pkg/store"
)

// kind is what is counted from one topic.
type kind struct {
	topic string
	table string // ClickHouse: that of the rows
	link  string // its column

	// read reads what the rows of a span add to the counters. Postgres is not touched.
	read func(ctx context.Context, conn driver.Conn, s span) (addition, error)
	// set sets the counters of links by everything that is stored.
	set func(ctx context.Context, conn driver.Conn, q *store.Queries, links []link) error
}

func kinds() []kind {
	return []kind{
		{event.Topic, "events", "access_link_id", readSessions, setAccessLinks},
		{event.LinkViewTopic, "link_views", "generic_link_id", readLandings, setGenericLinks},
	}
}

// addition is what the rows of a span add.
type addition interface {
	links() []uuid.UUID
	// stale returns the links to set by everything that is stored before the addition is stored.
	stale(ctx context.Context, q *store.Queries) ([]link, error)
	// store adds to the counters in Postgres. What is added twice counts once, except for the activity of open sessions.
	store(ctx context.Context, q *store.Queries) error
	// rowsSince is a time shortly before which the rows of the next span were stored.
	rowsSince() time.Time
}

// link is a link whose counters are set.
type link struct{ account, id uuid.UUID }

// errBusy means that another process counts the partition, or deletes a month.
var errBusy = errors.New("another process is counting")

// staleError asks for links to be set by everything that is stored, before the span is counted.
type staleError []link

func (s staleError) Error() string { return fmt.Sprintf("%d links are to be counted again", len(s)) }

// count counts a span, which is at most spanOffsets long. Everything that is written, and the progress, is one transaction:
// an interrupted count leaves nothing. The partition is locked for its time, so that no other process does the same work.
// ClickHouse is read before a row is locked.
//
// The error is errBusy if another process has the partition, or has advanced the progress meanwhile.
func (c *Counter) count(ctx context.Context, conn driver.Conn, k kind, s span) error {
	for {
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
			if err := add(ctx, q, added); err != nil {
				return err
			}
			links = len(added.links())
			return s.setProgress(ctx, q, added.rowsSince())
		})
		var stale staleError
		if !errors.As(err, &stale) {
			c.links.Add(float64(links))
			return err
		}
		if s, err = s.withSet(ctx, c.pool, conn, k, stale); err != nil {
			return err
		}
	}
}

// withSet sets links by everything that is stored, and returns the span that knows of it.
func (s span) withSet(ctx context.Context, pool *postgres.Pool, conn driver.Conn, k kind, links staleError) (span, error) {
	reset := maps.Clone(s.reset)
	if reset == nil {
		reset = map[uuid.UUID]bool{}
	}
	for _, l := range links {
		reset[l.id] = true
	}
	s.reset = reset
	return s, setLinks(ctx, pool, conn, k, links)
}

// add adds what was read of a span to the counters.
func add(ctx context.Context, q *store.Queries, added addition) error {
	if len(added.links()) == 0 {
		return nil
	}
	stale, err := added.stale(ctx, q)
	if err != nil {
		return fmt.Errorf("find links to count again: %w", err)
	}
	if len(stale) > 0 {
		return staleError(stale)
	}
	if err := added.store(ctx, q); err != nil {
		return fmt.Errorf("add to counters: %w", err)
	}
	return nil
}

// countRows counts the rows of a span and lists their accounts, by the projection by_offset. It has no times, so a little of every
// part of the table is read.
const countRows = `SELECT count(), groupUniqArray(account_id) FROM lodestone.%s
WHERE kafka_topic_id = {topic:UUID} AND kafka_partition = {partition:Int32} AND kafka_offset >= {from:Int64} AND kafka_offset < {to:Int64}`

// search reads the rows of a span without knowing when they were stored or happened, which the tables are ordered by. It looks
// at the likely times first, and at others until it has as many rows as by_offset says. Conditions exclude those before.
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

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

// kind describes the counting of one topic.
type kind struct {
	topic string
	table string // ClickHouse: that of the rows
	link  string // its column

	// read reads what the rows of spans add to the counters. Postgres is not touched.
	read func(ctx context.Context, conn driver.Conn, g spans) (addition, error)
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

// addition is the increment of counters by the rows of spans.
type addition interface {
	links() []uuid.UUID
	// store adds to the counters in Postgres. What is added twice counts once, except for the activity
	// of open sessions. The error is errBusy if it cannot at the moment.
	store(ctx context.Context, tx pgx.Tx) error
	// rowsSince is a time shortly before which the rows of the next spans were stored.
	rowsSince() time.Time
}

// link is a link whose counters are set.
type link struct{ account, id uuid.UUID }

// errBusy means that another process counts the partitions, or deletes a month.
var errBusy = errors.New("another process is counting")

// count counts spans, of at most spanOffsets offsets together. Everything that is written, and the
// progress, is one transaction: an interrupted count leaves nothing. The partitions are locked for
// its time, so that no other process does the same work. ClickHouse is read before a row is locked.
//
// It leaves out partitions that another process has, or whose progress it has advanced meanwhile.
// The error is errBusy if that is all of them.
func (c *Counter) count(ctx context.Context, conn driver.Conn, k kind, g spans) error {
	links := 0
	err := c.pool.Transaction(ctx, func(tx pgx.Tx) error {
		q := store.New(tx)
		if err := requireTurn(ctx, q, c.store.Number()); err != nil {
			return err
		}
		mine, err := g.lock(ctx, q)
		if err != nil || len(mine) == 0 {
			return cmp.Or(err, errBusy)
		}
		added, err := k.read(ctx, conn, mine)
		if err != nil {
			return err
		}
		if links = len(added.links()); links > 0 {
			if err := added.store(ctx, tx); err != nil {
				return fmt.Errorf("add to counters: %w", err)
			}
		}
		return mine.setProgress(ctx, q, added.rowsSince())
	})
	if err == nil {
		c.links.Add(float64(links))
	}
	return err
}

// countRows counts the rows of spans and lists their accounts, by the projection by_offset. It has
// no times, so a little of every part of the table is read.
const countRows = `SELECT count(), groupUniqArray(account_id) FROM lodestone.%s WHERE `

// search reads the rows of spans without knowing when they were stored or happened, which the
// tables are ordered by. It looks at the likely times first, and at others until it has as many
// rows as by_offset says. Conditions exclude those before.
//
// fn runs a query with two conditions, of the spans and of the time, and returns how many of the
// rows it found.
func (g spans) search(ctx context.Context, conn driver.Conn, table string, times []string, fn func(ctx context.Context, where, time string) (uint64, error)) error {
	since := g[0].rowsSince // the first of all, if it is known
	if since.Before(time.Unix(0, 0)) {
		since = time.Now().Add(-time.Hour)
	}
	where, p := g.where()
	p["since"] = fmt.Sprint(since.UnixMilli())
	var want, got uint64
	var accounts []uuid.UUID
	if err := conn.QueryRow(native.Context(ctx, native.WithParameters(p)), fmt.Sprintf(countRows, table)+where).Scan(&want, &accounts); err != nil {
		return fmt.Errorf("count new rows of %s: %w", table, err)
	}
	p["accounts"] = clickhouse.UUIDs(accounts)
	ctx = native.Context(ctx, native.WithParameters(p))
	before := ""
	for _, condition := range times {
		if got >= want {
			break
		}
		n, err := fn(ctx, where, "("+condition+")"+before)
		if err != nil {
			return fmt.Errorf("read new rows of %s: %w", table, err)
		}
		got += n
		before += " AND NOT (" + condition + ")"
	}
	if got != want {
		return fmt.Errorf("read new rows of %s: %d rows of %d partitions, but the index has %d: they change", table, got, len(g), want)
	}
	return nil
}

func distinct(ids []uuid.UUID) []uuid.UUID {
	slices.SortFunc(ids, func(a, b uuid.UUID) int { return slices.Compare(a[:], b[:]) })
	return slices.Compact(ids)
}

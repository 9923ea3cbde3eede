package counter

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/pkg/event"
	"lodestone/pkg/store"
)

// kind describes the counting of one topic.
type kind struct {
	topic string
	table string // ClickHouse: that of the rows
	link  string // ClickHouse: the column of the table with the id of the link

	// read reads what the rows of spans add to the counters. Postgres is not touched.
	read func(ctx context.Context, conn driver.Conn, group spans) (addition, error)
	set  setter // for a recount; count adds only
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

// count counts a group of spans, of at most spanOffsets offsets together. Everything that is
// written, and the progress, is one transaction: an interrupted count leaves nothing. Advisory
// locks keep the partitions from other processes until it ends. ClickHouse is read before the row
// of a counter is locked, except for landing pages that are recounted (landings.store).
//
// It leaves out partitions that another process has, or whose progress it has advanced meanwhile.
// The error is errBusy if that is all of them.
func (c *Counter) count(ctx context.Context, conn driver.Conn, k kind, group spans) error {
	links := 0
	err := c.pool.Transaction(ctx, func(tx pgx.Tx) error {
		q := store.New(tx)
		if err := requireTurn(ctx, q, c.store.Number()); err != nil {
			return err
		}
		mine, err := group.lock(ctx, q)
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

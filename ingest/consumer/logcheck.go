package consumer

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ClickHouse/ch-go"
	"github.com/ClickHouse/ch-go/proto"
	"github.com/google/uuid"
)

// A log that lost its end (all brokers lost their power, or Kafka was restored from a backup) gives the offsets of what
// is stored to new records. So a record is passed over only if the row at its offset is of the same event (compare). What is
// below the commit is passed over without a look: there the last rows are compared with what the filler reads for the
// window of repeats, since what a log loses is always its end.
const (
	comparedRows    = 16
	comparedOffsets = 1_000 // so far below the commit they are looked for
)

// compare returns a *differsError if a row that was found stored is not of the event that the block has at its offset.
func (w *worker) compare(ctx context.Context, stored *Offsets) error {
	rows := w.block.table
	if !slices.ContainsFunc(rows.offsets(), stored.Has) {
		return nil
	}
	same, err := w.store.same(ctx, rows)
	if err != nil {
		return err
	}
	for _, offset := range rows.offsets() {
		if stored.Has(offset) && !same.Has(offset) {
			return &differsError{offset, w.filler.end.Load()}
		}
	}
	return nil
}

// same returns at which offsets a row of the same event is stored as in the table, which is not empty. The projection
// by offset does not have the event's id: the rows are found by account and hour.
func (s *store) same(ctx context.Context, rows table) (*Offsets, error) {
	offsets := rows.offsets()
	first, last := offsets[0], offsets[len(offsets)-1]
	accounts, hours := map[uuid.UUID]struct{}{}, map[int64]struct{}{}
	for row := range offsets {
		d := rows.event(row)
		accounts[d.account] = struct{}{}
		hours[d.createdAt/time.Hour.Milliseconds()] = struct{}{}
	}
	found := newOffsets(first, last)
	err := s.identities(ctx, " AND intDiv(toUnixTimestamp64Milli(created_at), 3600000) IN {hours:Array(Int64)}", map[string]any{
		"first": first, "last": last,
		"accounts": list(slices.Collect(maps.Keys(accounts))), "hours": strings.ReplaceAll(fmt.Sprint(slices.Collect(maps.Keys(hours))), " ", ","),
	}, func(offset int64, stored identity) {
		if row, ok := slices.BinarySearch(offsets, offset); ok && rows.event(row).identity == stored {
			found.add(offset)
		}
	})
	if err != nil {
		return nil, fmt.Errorf("read stored events: %w", err)
	}
	return found, nil
}

// identities calls each for the rows of some accounts between the offsets.
func (s *store) identities(ctx context.Context, also string, parameters map[string]any, each func(offset int64, stored identity)) error {
	var (
		offset      proto.ColInt64
		link, event proto.ColUUID
	)
	return s.do(ctx, ch.Query{
		Body:       "SELECT kafka_offset, " + s.link + " AS link, event_id FROM " + s.table + whereOffsets + " AND account_id IN {accounts:Array(UUID)}" + also,
		Parameters: s.parameters(parameters),
		Result:     proto.Results{{Name: "kafka_offset", Data: &offset}, {Name: "link", Data: &link}, {Name: "event_id", Data: &event}},
		OnResult: func(context.Context, proto.Block) error {
			for i := range offset.Rows() {
				each(offset.Row(i), identity{link: link.Row(i), event: event.Row(i)})
			}
			return nil
		},
	})
}

// newest returns the identities of the last rows between the offsets.
func (s *store) newest(ctx context.Context, first, last int64) (map[int64]identity, error) {
	var (
		offset        proto.ColInt64
		account, link proto.ColUUID
	)
	bounds := map[string]any{"first": first, "last": last}
	oldest := last
	var accounts, links []uuid.UUID
	err := s.do(ctx, ch.Query{ // from the projection by offset, which does not have the event's id
		Body:       "SELECT kafka_offset, account_id, " + s.link + " AS link FROM " + s.table + whereOffsets + fmt.Sprintf(" ORDER BY kafka_offset DESC LIMIT %d", comparedRows),
		Parameters: s.parameters(bounds),
		Result:     proto.Results{{Name: "kafka_offset", Data: &offset}, {Name: "account_id", Data: &account}, {Name: "link", Data: &link}},
		OnResult: func(context.Context, proto.Block) error {
			for i := range offset.Rows() {
				oldest = min(oldest, offset.Row(i))
				accounts, links = append(accounts, account.Row(i)), append(links, link.Row(i))
			}
			return nil
		},
	})
	if err != nil {
		return nil, fmt.Errorf("read the last stored offsets: %w", err)
	}
	found := map[int64]identity{}
	if len(links) == 0 {
		return found, nil
	}
	bounds["first"] = oldest
	bounds["accounts"], bounds["links"] = list(accounts), list(links)
	err = s.identities(ctx, " AND "+s.link+" IN {links:Array(UUID)}", bounds, func(offset int64, stored identity) { found[offset] = stored })
	if err != nil {
		return nil, fmt.Errorf("read the last stored rows: %w", err)
	}
	return found, nil
}

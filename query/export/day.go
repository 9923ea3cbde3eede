package export

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/google/uuid"

	"lodestone/pkg/attachment"
	"lodestone/query/scope"
)

const storedBetween = `WHERE account_id = {account:UUID}
    AND stored_at >= fromUnixTimestamp64Milli({from:Int64}, 'UTC') AND stored_at < fromUnixTimestamp64Milli({to:Int64}, 'UTC')`

// between returns the parameters of storedBetween. The zero time is long before the first event.
func between(from, to time.Time) map[string]string {
	return map[string]string{"from": strconv.FormatInt(max(0, from.UnixMilli()), 10),
		"to": strconv.FormatInt(to.UnixMilli(), 10)}
}

// Days returns the UTC days from one time to another on which events of the account were stored, in
// their order.
func Days(ctx context.Context, ch *scope.ClickHouse, account uuid.UUID, from,
	to time.Time) (days []time.Time, err error) {
	err = ch.Query(ctx, account, scope.Statement{
		Name: "days with events", Whole: true, Params: between(from, to),
		SQL: "SELECT toDate(stored_at, 'UTC') AS day FROM lodestone.events " + storedBetween + " GROUP BY day ORDER BY day",
	}, func(row scope.Row) error {
		var day time.Time
		if err := row.Scan(&day); err != nil {
			return fmt.Errorf("read day: %w", err)
		}
		days = append(days, time.Date(day.Year(), day.Month(), day.Day(), 0, 0, 0, 0, time.UTC))
		return nil
	})
	return days, err
}

// Stored starts an export, as Parquet, of the events that were stored from one time to another.
func (e *Exporter) Stored(ctx context.Context, account uuid.UUID, from, to time.Time) (*File, error) {
	return e.open(ctx, account, events, storedBetween, between(from, to), attachment.Parquet)
}

package scope

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"

	native "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/google/uuid"

	"lodestone/pkg/clickhouse"
)

// runningInserts is read at a time t. An insert into the events that began before t, and is not
// among them, has ended: all that it stored can be seen from then on. The rows of an insert of two
// months appear one after another, so those of one that runs may be incomplete. stored_at of a row
// is never before its insert began.
const runningInserts = `SELECT toUnixTimestamp64Milli(now64(3, 'UTC')) AS now, now - toInt64(ceil(1000 * max(elapsed)))
FROM system.processes
WHERE query_kind = 'Insert' AND match(query, '(?i)^\\s*insert\\s+into\\s+\\S*events\\b')`

// Horizon returns a time, by the clock of ClickHouse in whole milliseconds: each event whose
// stored_at is not after it is seen by a query that begins after this call, unless that clock is
// set back. It is milliseconds in the past, or as far as the longest insert of events that runs.
// now is the time of that clock during the call.
func (c *ClickHouse) Horizon(ctx context.Context) (horizon, now time.Time, err error) {
	oldest, clock, err := c.earliest(ctx, "running inserts", runningInserts)
	return oldest.Add(-time.Millisecond), clock, err
}

const news = `SELECT DISTINCT account_id
FROM lodestone.events
WHERE stored_at > fromUnixTimestamp64Milli({after:Int64}, 'UTC') AND stored_at <= fromUnixTimestamp64Milli({until:Int64}, 'UTC')`

// News returns which accounts have events that were stored after a time and up to another one: of
// all accounts, and nothing of the events themselves. Follow reads those of the accounts that are
// asked for.
func (c *ClickHouse) News(ctx context.Context, after, until time.Time) (map[uuid.UUID]bool, error) {
	accounts := map[uuid.UUID]bool{}
	if !until.After(after) {
		return accounts, nil
	}
	ctx, cancel := context.WithTimeout(ctx, c.limits.Timeout)
	defer cancel()
	settings := Statement{Projection: NoProjection}.Settings()
	maps.Copy(settings, c.bounds("news"))
	params := native.Parameters{"after": strconv.FormatInt(after.UnixMilli(), 10),
		"until": strconv.FormatInt(until.UnixMilli(), 10)}
	ctx = native.Context(ctx, native.WithParameters(params), native.WithSettings(settings), native.WithoutProfileEvents())
	err := c.ask(ctx, news, func(row Row) error {
		var account uuid.UUID
		err := row.Scan(&account)
		accounts[account] = true
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("query news: %w", err)
	}
	return accounts, nil
}

// Follow runs a statement about events for several accounts at once, whose ids are in
// {accounts:Array(UUID)}: for one reader that serves many. It sees the events of these accounts
// only, and no other table of accounts, whatever the statement says. Each row has to have its
// account_id, and goes to that account alone.
func (c *ClickHouse) Follow(ctx context.Context, accounts []uuid.UUID, s Statement, each func(Row) error) error {
	if len(accounts) == 0 {
		return errors.New("query " + s.Name + ": no account")
	}
	if found := around.FindString(s.SQL); found != "" {
		return fmt.Errorf("query %s: %q is not allowed in a statement of accounts", s.Name, found)
	}
	ctx, cancel := context.WithTimeout(ctx, c.limits.Timeout)
	defer cancel()
	params := native.Parameters{}
	maps.Copy(params, s.Params)
	params["accounts"] = clickhouse.UUIDs(accounts)
	settings := s.Settings()
	maps.Copy(settings, c.bounds(s.Name))
	settings["additional_table_filters"] = filtersOf(accounts)
	confined := native.Context(ctx, native.WithParameters(params), native.WithSettings(settings),
		native.WithoutProfileEvents())
	if err := c.ask(confined, s.SQL, each); err != nil {
		return fmt.Errorf("query %s: %w", s.Name, err)
	}
	return nil
}

// filtersOf returns filters that leave only the events of some accounts.
func filtersOf(accounts []uuid.UUID) string {
	ids := make([]string, len(accounts))
	for i, id := range accounts {
		ids[i] = fmt.Sprintf(`toUUID(\'%s\')`, id)
	}
	return conditions(func(table string) string {
		if table != "lodestone.events" {
			return "0"
		}
		return "account_id IN (" + strings.Join(ids, ",") + ")"
	})
}

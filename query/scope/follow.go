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

// runningInserts is read at a time t. An insert into the events that began before t, and is not among them, has ended: all
// that it stored can be seen from then on. The rows of an insert of two months appear one after another, so those of
// one that runs may be incomplete. stored_at of a row is never before its insert began.
const runningInserts = `SELECT toUnixTimestamp64Milli(now64(3, 'UTC')) AS now, now - toInt64(ceil(1000 * max(elapsed)))
FROM system.processes
WHERE query_kind = 'Insert' AND match(query, '(?i)^\\s*insert\\s+into\\s+\\S*events\\b')`

// Horizon returns a time, by the clock of ClickHouse in whole milliseconds: each event whose stored_at is not after it is
// seen by a query that begins after this call, unless that clock is set back. It is milliseconds in the past, or as far as
// the longest insert of events that runs. now is what that clock says during the call.
func (c *ClickHouse) Horizon(ctx context.Context) (horizon, now time.Time, err error) {
	oldest, clock, err := c.earliest(ctx, "running inserts", runningInserts)
	return oldest.Add(-time.Millisecond), clock, err
}

// ClockSlack is by how much the clock of ClickHouse may be set back without a row being missed.
const ClockSlack = settledSlack

// Window is what was stored between two states of one who follows the log: the times up to which rows were read, and by
// the text of a partition (Partition) the first offset that was not. Rows stored before Since were read, whatever their
// offset. A partition needs an entry if it has rows of the last ClockSlack before that.
type Window struct {
	Since, After, Until time.Time
	From, To            map[string]int64
	// Reader is the time of the state that To is of. One who follows from there reads no rows stored long before: To leaves out none of
	// those. Zero: To leaves out rows of any time.
	Reader time.Time
	// Of the rows stored at After, those up to this place were read. "": all of them.
	Partition string
	Offset    int64
}

// Partition returns the text of a partition of a topic in a Window.
func Partition(topicID uuid.UUID, number int32) string {
	return topicID.String() + "/" + strconv.FormatInt(int64(number), 10)
}

// PartitionColumn is Partition of a row.
const PartitionColumn = "concat(toString(kafka_topic_id), '/', toString(kafka_partition))"

// Unread lets through the rows of a Window, whose Params it reads. A row counts as read if its offset and its stored_at are
// both behind: rows that fill a gap later have old offsets and are stored later. The first line is what the index on
// stored_at is searched by. It reaches back a little, for a clock that is set back.
const Unread = `stored_at > fromUnixTimestamp64Milli({window_since:Int64}, 'UTC') AND stored_at <= fromUnixTimestamp64Milli({window_until:Int64}, 'UTC')
    AND (kafka_offset >= {window_from:Map(String, Int64)}[` + PartitionColumn + `]
        OR stored_at > fromUnixTimestamp64Milli({window_after:Int64}, 'UTC')
        OR stored_at = fromUnixTimestamp64Milli({window_after:Int64}, 'UTC')
            AND (` + PartitionColumn + `, kafka_offset) > ({window_partition:String}, {window_offset:Int64}))
    AND (NOT mapContains({window_to:Map(String, Int64)}, ` + PartitionColumn + `)
        OR kafka_offset < {window_to:Map(String, Int64)}[` + PartitionColumn + `]
        OR toUnixTimestamp64Milli(stored_at) <= {window_reader:Int64})`

// Params returns the parameters of Unread, in a new map.
func (w Window) Params() map[string]string {
	partition := w.Partition
	if partition == "" {
		partition = "~" // behind every partition
	}
	return map[string]string{
		"window_since": number(w.Since.Add(-settledSlack).UnixMilli()), "window_after": number(w.After.UnixMilli()), "window_until": number(w.Until.UnixMilli()),
		"window_reader": number(w.Reader.Add(-settledSlack).UnixMilli()),
		"window_from":   offsets(w.From), "window_to": offsets(w.To),
		"window_partition": partition, "window_offset": number(w.Offset),
	}
}

func number(n int64) string { return strconv.FormatInt(n, 10) }

// offsets returns the text of a Map(String, Int64) parameter.
func offsets(of map[string]int64) string {
	var b strings.Builder
	for partition, offset := range of {
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		b.WriteString("'" + partition + "':" + number(offset))
	}
	return "{" + b.String() + "}"
}

// News is what a partition of the log has in a Window.
type News struct {
	TopicID   uuid.UUID
	Partition int32
	Last      int64       // highest offset
	Accounts  []uuid.UUID // that have events among it
}

const news = `SELECT kafka_topic_id, kafka_partition, max(kafka_offset), groupUniqArray(account_id)
FROM lodestone.events
WHERE ` + Unread + `
GROUP BY kafka_topic_id, kafka_partition`

// News returns which accounts have events in a window, and up to which offsets: of all accounts, and nothing of the events
// themselves. Follow reads those of the accounts that are asked for.
func (c *ClickHouse) News(ctx context.Context, w Window) (list []News, err error) {
	ctx, cancel := context.WithTimeout(ctx, c.limits.Timeout)
	defer cancel()
	settings := Statement{Projection: NoProjection}.Settings()
	maps.Copy(settings, c.bounds("news"))
	ctx = native.Context(ctx, native.WithParameters(w.Params()), native.WithSettings(settings), native.WithoutProfileEvents())
	err = c.ask(ctx, news, func(row Row) error {
		var n News
		if err := row.Scan(&n.TopicID, &n.Partition, &n.Last, &n.Accounts); err != nil {
			return err
		}
		list = append(list, n)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("query news: %w", err)
	}
	return list, nil
}

const reaches = `SELECT count() > 0 FROM lodestone.events
WHERE kafka_topic_id = {topic:UUID} AND kafka_partition = {partition:Int32} AND kafka_offset >= {last:Int64}`

// Reaches reports whether each of the partitions has an event at its offset Last, or at a later one.
func (c *ClickHouse) Reaches(ctx context.Context, list []News) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, c.limits.Timeout)
	defer cancel()
	settings := Statement{Projection: "by_offset"}.Settings()
	maps.Copy(settings, c.bounds("offsets"))
	for _, n := range list {
		params := native.Parameters{"topic": n.TopicID.String(), "partition": number(int64(n.Partition)), "last": number(n.Last)}
		var found bool
		err := c.ask(native.Context(ctx, native.WithParameters(params), native.WithSettings(settings), native.WithoutProfileEvents()), reaches,
			func(row Row) error { return row.Scan(&found) })
		if err != nil {
			return false, fmt.Errorf("query offsets: %w", err)
		}
		if !found {
			return false, nil
		}
	}
	return true, nil
}

// Follow runs a statement about events for several accounts at once, whose ids are in {accounts:Array(UUID)}: for one
// reader that serves many. It sees the events of these accounts only, and no other table of accounts, whatever the
// statement says. Each row has to have its account_id, and goes to that account alone.
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
	confined := native.Context(ctx, native.WithParameters(params), native.WithSettings(settings), native.WithoutProfileEvents())
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

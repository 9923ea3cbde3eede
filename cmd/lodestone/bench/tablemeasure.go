package bench

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"

	native "github.com/ClickHouse/clickhouse-go/v2"

	"lodestone/query/scope"
)

// The names of the values beside latencies.
const (
	answerRows  = "answer" // a number, or how many rows
	timesAsked  = "asked"
	tableParts  = "parts"
	loadSeconds = "s to load a million"
	loadCPU     = "CPU µs/event to load"
	mergeCPU    = "CPU µs/event to load and merge"
)

const (
	askAtMost    = 4 * time.Second // for one question
	askAhead     = 3               // times, which do not count
	insertsAhead = 5 * time.Second // before the first question
	loadInserts  = 10
)

// pick chooses what is asked for: of the largest account.
func (t *tables) pick(ctx context.Context) (native.Parameters, error) {
	p := native.Parameters{}
	one := func(name, statement string) (err error) {
		var value string
		if err = t.store.QueryRow(native.Context(ctx, native.WithParameters(p)), statement).Scan(&value); err != nil {
			return fmt.Errorf("choose %s: %w", name, err)
		}
		p[name] = value
		return nil
	}
	const mine = " WHERE account_id = {account:UUID}"
	const of = " FROM " + tableSource + mine
	for _, s := range [][2]string{
		{"account", "SELECT toString(account_id) FROM " + tableSource + " GROUP BY account_id ORDER BY count() DESC LIMIT 1"},
		{"busy", "SELECT toString(access_link_id)" + of + " GROUP BY access_link_id ORDER BY count() DESC LIMIT 1"},
		{"idle", "SELECT toString(access_link_id)" + of + " GROUP BY access_link_id HAVING count() BETWEEN 15 AND 40 AND max(created_at) < now() - INTERVAL 90 DAY ORDER BY cityHash64(access_link_id) LIMIT 1"},
		{"magnet", "SELECT toString(lead_magnet_id)" + " FROM " + tableNext + mine + " GROUP BY lead_magnet_id ORDER BY count() DESC LIMIT 1"},
		{"rare", "SELECT toString(lead_magnet_id)" + of + " GROUP BY lead_magnet_id ORDER BY count() LIMIT 1"},
		{"cursor", "SELECT toString(toUnixTimestamp64Milli(quantileExact(0.5)(created_at)))" + of},
		{"cursor_topic", "SELECT toString(any(kafka_topic_id))" + of},
		{"links", "SELECT toString(groupArray(toString(l))) FROM (SELECT access_link_id AS l" + of + " AND bot = '' GROUP BY l ORDER BY cityHash64(l) LIMIT 1000)"},
	} {
		if err := one(s[0], s[1]); err != nil {
			return nil, err
		}
	}
	const day = 24 * time.Hour
	now := time.Now().UTC()
	from, to := now.Add(-200*day-7*time.Hour), now.Add(-90*day-17*time.Hour)
	cursor, err := strconv.ParseInt(p["cursor"], 10, 64)
	if err != nil {
		return nil, err
	}
	first := from.Truncate(day).Add(day)
	p["first_day"] = first.Format(time.DateOnly)
	p["cursor_partition"], p["cursor_offset"] = "1", "0"
	for name, at := range map[string]time.Time{
		"recent": now.Add(-2 * day).Truncate(day), "from": from, "to": to, "to_less": to.Add(-2 * day).Truncate(day),
		"first": first, "cursor_less": time.UnixMilli(cursor).Add(-2 * day).Truncate(day),
	} {
		p[name] = strconv.FormatInt(at.UnixMilli(), 10)
	}
	return p, nil
}

// settings are those of query/scope, but for what confines a query to an account.
func (s tableStatement) settings() native.Settings {
	as := scope.Statement{Projection: s.projection, AtOnce: s.atOnce, Alone: s.alone}
	switch s.projection {
	case "":
		as.Projection = scope.NoProjection
	case anyProjection:
		as.Projection = ""
	}
	settings := as.Settings()
	settings["readonly"], settings["max_execution_time"] = 1, 60
	return settings
}

// ask asks a question once and returns what came: a number, or how many rows.
func (t *tables) ask(ctx context.Context, table string, question []tableStatement, picks native.Parameters) (answer int64, err error) {
	params := native.Parameters{}
	maps.Copy(params, picks)
	for i, s := range question {
		var days []time.Time
		var there int64 // rows on these days
		rows, err := t.store.Query(native.Context(ctx, native.WithParameters(params), native.WithSettings(s.settings()), native.WithoutProfileEvents()), of(table, []string{s.sql})[0])
		if err != nil {
			return 0, err
		}
		answer = 0
		isNumber := len(rows.Columns()) == 1
		for rows.Next() && err == nil {
			answer++
			switch {
			case isNumber:
				err = rows.Scan(&answer)
			case i < len(question)-1:
				var day time.Time
				var n int64
				err = rows.Scan(&day, &n)
				if there < pageRows {
					days, there = append(days, day.UTC()), there+n
				}
			}
		}
		if err = errors.Join(err, rows.Err(), rows.Close()); err != nil {
			return 0, err
		}
		if i == len(question)-1 {
			break
		}
		if len(days) == 0 {
			return 0, nil
		}
		list := make([]string, len(days))
		for i, day := range days {
			list[i] = "'" + day.Format(time.DateOnly) + "'"
		}
		params["days"] = "[" + strings.Join(list, ",") + "]"
		params["days_from"] = strconv.FormatInt(days[len(days)-1].UnixMilli(), 10)
		params["days_before"] = strconv.FormatInt(days[0].AddDate(0, 0, 1).UnixMilli(), 10)
	}
	return answer, nil
}

// measureDesign asks a design all questions while events are inserted, and then sees what loading takes.
func (t *tables) measureDesign(ctx context.Context, d tableDesign, picks native.Parameters) (err error) {
	name := "tables/" + d.name
	stop := t.keepInserting(ctx, d.table())
	defer func() { err = errors.Join(err, stop()) }()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(insertsAhead):
	}
	var sides []Side
	for _, q := range tableQuestions {
		sides = append(sides, Side{Name: q, Run: func(ctx context.Context) (Sample, error) {
			var l Latencies
			var answer int64
			begin := time.Now()
			for i := 0; i < askAhead+t.Requests && time.Since(begin) < askAtMost || l.Count() == 0; i++ {
				at := time.Now()
				if answer, err = t.ask(ctx, d.table(), d.questions[q], picks); err != nil {
					return nil, fmt.Errorf("%s: %w", q, err)
				}
				if i >= askAhead {
					l.Add(time.Since(at))
				}
			}
			return Sample{Latency(0.5): ms(l.Quantile(0.5)), Latency(0.99): ms(l.Quantile(0.99)), answerRows: float64(answer), timesAsked: float64(l.Count())}, nil
		}})
	}
	err = t.b.Measure(ctx, Case{
		Name: name, Title: fmt.Sprintf("%s; %s events, %d more a second", d.title, million(t.Rows), t.Rate), Sides: sides, Runs: 1,
		Show: []string{Latency(0.5), Latency(0.99), answerRows, timesAsked},
	})
	if err != nil {
		return err
	}
	if err := stop(); err != nil {
		return err
	}
	return t.b.Measure(ctx, Case{
		Name: name + " cost", Title: d.title + ": what a million events of a week cost, in ten inserts, and what there is", Runs: 1,
		Sides: []Side{{Name: d.name, Run: func(ctx context.Context) (Sample, error) { return t.cost(ctx, d) }}},
		Show:  []string{bytesOfAll, tableParts, loadSeconds, loadCPU, mergeCPU},
	})
}

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// keepInserting inserts events as they happen now until the function that it returns is called.
func (t *tables) keepInserting(ctx context.Context, table string) (stop func() error) {
	rows, next := int64(t.Rate/liveBlocks), int64(0)
	return insertMeanwhile(ctx, func(ctx context.Context) error {
		first := next % max(t.next()-rows, 1)
		next += rows
		return t.insertNext(ctx, table, first, rows, true)
	})
}

// insertNext inserts some of the events that are yet to come: as they are, or as if they happened now.
func (t *tables) insertNext(ctx context.Context, table string, first, rows int64, now bool) error {
	var into, values []string
	for _, column := range t.columns {
		value := column
		switch {
		case now && column == "stored_at":
			continue
		case now && column == "created_at":
			value = "fromUnixTimestamp64Milli(toUnixTimestamp64Milli(now64(3)) - toUnixTimestamp64Milli(received_at) + toUnixTimestamp64Milli(created_at), 'UTC')"
		case now && column == "received_at":
			value = "now64(3, 'UTC')"
		}
		into, values = append(into, column), append(values, value)
	}
	return t.exec(ctx, fmt.Sprintf(`INSERT INTO %s (%s) SELECT %s FROM %s WHERE kafka_offset >= %d AND kafka_offset < %d
		SETTINGS async_insert = 0, insert_allow_materialized_columns = 1, max_threads = 1, max_insert_threads = 1`,
		table, strings.Join(into, ", "), strings.Join(values, ", "), tableNext, first, first+rows))
}

// loaded is the name of the table that events are loaded into to see what that costs.
func (d tableDesign) loaded() string { return d.table() + "_loaded" }

// tables are the names of all tables of a design, of which one has the name that is given.
func (d tableDesign) tables(table string) []string {
	names := []string{table}
	for _, other := range d.others() {
		names = append(names, table+"_"+other)
	}
	return names
}

// cost tells what there is of a design, and loads events into an empty table of it.
func (t *tables) cost(ctx context.Context, d tableDesign) (Sample, error) {
	s := Sample{}
	var bytes, parts, rows float64
	err := t.store.QueryRow(ctx, "SELECT toFloat64(sum(bytes_on_disk)), toFloat64(count()), toFloat64(sumIf(rows, concat(database, '.', table) = ?)) FROM system.parts WHERE active AND has(?, concat(database, '.', table))",
		d.table(), d.tables(d.table())).Scan(&bytes, &parts, &rows)
	if err != nil {
		return nil, err
	}
	s[bytesOfAll], s[tableParts] = bytes/max(rows, 1), parts
	table, events := d.loaded(), t.next()
	if err := t.make(ctx, d, table); err != nil {
		return nil, err
	}
	if err := t.makeMore(ctx, d, table); err != nil {
		return nil, err
	}
	before, err := t.processorTime(ctx)
	if err != nil {
		return nil, err
	}
	begin := time.Now()
	for i := range int64(loadInserts) {
		if err := t.insertNext(ctx, table, i*events/loadInserts, events/loadInserts, false); err != nil {
			return nil, err
		}
	}
	s[loadSeconds] = time.Since(begin).Seconds() / float64(events) * 1e6
	loaded, err := t.processorTime(ctx)
	if err != nil {
		return nil, err
	}
	for _, name := range d.tables(table) {
		if err := t.exec(ctx, "OPTIMIZE TABLE "+name+" FINAL"); err != nil { //nolint:misspell // SQL has it so
			return nil, err
		}
	}
	merged, err := t.processorTime(ctx)
	s[loadCPU], s[mergeCPU] = (loaded-before)/float64(events), (merged-before)/float64(events)
	return s, errors.Join(err, t.dropTables(ctx, d, table))
}

// processorTime is what the server has used for queries and merges since it began, in microseconds.
func (t *tables) processorTime(ctx context.Context) (used float64, err error) {
	err = t.store.QueryRow(ctx, "SELECT toFloat64(sum(value)) FROM system.events WHERE event IN ('UserTimeMicroseconds', 'SystemTimeMicroseconds')").Scan(&used)
	return used, err
}

package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"

	"lodestone/cmd/lodestone-lab/bench/traffic"
	"lodestone/pkg/clickhouse"
	"lodestone/pkg/config"
)

// queryOptions are the settings of this suite alone.
type queryOptions struct {
	Rows     []int64 `name:"query-rows" default:"1000000,10000000" help:"How many events are stored while lists of them are measured, one after another. A hundred million take ten minutes and 12 GB."`
	Rate     int     `name:"query-insert-rate" default:"4000" help:"Events a second that are inserted meanwhile."`
	Requests int     `name:"query-requests" default:"3" help:"Requests for each filter and each pair of filters, in one run."`
	Asked    float64 `name:"query-asked" default:"10" help:"Lists that are asked for a second, at random times."`
}

// Validate returns every problem of the settings.
func (o queryOptions) Validate() error {
	var errs []error
	if len(o.Rows) == 0 || slices.Min(o.Rows) < 100_000 {
		errs = append(errs, config.Invalid("--query-rows", "is too little", "give numbers of at least 100000"))
	}
	errs = append(errs, numberWithin("--query-insert-rate", o.Rate, 100, 100_000))
	errs = append(errs, numberWithin("--query-requests", o.Requests, 1, 10_000))
	if o.Asked < 0.1 || o.Asked > 1000 {
		errs = append(errs, config.Invalid("--query-asked", "is out of range", "give a number from 0.1 to 1000"))
	}
	return errors.Join(errs...)
}

// first is the side of lists that nobody has asked for yet, firstPages the line of all first pages in a plot.
const first, firstPages = "for the first time", "first page"

func (o queryOptions) suite() suite { return suite{name: "query", cases: o.cases, run: o.measure} }

func (o queryOptions) cases(string) (names []string) {
	for _, rows := range o.Rows {
		names = append(names, queryCases(rows)...)
	}
	return names
}

// spanOfYear is a little less than a year: events come a few per cent slower or faster than was asked for, and
// none is to be of tomorrow.
const spanOfYear = 350 * 24 * time.Hour

func (o queryOptions) measure(ctx context.Context, b *Bench, e *Engines) error {
	rows := o.Rows
	if b.Quick {
		rows = rows[:1]
	}
	for _, n := range rows {
		if err := o.measureRows(ctx, b, e, n); err != nil {
			return err
		}
	}
	return nil
}

// The cases of a number of events that are stored.
const (
	caseFirstPage = "first page"
	caseCursor    = "cursor"
)

// queryCase is the name of a case.
func queryCase(rows int64, kind string) string { return fmt.Sprintf("query/%d/%s", rows, kind) }

func queryCases(rows int64) []string {
	return []string{queryCase(rows, caseFirstPage), queryCase(rows, caseCursor)}
}

// queryRun is the query service on so many events, and who asks it.
type queryRun struct {
	*Bench
	queryOptions
	rows  int64
	flags string
	lists *lists
	picks [][2]string
}

// measureRows measures with so many events stored, unless nothing of it is wanted.
func (o queryOptions) measureRows(ctx context.Context, b *Bench, e *Engines, rows int64) (err error) {
	if !slices.ContainsFunc(queryCases(rows), b.Wanted) {
		return nil
	}
	store, err := clickhouse.Open(clickhouse.Config{URL: e.ClickHouseURL}, 2)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	events := traffic.New(traffic.Config{Seed: b.Seed, Events: rows, Begin: time.Now().AddDate(-1, 0, 0), Span: spanOfYear})
	served, err := b.startQueried(ctx, e, store, events, rows, 1000)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, served.process.Stop(context.WithoutCancel(ctx))) }()
	picks, err := pickFilters(ctx, store, served.account)
	if err != nil {
		return err
	}

	stop := e.keepInserting(ctx, events, o.Rate)
	defer func() { err = errors.Join(err, stop()) }()
	q := &queryRun{
		Bench: b, queryOptions: o, rows: rows, flags: fmt.Sprintf("--query-rows %d", rows), picks: picks,
		lists: &lists{client: newListClient(served.address, served.key), rate: o.Asked, seed: b.Seed, watch: append(e.Processes(), served.process.Metered())},
	}
	if _, err := q.lists.once(ctx, q.queries(), 0); err != nil {
		return err
	}
	for _, measure := range []func(context.Context) error{q.measureFirstPages, q.measureCursors} {
		if err := measure(ctx); err != nil {
			return err
		}
	}
	return nil
}

// queries asks for everything, and by every filter and pair of filters.
func (q *queryRun) queries() []string { return append([]string{""}, combine(q.picks)...) }

// measureFirstPages asks for first pages as dashboards do, at random times.
func (q *queryRun) measureFirstPages(ctx context.Context) error {
	lists, queries, requests := q.lists, q.queries(), q.Requests
	if q.Quick {
		requests = 1
	}
	// Everything that a request takes, but for what the answer is read from: key, rate limit, both queries.
	nothing := Side{Name: "an empty list", Run: func(ctx context.Context) (Sample, error) {
		return lists.run(ctx, slices.Repeat([]string{"from=2100-01-01"}, 40))
	}}
	const warm = 1
	slow := "" // which filters were the slowest in the last run
	err := q.Measure(ctx, Case{
		Name: queryCase(q.rows, caseFirstPage), Title: "GET /api/v1/analytics, every filter and pair of filters: " + million(q.rows) + " events, the account has 4 % of them",
		Sides: []Side{
			{Name: "lodestone", Run: func(ctx context.Context) (Sample, error) {
				defer func() { slow = lists.slowestOnes() }()
				return lists.run(ctx, slices.Repeat(queries, requests))
			}},
			{Name: first, Run: func(ctx context.Context) (Sample, error) { return lists.run(ctx, lists.newSizes(queries)) }},
			{Name: "after a pause", Run: func(ctx context.Context) (Sample, error) { return lists.runAfterPauses(ctx, queries) }},
			nothing,
		},
		Targets: []Target{
			{What: "p50 ≤ 12 ms", Value: Latency(0.5), Beside: nothing.Name, AtMost: 12},
			{What: "p99 ≤ 60 ms", Value: Latency(0.99), Beside: nothing.Name, AtMost: 60},
			{What: "p50 ≤ 12 ms, asked for the first time", Of: first, Value: Latency(0.5), Beside: nothing.Name, AtMost: 12},
			{What: "p99 ≤ 60 ms, asked for the first time", Of: first, Value: Latency(0.99), Beside: nothing.Name, AtMost: 60},
			{What: "p50 ≤ 12 ms of the slowest filter or pair", Value: slowest, AtMost: 12},
			clickhouseMemory,
			queryMemory,
		},
		// Of ClickHouse's time, a request's is what is more than for an empty list: events are inserted and merged beside both.
		Show: []string{Latency(0.5), Latency(0.9), Latency(0.99), slowest, CPU("query"), CPU("clickhouse"), Peak("query"), Peak("clickhouse")},
		Warm: warm, Runs: min(q.Runs, mostSizes-warm),
		Plot: "query", X: float64(q.rows), Line: firstPages, Flags: q.flags,
	})
	if err == nil && slow != "" {
		q.Sayf("query: slowest at %s events: %s", million(q.rows), slow)
	}
	return err
}

// measureCursors compares pages deep in lists with the first pages of the same lists: of everything, of a lead magnet that few look
// at, and of its bots.
func (q *queryRun) measureCursors(ctx context.Context) error {
	name := queryCase(q.rows, caseCursor)
	if !q.Wanted(name) {
		return nil
	}
	const each = 24 // times a list is asked for at each of three depths, in one run: 216 requests, of which two are beyond p99
	rare := strings.Join(q.picks[rareMagnet][:], "=")
	// Of few events, a rare one's may be on one page.
	filters, totals, err := q.lists.longer(ctx, []string{"", rare, rare + "&bot=true"})
	if err != nil {
		return err
	}
	cursors, err := q.lists.cursors(ctx, filters, totals)
	if err != nil {
		return err
	}
	return q.Measure(ctx, Case{
		Name: name, Title: "pages by cursor, after 1 %, half and 99 % of a list, beside its first page, asked for the first time, one at a time: all of the account's " +
			million(q.rows/25) + " events, those of a rare lead magnet, and its bots",
		Sides: []Side{
			{Name: "deep page", Run: func(ctx context.Context) (Sample, error) {
				return q.lists.once(ctx, slices.Repeat(cursors, each), 0)
			}},
			{Name: "first page", Run: func(ctx context.Context) (Sample, error) {
				return q.lists.once(ctx, q.lists.newLists(filters, each*len(deep)), 0)
			}},
		},
		Targets: []Target{
			{What: "as the first page (≤ 1.25 ×)", Value: Latency(0.5), Against: "first page", AtMost: 1.25},
			{What: "p99 as the first page's (≤ 1.25 ×)", Value: Latency(0.99), Against: "first page", AtMost: 1.25},
		},
		Show: []string{Latency(0.5), Latency(0.9), Latency(0.99)},
		Plot: "query", X: float64(q.rows), Line: "cursor page", Flags: q.flags,
	})
}

func million(rows int64) string { return fmt.Sprintf("%g million", float64(rows)/1e6) }

// fillAgain stores events instead of what there is, and lets the months that are over become one part
// each, as they do by themselves within a day.
func (e *Engines) fillAgain(ctx context.Context, store driver.Conn, events *traffic.Generator, rows int64) error {
	if err := store.Exec(ctx, "TRUNCATE TABLE lodestone.events"); err != nil {
		return fmt.Errorf("empty the table: %w", err)
	}
	if err := insertEvents(ctx, clickhouse.Config{URL: e.ClickHouseURL}, events, rows); err != nil {
		return fmt.Errorf("store events: %w", err)
	}
	var months []string
	err := store.QueryRow(ctx, `SELECT groupUniqArray(partition_id) FROM system.parts
		WHERE database = 'lodestone' AND table = 'events' AND active AND partition_id != toString(toYYYYMM(now()))`).Scan(&months)
	if err != nil {
		return fmt.Errorf("find months that are over: %w", err)
	}
	return mergeMonths(ctx, store, "lodestone.events", months...)
}

// mergeMonths makes one part of each of these months of a table.
func mergeMonths(ctx context.Context, store driver.Conn, table string, months ...string) error {
	for _, month := range months {
		if err := store.Exec(ctx, "OPTIMIZE TABLE "+table+" PARTITION ID '"+month+"' FINAL"); err != nil { //nolint:misspell // SQL has it so
			return fmt.Errorf("merge month %s of %s: %w", month, table, err)
		}
	}
	return nil
}

// rareMagnet is the place of the rare lead magnet in what pickFilters returns.
const rareMagnet = 3

// pickFilters returns values for each filter: of the account's usual, rare and busiest ones.
func pickFilters(ctx context.Context, store driver.Conn, account uuid.UUID) ([][2]string, error) {
	var link, busy, magnet, rare uuid.UUID
	for into, query := range map[*uuid.UUID]string{
		&link:   "SELECT access_link_id FROM lodestone.events WHERE account_id = ? GROUP BY access_link_id HAVING count() BETWEEN 15 AND 40 ORDER BY cityHash64(access_link_id) LIMIT 1",
		&busy:   "SELECT access_link_id FROM lodestone.events WHERE account_id = ? GROUP BY access_link_id ORDER BY count() DESC LIMIT 1",
		&magnet: "SELECT lead_magnet_id FROM lodestone.events WHERE account_id = ? GROUP BY lead_magnet_id ORDER BY count() DESC LIMIT 1",
		&rare:   "SELECT lead_magnet_id FROM lodestone.events WHERE account_id = ? GROUP BY lead_magnet_id ORDER BY count() LIMIT 1",
	} {
		if err := store.QueryRow(ctx, query, account).Scan(into); err != nil {
			return nil, fmt.Errorf("choose filters: %w", err)
		}
	}
	at := func(days float64) string {
		return time.Now().Add(-time.Duration(days * float64(24*time.Hour))).UTC().Format("2006-01-02T15:04:05.000Z")
	}
	return [][2]string{
		{"access_link_id", link.String()}, {"access_link_id", busy.String()},
		{"lead_magnet_id", magnet.String()}, {"lead_magnet_id", rare.String()},
		{"event_type", "page_viewed"}, {"event_type", "download_completed"},
		{"from", at(200.3)}, {"to", at(90.7)},
		{"received_after", at(150.4)}, {"received_after", at(0.01)},
		{"bot", "true"}, {"bot", "false"},
	}, nil
}

// combine returns every filter and every pair of two different ones, as query strings.
func combine(picks [][2]string) []string {
	var list []string
	for i, a := range picks {
		one := a[0] + "=" + a[1]
		list = append(list, one)
		for _, b := range picks[i+1:] {
			if a[0] != b[0] {
				list = append(list, one+"&"+b[0]+"="+b[1])
			}
		}
	}
	return list
}

// shortened replaces ids by what they stand for, so that a line can be read.
func shortened(query string) string {
	parts := strings.Split(query, "&")
	for i, p := range parts {
		if name, value, ok := strings.Cut(p, "="); ok && len(value) == 36 {
			parts[i] = name + "=" + value[:4] + "…" + value[32:]
		}
	}
	return strings.Join(parts, "&")
}

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

	"lodestone/cmd/lodestone/bench/traffic"
	"lodestone/pkg/clickhouse"
	"lodestone/pkg/config"
	"lodestone/query/scope"
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

func (o queryOptions) suite() suite { return suite{name: "query", run: o.measure} }

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

// measureRows measures with so many events stored.
func (o queryOptions) measureRows(ctx context.Context, b *Bench, e *Engines, rows int64) (err error) {
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
	account := served.account
	picks, err := pickFilters(ctx, store, account)
	if err != nil {
		return err
	}
	door, err := scope.Open(clickhouse.Config{URL: e.ClickHouseURL}, scope.Limits{MaxConns: 2, Timeout: time.Minute, MemoryBytes: 512 << 20})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, door.Close()) }()

	stop := e.keepInserting(ctx, events, o.Rate)
	defer func() { err = errors.Join(err, stop()) }()
	lists := &lists{client: newListClient(served.address, served.key), rate: o.Asked, seed: b.Seed}
	requests := o.Requests
	if b.Quick {
		requests = 1
	}
	queries := append([]string{""}, combine(picks)...)
	if _, err := lists.once(ctx, queries, 0); err != nil {
		return err
	}
	// Everything that a request takes, but for what the answer is read from: key, rate limit, both queries.
	nothing := Side{Name: "an empty list", Run: func(ctx context.Context) (Sample, error) {
		return lists.run(ctx, slices.Repeat([]string{"from=2100-01-01"}, 40))
	}}
	name, flags, slow := fmt.Sprintf("query/%d/", rows), fmt.Sprintf("--query-rows %d", rows), "" // which filters were the slowest in the last run
	err = b.Measure(ctx, Case{
		Name: name + "first page", Title: "GET /api/v1/analytics, every filter and pair of filters: " + million(rows) + " events, the account has 4 % of them",
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
			{What: "p50 ≤ 12 ms", Value: Latency(0.5), AtMost: 12},
			{What: "p99 ≤ 60 ms", Value: Latency(0.99), AtMost: 60},
			{What: "p50 ≤ 12 ms, asked for the first time", Of: first, Value: Latency(0.5), AtMost: 12},
			{What: "p99 ≤ 60 ms, asked for the first time", Of: first, Value: Latency(0.99), AtMost: 60},
			{What: "p50 ≤ 12 ms of the slowest filter or pair", Value: slowest, AtMost: 12},
		},
		Show: []string{Latency(0.5), Latency(0.9), Latency(0.99), slowest}, Warm: 1,
		Plot: "query", X: float64(rows), Line: firstPages, Flags: flags,
	})
	if err != nil {
		return err
	}
	b.Sayf("query: slowest at %s events: %s", million(rows), slow)
	err = b.Measure(ctx, Case{
		Name: name + "statements", Title: "what a first page without a filter asks of ClickHouse, over open connections: " + million(rows) + " events",
		Sides: listStatements{door, account}.sides(), Show: []string{Latency(0.5), Latency(0.9), Latency(0.99)}, Warm: 1, Flags: flags,
	})
	if err != nil {
		return err
	}

	cursors, err := lists.cursors(ctx)
	if err != nil {
		return err
	}
	return b.Measure(ctx, Case{
		Name: name + "cursor", Title: "pages by cursor, after 1 %, half and 99 % of the account's " + million(rows/25) + " events, beside its first page, asked for the first time",
		Sides: []Side{
			{Name: "deep page", Run: func(ctx context.Context) (Sample, error) { return lists.run(ctx, slices.Repeat(cursors, 15)) }},
			{Name: "first page", Run: func(ctx context.Context) (Sample, error) { return lists.run(ctx, lists.newLists(45)) }},
		},
		Targets: []Target{{What: "as the first page (≤ 1.25 ×)", Value: Latency(0.5), Against: "first page", AtMost: 1.25}},
		Show:    []string{Latency(0.5), Latency(0.9), Latency(0.99)},
		Plot:    "query", X: float64(rows), Line: "cursor page", Flags: flags,
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

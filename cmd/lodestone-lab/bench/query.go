package bench

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
)

// queryOptions are the settings of this suite alone.
type queryOptions struct {
	Rows     []int64 `name:"query-rows" default:"1000000,10000000" help:"How many events are stored while lists of them are measured, one after another. A hundred million take ten minutes and 12 GB."`
	Requests int     `name:"query-requests" default:"3" help:"Requests for each filter and each pair of filters, in one run."`
}

func (o queryOptions) suite() suite {
	s := suite{name: "query", run: o.measure}
	for _, n := range o.Rows {
		s.cases = append(s.cases, firstPageCase(n))
	}
	return s
}

// firstPageCase is the case of a number of events that are stored.
func firstPageCase(rows int64) string { return fmt.Sprintf("query/%d/first page", rows) }

func (o queryOptions) measure(ctx context.Context, b *Bench, e *Engines) error {
	options := o
	if b.Quick {
		options.Rows, options.Requests = o.Rows[:1], 1
	}
	for _, n := range options.Rows {
		if !b.Wanted(firstPageCase(n)) {
			continue
		}
		if err := options.measureRows(ctx, b, e, n); err != nil {
			return err
		}
	}
	return nil
}

// queryRun is the query service on so many events.
type queryRun struct {
	*Bench
	queryOptions
	*queried
	e     *Engines
	rows  int64
	picks [][2]string
	http  *http.Client
	seed  uint64 // other times in each run
	asked int    // lists so far
}

// insertedMeanwhile is how many events a second are inserted while lists and reports are measured,
// and listsAsked how many lists are asked for in a second.
const insertedMeanwhile, listsAsked = 4_000, 10

// What else the first pages show.
const (
	slowest    = "slowest pair p50 ms"
	tableBytes = "bytes/event table"
	allBytes   = "bytes/event with projections"
	emptyList  = "an empty list"
)

func (o queryOptions) measureRows(ctx context.Context, b *Bench, e *Engines, rows int64) (err error) {
	events := pastYear(b.Seed, rows)
	q := &queryRun{Bench: b, queryOptions: o, e: e, rows: rows, seed: b.Seed, http: &http.Client{Timeout: time.Minute,
		Transport: &http.Transport{MaxIdleConnsPerHost: 64}}}
	if q.queried, err = b.startQueried(ctx, e, events, rows, 1, 1); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, q.stop(context.WithoutCancel(ctx))) }()
	if q.picks, err = q.pickFilters(ctx); err != nil {
		return err
	}
	size, err := q.storedBytes(ctx)
	if err != nil {
		return err
	}
	stop := e.insertMeanwhile(ctx, events, insertedMeanwhile)
	defer func() { err = errors.Join(err, stop()) }()
	return q.measureFirstPages(ctx, size)
}

// measureFirstPages asks for first pages as dashboards do, at random times: of everything, and by
// every filter and pair of filters. An empty list takes everything that a request takes, but for
// what the answer is read from.
func (q *queryRun) measureFirstPages(ctx context.Context, size Sample) error {
	queries := append([]string{""}, combine(q.picks)...)
	return q.Measure(ctx, Case{
		Name: firstPageCase(q.rows), Warm: 1,
		Title: fmt.Sprintf("GET /api/v1/analytics, every filter and pair of filters: %s events, the account has 4 %% of them",
			number(float64(q.rows))),
		Sides: []Side{
			{Name: "lists", Run: func(ctx context.Context) (Sample, error) {
				s, err := q.ask(ctx, slices.Repeat(queries, q.Requests))
				if err != nil {
					return nil, err
				}
				maps.Copy(s, size)
				return s, nil
			}},
			{Name: emptyList, Run: func(ctx context.Context) (Sample, error) {
				return q.ask(ctx, slices.Repeat([]string{"from=2100-01-01"}, 40))
			}},
		},
	})
}

// ask asks for every query once, in an open loop, each time in words that were not used before.
func (q *queryRun) ask(ctx context.Context, queries []string) (Sample, error) {
	q.seed++
	fresh := make([]string, len(queries))
	for i, query := range queries {
		fresh[i] = q.fresh(query)
	}
	watch, err := Watch(append(q.e.Processes(), q.process.Metered())...)
	if err != nil {
		return nil, err
	}
	took, err := openLoop(ctx, q.seed, listsAsked, len(queries), func(ctx context.Context, number int) error {
		_, _, err := get(ctx, q.http, q.base+"?"+fresh[number], q.key)
		return err
	})
	use, watchErr := watch.Stop()
	if err = errors.Join(err, watchErr); err != nil {
		return nil, err
	}
	byQuery := map[string][]float64{}
	for i, d := range took {
		byQuery[queries[i]] = append(byQuery[queries[i]], float64(d)/float64(time.Millisecond))
	}
	s := Sample{}
	s.AddLatencies(latenciesOf(took))
	s.AddUse(use, int64(len(took)))
	for _, all := range byQuery {
		s[slowest] = max(s[slowest], medianOf(all))
	}
	return s, nil
}

// fresh adds to a query a bound on a day to come, or long ago, which changes neither the list nor
// how it is counted, and is another one each time: no answer can come from a cache.
func (q *queryRun) fresh(query string) string {
	q.asked++
	day := func(year int) string { return time.Date(year, 1, q.asked, 0, 0, 0, 0, time.UTC).Format(time.DateOnly) }
	switch {
	case !strings.Contains(query, "to="):
		return query + "&to=" + day(2140)
	case !strings.Contains(query, "from="):
		return query + "&from=" + day(1980)
	default: // both bounds are taken
		return fmt.Sprintf("%s&per_page=%d", query, 20+q.asked%40)
	}
}

type listAnswer struct {
	Data []struct {
		ID uuid.UUID `json:"id"`
	} `json:"data"`
	Pagination struct {
		Total      int64   `json:"total"`
		NextCursor *string `json:"next_cursor"`
	} `json:"pagination"`
}

// pickFilters returns values for each filter: of the account's usual, rare and busiest ones.
func (q *queryRun) pickFilters(ctx context.Context) ([][2]string, error) {
	var link, busy, magnet, rare uuid.UUID
	for into, query := range map[*uuid.UUID]string{
		&link:   "SELECT access_link_id FROM lodestone.events WHERE account_id = ? GROUP BY access_link_id HAVING count() BETWEEN 15 AND 40 ORDER BY cityHash64(access_link_id) LIMIT 1",
		&busy:   "SELECT access_link_id FROM lodestone.events WHERE account_id = ? GROUP BY access_link_id ORDER BY count() DESC LIMIT 1",
		&magnet: "SELECT lead_magnet_id FROM lodestone.events WHERE account_id = ? GROUP BY lead_magnet_id ORDER BY count() DESC LIMIT 1",
		&rare:   "SELECT lead_magnet_id FROM lodestone.events WHERE account_id = ? GROUP BY lead_magnet_id ORDER BY count() LIMIT 1",
	} {
		if err := q.store.QueryRow(ctx, query, q.account).Scan(into); err != nil {
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

package bench

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/ClickHouse/ch-go"
	"github.com/google/uuid"

	"lodestone/cmd/lodestone-lab/bench/traffic"
	"lodestone/pkg/clickhouse"
	"lodestone/pkg/event"
	"lodestone/pkg/service"
)

// slowest is the name of the median of the slowest of all filters and pairs.
const slowest = "slowest pair p50 ms"

// lists asks for lists of events.
type lists struct {
	client *listClient
	rate   float64                    // requests a second, at random times
	seed   uint64                     // of the times
	took   map[string][]time.Duration // of all runs
	paused int                        // where the next query after a pause is
	sizes  int                        // of pages that were asked for
	made   int                        // bounds of lists that were asked for
	watch  []Metered                  // while lists are asked for at random times
}

type listClient struct {
	http      *http.Client
	base, key string
}

func newListClient(address, key string) *listClient {
	return &listClient{&http.Client{Timeout: time.Minute, Transport: &http.Transport{MaxIdleConnsPerHost: openLoopIdle}}, "http://" + address + "/api/v1/analytics", key}
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

// get asks for a list and returns the answer.
func (c *listClient) get(ctx context.Context, query string) (answer listAnswer, err error) {
	body, _, err := c.fetch(ctx, query)
	if err != nil {
		return answer, err
	}
	return answer, json.Unmarshal(body, &answer)
}

// fetch asks for a list and returns the answer as it came, and how long it took to arrive whole.
func (c *listClient) fetch(ctx context.Context, query string) ([]byte, time.Duration, error) {
	return get(ctx, c.http, c.base+"?"+query, c.key)
}

// once asks for every query once, one at a time and each after a pause.
func (l *lists) once(ctx context.Context, queries []string, pause time.Duration) (Sample, error) {
	var all Latencies
	for _, q := range queries {
		if err := service.Sleep(ctx, pause); err != nil {
			return nil, err
		}
		_, took, err := l.client.fetch(ctx, q)
		if err != nil {
			return nil, err
		}
		all.Add(took)
	}
	s := Sample{}
	s.AddLatencies(&all)
	return s, nil
}

// mostSizes is how many sizes of pages there are, from one more than usual up to where a page takes longer for its size.
const mostSizes = 60

// newSizes returns the queries for pages of a size that was not asked for before: the query service remembers where the events
// of a page were. It can be called mostSizes times.
func (l *lists) newSizes(queries []string) []string {
	const size = 20
	l.sizes++
	sized := make([]string, len(queries))
	for i, q := range queries {
		sized[i] = fmt.Sprintf("%s&per_page=%d", q, size+l.sizes)
	}
	return sized
}

// until adds to a filter a bound on a day to come, which changes neither the list nor how it is counted: for a time within a day a
// statement counts that day apart.
func until(filter string, day int) string {
	return strings.TrimPrefix(filter+"&to="+time.Date(2040, 1, day, 0, 0, 0, 0, time.UTC).Format(time.DateOnly), "&")
}

// newLists returns each of the lists n times, in turn, and each time in other words than before: the query service remembers where
// the events of a page were. What comes again after a hundred years of days has been forgotten, as it remembers some thousand pages.
func (l *lists) newLists(filters []string, n int) (queries []string) {
	const days = 36_500
	for range n {
		l.made++
		for _, filter := range filters {
			queries = append(queries, until(filter, 1+l.made%days))
		}
	}
	return queries
}

// run asks for every query once, in this order and in an open loop. The same query may be there several times.
func (l *lists) run(ctx context.Context, queries []string) (Sample, error) {
	l.seed++ // other times in each run
	load := openLoop{rate: l.rate, requests: len(queries), seed: l.seed}
	watch, err := Watch(l.watch...)
	if err != nil {
		return nil, err
	}
	answers, err := load.runAll(ctx, func(ctx context.Context, number int) error {
		_, _, err := l.client.fetch(ctx, queries[number])
		return err
	})
	use, stopErr := watch.Stop()
	if err = errors.Join(err, stopErr); err != nil {
		return nil, err
	}
	l.took = map[string][]time.Duration{}
	for _, a := range answers {
		l.took[queries[a.number]] = append(l.took[queries[a.number]], a.took)
	}
	s := Sample{}
	s.AddLatencies(latenciesOf(answers))
	s.AddUse(use, int64(len(answers)))
	for _, q := range l.took {
		slices.Sort(q)
		s[slowest] = max(s[slowest], float64(q[len(q)/2])/float64(time.Millisecond))
	}
	return s, nil
}

// slowestOnes names the five slowest queries of the last run.
func (l *lists) slowestOnes() string {
	names := slices.Collect(maps.Keys(l.took))
	middle := func(name string) time.Duration { return l.took[name][len(l.took[name])/2] }
	slices.SortFunc(names, func(a, b string) int { return cmp.Compare(middle(b), middle(a)) })
	var texts []string
	for _, name := range names[:min(5, len(names))] {
		texts = append(texts, fmt.Sprintf("%s %.1f ms", shortened(name), float64(middle(name))/float64(time.Millisecond)))
	}
	return strings.Join(texts, "; ")
}

// deep are the shares of a list after which a page deep in it begins.
var deep = []float64{0.01, 0.5, 0.99}

// longer returns the lists that have a second page, with how many events each has.
func (l *lists) longer(ctx context.Context, filters []string) (long []string, totals []int64, err error) {
	for _, filter := range filters {
		first, err := l.client.get(ctx, until(filter, 1))
		if err != nil {
			return nil, nil, err
		}
		if first.Pagination.NextCursor != nil {
			long, totals = append(long, filter), append(totals, first.Pagination.Total)
		}
	}
	return long, totals, nil
}

// cursors returns queries that go on deep in each of the lists, which have a second page: of all lists after a little of their events,
// then of all after more.
func (l *lists) cursors(ctx context.Context, filters []string, totals []int64) (queries []string, err error) {
	const size = 20
	for _, share := range deep {
		for i, filter := range filters {
			filter = until(filter, 1)
			page := max(1, min(1+int64(share*float64(totals[i]))/size, (totals[i]-1)/size)) // the last one has no cursor
			answer, err := l.client.get(ctx, fmt.Sprintf("%s&page=%d", filter, page))
			if err != nil {
				return nil, err
			}
			if answer.Pagination.NextCursor == nil {
				return nil, fmt.Errorf("page %d of %d events has no cursor: %s", page, totals[i], shortened(filter))
			}
			queries = append(queries, filter+"&cursor="+url.QueryEscape(*answer.Pagination.NextCursor))
		}
	}
	return queries, nil
}

// runAfterPauses asks for a few of the queries, other ones in each run, each after a pause: somebody looks at a dashboard.
func (l *lists) runAfterPauses(ctx context.Context, queries []string) (Sample, error) {
	const asked, pause, step = 6, 1500 * time.Millisecond, 13 // of 73 queries, so that all kinds come
	var some []string
	for range asked {
		l.paused += step
		some = append(some, queries[l.paused%len(queries)])
	}
	return l.once(ctx, some, pause)
}

// keepInserting inserts so many events a second, as they happen now, in blocks of a partition each, until the function that
// it returns is called.
func (e *Engines) keepInserting(ctx context.Context, events *traffic.Generator, rate int) (stop func() error) {
	var conn *ch.Client
	topic, block, offset := uuid.New(), traffic.NewBlock(false), int64(0)
	var one event.Event
	stopInserting := insertMeanwhile(ctx, func(ctx context.Context) error {
		if conn == nil {
			options, err := clickhouse.Config{URL: e.ClickHouseURL}.BlockOptions()
			if err != nil {
				return err
			}
			if conn, err = ch.Dial(ctx, options); err != nil {
				return err
			}
		}
		block.Reset()
		now := time.Now().UnixMilli()
		for range rate / liveBlocks {
			events.Next(&one)
			one.CreatedAt, one.ReceivedAt = now-(one.ReceivedAt-one.CreatedAt), now
			block.Append(&one, topic, 0, offset)
			offset++
		}
		input := block.Input()
		return conn.Do(ctx, ch.Query{Body: input.Into("events"), Input: input, Settings: []ch.Setting{ch.SettingInt("async_insert", 0)}})
	})
	return func() error {
		err := stopInserting()
		if conn != nil {
			_ = conn.Close() // every insert was answered, or its error is told
		}
		return err
	}
}

const liveBlocks = 4 // a second

// insertMeanwhile calls insert four times a second (liveBlocks), from one goroutine, until the function that it returns is called, which
// returns why no more was inserted, once. It may be called again.
func insertMeanwhile(ctx context.Context, insert func(context.Context) error) (stop func() error) {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() {
		defer close(ended)
		ticker := time.NewTicker(time.Second / liveBlocks)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
			if err := insert(ctx); err != nil {
				if ctx.Err() == nil {
					ended <- fmt.Errorf("insert meanwhile: %w", err)
				}
				return
			}
		}
	}()
	return func() error {
		cancel()
		return <-ended
	}
}

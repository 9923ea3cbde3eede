package bench

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/ClickHouse/ch-go"
	"github.com/google/uuid"

	"lodestone/cmd/lodestone/bench/traffic"
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
	made   int                        // lists of everything that were asked for
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

// newSizes returns the queries for pages of a size that was not asked for before: the query service remembers where the events
// of a page were.
func (l *lists) newSizes(queries []string) []string {
	const size, most = 20, 60 // beyond which a page takes longer for its size
	l.sizes++
	sized := make([]string, len(queries))
	for i, q := range queries {
		sized[i] = fmt.Sprintf("%s&per_page=%d", q, size+1+l.sizes%most)
	}
	return sized
}

// newLists returns queries for everything, each in other words than any before.
func (l *lists) newLists(n int) (queries []string) {
	for range n {
		l.made++
		queries = append(queries, "to="+time.Date(2100, 1, 1, 0, 0, 0, l.made*int(time.Millisecond), time.UTC).Format(time.RFC3339Nano))
	}
	return queries
}

// run asks for every query once, in this order and in an open loop. The same query may be there several times.
func (l *lists) run(ctx context.Context, queries []string) (Sample, error) {
	l.seed++ // other times in each run
	load := openLoop{rate: l.rate, requests: len(queries), seed: l.seed}
	answers, err := load.runAll(ctx, func(ctx context.Context, number int) error {
		_, _, err := l.client.fetch(ctx, queries[number])
		return err
	})
	if err != nil {
		return nil, err
	}
	l.took = map[string][]time.Duration{}
	for _, a := range answers {
		l.took[queries[a.number]] = append(l.took[queries[a.number]], a.took)
	}
	s := Sample{}
	s.AddLatencies(latenciesOf(answers))
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

// cursors returns queries that go on deep in the account's list.
func (l *lists) cursors(ctx context.Context) (list []string, err error) {
	first, err := l.client.get(ctx, "")
	if err != nil {
		return nil, err
	}
	for _, share := range []float64{0.01, 0.5, 0.99} {
		page := 1 + int64(share*float64(first.Pagination.Total))/20
		answer, err := l.client.get(ctx, fmt.Sprintf("page=%d", page))
		if err != nil {
			return nil, err
		}
		if answer.Pagination.NextCursor == nil {
			return nil, fmt.Errorf("page %d of %d events has no cursor", page, first.Pagination.Total)
		}
		list = append(list, "cursor="+url.QueryEscape(*answer.Pagination.NextCursor))
	}
	return list, nil
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

// keepInserting inserts so many events a second, as they happen now, in four blocks a second of a partition
// each, until the function that it returns is called.
func (e *Engines) keepInserting(ctx context.Context, events *traffic.Generator, rate int) (stop func() error) {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() {
		err := e.insertNow(ctx, events, rate)
		if ctx.Err() != nil {
			err = nil
		}
		ended <- err
	}()
	return func() error {
		cancel()
		return <-ended
	}
}

const liveBlocks = 4 // a second

func (e *Engines) insertNow(ctx context.Context, events *traffic.Generator, rate int) error {
	options, err := clickhouse.Config{URL: e.ClickHouseURL}.BlockOptions()
	if err != nil {
		return err
	}
	conn, err := ch.Dial(ctx, options)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }() // only read from and written to above
	ticker := time.NewTicker(time.Second / liveBlocks)
	defer ticker.Stop()
	topic, block := uuid.New(), traffic.NewBlock(false)
	var one event.Event
	for offset := int64(0); ; {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
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
		if err := conn.Do(ctx, ch.Query{Body: input.Into("events"), Input: input, Settings: []ch.Setting{ch.SettingInt("async_insert", 0)}}); err != nil {
			return fmt.Errorf("insert meanwhile: %w", err)
		}
	}
}

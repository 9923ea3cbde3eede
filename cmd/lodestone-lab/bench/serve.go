package bench

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"lodestone/pkg/clickhouse"
	"lodestone/pkg/config"
)

// serveOptions are the settings of this suite alone.
type serveOptions struct {
	Connections int           `name:"serve-connections" default:"64" help:"Visitors, or clients of the API, at the same time."`
	Time        time.Duration `name:"serve-time" default:"5s" help:"How long each run is measured."`
	Rows        int64         `name:"serve-rows" default:"1000000" help:"Events that are stored while the API is asked."`
}

// Validate returns every problem of the settings.
func (o serveOptions) Validate() error {
	var errs []error
	errs = append(errs, numberWithin("--serve-connections", o.Connections, 1, 10_000))
	if o.Time < 100*time.Millisecond || o.Time > time.Hour {
		errs = append(errs, config.Invalid("--serve-time", "is out of range", "give a time from 100ms to 1h"))
	}
	if o.Rows < 100_000 {
		errs = append(errs, config.Invalid("--serve-rows", "is too little", "give a number of at least 100000"))
	}
	return errors.Join(errs...)
}

func (o serveOptions) suite() suite { return suite{name: "serve", cases: serveCases, run: o.measure} }

// The cases of the suite.
const (
	pagesCase = "serve/crud"
	apiCase   = "serve/query"
)

func serveCases(string) []string { return []string{pagesCase, apiCase} }

// What a run under full load shows besides.
const (
	requestRate  = "requests/s"
	refusedShare = "% refused with 503"
)

func (o serveOptions) measure(ctx context.Context, b *Bench, e *Engines) error {
	settings := o
	if b.Quick {
		settings.Time /= 4
		settings.Rows = 100_000
	}
	return errors.Join(settings.measurePages(ctx, b, e), settings.measureAPI(ctx, b, e))
}

// measurePages lets visitors come, each to the landing page, to a document, and away with the file, while the
// business makes access links and lists them.
func (o serveOptions) measurePages(ctx context.Context, b *Bench, e *Engines) (err error) {
	if !b.Wanted(pagesCase) {
		return nil
	}
	s := &site{b: b, e: e, http: &http.Client{Timeout: time.Minute, Transport: &http.Transport{MaxIdleConnsPerHost: o.Connections}}}
	defer func() { err = errors.Join(err, s.stop(context.WithoutCancel(ctx))) }()
	if err := s.start(ctx); err != nil {
		return err
	}
	return b.Measure(ctx, Case{
		Name:  pagesCase,
		Title: fmt.Sprintf("crud under full load: %d visitors open landing pages and documents, and download them, while links are made and listed", o.Connections),
		Warm:  1,
		Sides: []Side{{Name: "crud", Run: func(ctx context.Context) (Sample, error) {
			return o.fullLoad(ctx, s.crud, e, s.visit)
		}}},
		Targets: []Target{{What: "crud ≤ 100 MiB under full load", Value: Peak("crud"), AtMost: 100}},
		Show:    []string{requestRate, refusedShare, Latency(0.5), Latency(0.99), CPU("crud"), CPU("postgres"), Peak("crud"), Steady("crud"), Peak("postgres")},
	})
}

// measureAPI asks for lists of events and summaries, as many at once as there are connections.
func (o serveOptions) measureAPI(ctx context.Context, b *Bench, e *Engines) (err error) {
	if !b.Wanted(apiCase) {
		return nil
	}
	store, err := clickhouse.Open(clickhouse.Config{URL: e.ClickHouseURL}, 2)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	events := pastYear(b.Seed, o.Rows, time.Now())
	served, err := b.startQueried(ctx, e, store, events, o.Rows, 1000)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, served.process.Stop(context.WithoutCancel(ctx))) }()
	picks, err := pickFilters(ctx, store, served.account)
	if err != nil {
		return err
	}
	var paths []string
	for _, q := range append([]string{"", "per_page=100"}, combine(picks)...) {
		paths = append(paths, "http://"+served.address+"/api/v1/analytics?"+q)
	}
	paths = append(paths, slices.Repeat([]string{"http://" + served.address + emailPath + url.QueryEscape(served.email)}, 5)...)
	client := &http.Client{Timeout: time.Minute, Transport: &http.Transport{MaxIdleConnsPerHost: o.Connections}}
	defer client.CloseIdleConnections()
	var next atomic.Int64
	ask := func(ctx context.Context, v *visitor) error {
		path := paths[int(next.Add(1))%len(paths)]
		_, err := v.fetch(ctx, client, http.MethodGet, path, served.key, nil)
		return err
	}
	return b.Measure(ctx, Case{
		Name:  apiCase,
		Title: fmt.Sprintf("query under full load: %d clients ask for lists by every filter and pair, and for summaries; %s events", o.Connections, million(o.Rows)),
		Warm:  1,
		Sides: []Side{{Name: "query", Run: func(ctx context.Context) (Sample, error) { return o.fullLoad(ctx, served.process, e, ask) }}},
		Targets: []Target{
			{What: "query ≤ 100 MiB under full load", Value: Peak("query"), AtMost: 100},
			clickhouseMemory,
		},
		Show: []string{requestRate, refusedShare, Latency(0.5), Latency(0.99), CPU("query"), CPU("clickhouse"), CPU("postgres"), Peak("query"), Steady("query"), Peak("clickhouse")},
	})
}

// fullLoad has as many visitors as there are connections do something again and again, and says what the process
// took for it.
func (o serveOptions) fullLoad(ctx context.Context, p *Process, e *Engines, do func(context.Context, *visitor) error) (Sample, error) {
	watch, err := Watch(append(e.Processes(), p.Metered())...)
	if err != nil {
		return nil, err
	}
	visitors := make([]visitor, o.Connections)
	begin := time.Now()
	group, groupCtx := errgroup.WithContext(ctx)
	for i := range visitors {
		group.Go(func() error {
			for time.Since(begin) < o.Time {
				if err := do(groupCtx, &visitors[i]); err != nil {
					return err
				}
			}
			return nil
		})
	}
	err = group.Wait()
	took := time.Since(begin)
	use, stopErr := watch.Stop()
	if err = errors.Join(err, stopErr); err != nil {
		return nil, err
	}
	all := &visitors[0]
	for i := range visitors[1:] {
		all.latencies.Merge(&visitors[i+1].latencies)
		all.refused += visitors[i+1].refused
	}
	answers := float64(all.latencies.Count())
	s := Sample{requestRate: answers / took.Seconds(), refusedShare: 100 * float64(all.refused) / max(answers, 1)}
	s.AddLatencies(&all.latencies)
	s.AddUse(use, int64(answers))
	return s, nil
}

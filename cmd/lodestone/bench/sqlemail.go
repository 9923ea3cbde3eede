package bench

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/google/uuid"

	"lodestone/pkg/clickhouse"
	"lodestone/pkg/service"
	"lodestone/query/scope"
	"lodestone/query/summary"
)

const (
	emailPath  = "/api/v1/analytics/email?email="
	emailAsked = 150
	emailPause = 15 * time.Millisecond // between two requests
)

// email measures the summary of an address with many access links, 25 requests a second or so, beside what of it
// is ClickHouse's: the same statement over an open connection, without HTTP, key, limit and Postgres, and the same for
// one link, which is its planning and little else.
func (s *sqlBench) email(ctx context.Context) (err error) {
	const name, statement = "sql/email", "sql/email statement"
	if !s.b.Wanted(statement) {
		return nil
	}
	door, err := scope.Open(clickhouse.Config{URL: s.e.ClickHouseURL}, scope.Limits{MaxConns: 1, Timeout: time.Minute, MemoryBytes: 512 << 20})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, door.Close()) }()
	views := func(links []uuid.UUID) func(context.Context) (time.Duration, error) {
		return func(ctx context.Context) (time.Duration, error) {
			begin := time.Now()
			err := door.Query(ctx, s.account, summary.Views(links), func(row scope.Row) error {
				var views, magnets uint64
				var first, last time.Time
				return row.Scan(&views, &magnets, &first, &last)
			})
			return time.Since(begin), err
		}
	}
	err = s.b.Measure(ctx, Case{
		Name: name, Title: fmt.Sprintf("GET /analytics/email of an address with %d access links, in the largest account", len(s.links)), Warm: 1,
		Targets: []Target{{What: "p99 ≤ 30 ms", Value: Latency(0.99), AtMost: 30}},
		Sides: []Side{{Name: "query", Run: paced(func(ctx context.Context) (time.Duration, error) {
			return s.get(ctx, emailPath+url.QueryEscape(s.recipient.email))
		})}},
	})
	if err != nil {
		return err
	}
	// A case of its own: in turns with these, the query service would be asked after a while of rest each time.
	return s.b.Measure(ctx, Case{
		Name: statement, Title: fmt.Sprintf("what such a summary asks of ClickHouse, alone, for %d access links and for one", len(s.links)), Warm: 1,
		Sides: []Side{
			{Name: "its statement alone", Run: paced(views(s.links))},
			{Name: "the statement for one link", Run: paced(views(s.links[:1]))},
		},
	})
}

// paced is a run that asks again and again, with a pause after each.
func paced(ask func(context.Context) (time.Duration, error)) func(context.Context) (Sample, error) {
	return func(ctx context.Context) (Sample, error) {
		var all Latencies
		for range emailAsked {
			took, err := ask(ctx)
			if err != nil {
				return nil, err
			}
			all.Add(took)
			if err := service.Sleep(ctx, emailPause); err != nil {
				return nil, err
			}
		}
		sample := Sample{}
		sample.AddLatencies(&all)
		return sample, nil
	}
}

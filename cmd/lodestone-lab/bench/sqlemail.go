package bench

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"lodestone/pkg/clickhouse"
	"lodestone/pkg/postgres"
	"lodestone/pkg/service"
	"lodestone/query/scope"
	"lodestone/query/summary"
)

const (
	emailPath      = "/api/v1/analytics/email?email="
	emailAsked     = 150
	emailQuick     = 5                     // how many times fewer in a quick run
	emailRate      = 20                    // requests a second, at random times
	emailPause     = 15 * time.Millisecond // between two statements
	emailAddresses = 10                    // that are asked for in turn
	emailInserts   = 4000                  // events a second meanwhile
)

// email measures the summary of addresses with many access links, 20 requests a second at random times, at rest and while events
// are inserted, each from the time at which it was due. Beside it: what of
// that is ClickHouse's, the statement alone over an open connection, and the same for one link, which is its planning and little else.
func (s *sqlBench) email(ctx context.Context) (err error) {
	if !slices.ContainsFunc([]string{emailCase, insertingCase, statementCase}, s.b.Wanted) {
		return nil
	}
	door, err := scope.Open(clickhouse.Config{URL: s.e.ClickHouseURL}, scope.Limits{MaxConns: 2, Timeout: time.Minute, MemoryBytes: 512 << 20})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, door.Close()) }()
	pool, err := postgres.Open(ctx, postgres.Config{URL: s.e.PostgresURL, MaxConns: 2})
	if err != nil {
		return err
	}
	defer pool.Close()
	addresses, err := s.addresses(ctx, pool)
	if err != nil {
		return err
	}
	var turn atomic.Int64
	next := func() string { return addresses[int(turn.Add(1))%len(addresses)] }
	title := fmt.Sprintf("GET /analytics/email of %d addresses with %d access links each, in turn, in the largest account, %d a second at random times", len(addresses), len(s.links), emailRate)
	asked := emailAsked
	if s.b.Quick {
		asked /= emailQuick
	}
	seed := s.b.Seed
	query := Side{Name: "query", Run: func(ctx context.Context) (Sample, error) {
		seed++ // other times in each run
		load := openLoop{rate: emailRate, requests: asked, seed: seed}
		answers, err := load.runAll(ctx, func(ctx context.Context, _ int) error { return s.get(ctx, emailPath+url.QueryEscape(next())) })
		if err != nil {
			return nil, err
		}
		sample := Sample{}
		sample.AddLatencies(latenciesOf(answers))
		return sample, nil
	}}
	targets := []Target{{What: "p99 ≤ 30 ms", Value: Latency(0.99), AtMost: 30}}
	if err := s.b.Measure(ctx, Case{
		Name: emailCase, Title: title, Warm: 1, Sides: []Side{query}, Targets: targets,
	}); err != nil {
		return err
	}
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
	// A case of its own: in turns with these, the query service would be asked after a while of rest each time.
	if err := s.b.Measure(ctx, Case{
		Name: statementCase, Title: fmt.Sprintf("what such a summary asks of ClickHouse, for %d access links and for one", len(s.links)), Warm: 1,
		Sides: []Side{
			{Name: "its statement alone", Run: paced(asked, views(s.links))},
			{Name: "the statement for one link", Run: paced(asked, views(s.links[:1]))},
		},
	}); err != nil {
		return err
	}
	if !s.b.Wanted(insertingCase) {
		return nil
	}
	stop := s.e.keepInserting(ctx, s.events, emailInserts)
	defer func() { err = errors.Join(err, stop()) }()
	return s.b.Measure(ctx, Case{
		Name: insertingCase, Title: title + fmt.Sprintf(", while %d events a second are inserted", emailInserts), Warm: 1, Sides: []Side{query}, Targets: targets,
	})
}

// addresses returns the recipient's address and others, each with as many access links that have events.
func (s *sqlBench) addresses(ctx context.Context, pool *postgres.Pool) ([]string, error) {
	rows, err := s.store.Query(ctx, `SELECT access_link_id AS id, any(lead_magnet_id) FROM lodestone.events WHERE account_id = ? AND bot = '' AND id NOT IN (?)
		GROUP BY id ORDER BY cityHash64(id) LIMIT ?`, s.account, s.links, len(s.links)*(emailAddresses-1))
	if err != nil {
		return nil, fmt.Errorf("choose access links: %w", err)
	}
	var links, magnets []uuid.UUID
	for rows.Next() {
		var link, magnet uuid.UUID
		if err := rows.Scan(&link, &magnet); err != nil {
			return nil, errors.Join(err, rows.Close())
		}
		links, magnets = append(links, link), append(magnets, magnet)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return nil, fmt.Errorf("choose access links: %w", err)
	}
	all := []string{s.recipient.email}
	n := len(s.links)
	for ; len(links) >= n; links, magnets = links[n:], magnets[n:] {
		address := fmt.Sprintf("reader%d@example.com", len(all))
		if _, err := pool.Unscoped().Exec(ctx, "INSERT INTO lead_magnets (id, account_id, title) SELECT DISTINCT unnest($2::uuid[]), $1::uuid, 'm' ON CONFLICT DO NOTHING", s.account, magnets[:n]); err != nil {
			return nil, fmt.Errorf("make lead magnets: %w", err)
		}
		if _, err := pool.Unscoped().Exec(ctx, `INSERT INTO access_links (id, account_id, lead_magnet_id, email, email_key, token_clear)
			SELECT l.id, $1::uuid, l.magnet, $4::text, $4::text, l.id::text FROM unnest($2::uuid[], $3::uuid[]) AS l (id, magnet)`, s.account, links[:n], magnets[:n], address); err != nil {
			return nil, fmt.Errorf("make access links: %w", err)
		}
		all = append(all, address)
	}
	return all, nil
}

// paced is a run that asks again and again, with a pause after each.
func paced(times int, ask func(context.Context) (time.Duration, error)) func(context.Context) (Sample, error) {
	return func(ctx context.Context) (Sample, error) {
		var all Latencies
		for range times {
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

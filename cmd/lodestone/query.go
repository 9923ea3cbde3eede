package main

import (
	"context"

	"lodestone/pkg/api"
	"lodestone/pkg/auth"
	"lodestone/pkg/clickhouse"
	"lodestone/pkg/httpserver"
	"lodestone/pkg/idempotency"
	"lodestone/pkg/postgres"
	"lodestone/pkg/ratelimit"
	"lodestone/query"
)

// siteConfig is the setting of a process that serves the API.
type siteConfig struct {
	Listen string `name:"listen" default:"127.0.0.1:8080" help:"Address to listen on for the site and the API."`
}

// Validate returns every problem of the settings.
func (c siteConfig) Validate() error { return validateAddress("--listen", c.Listen) }

type queryCommand struct {
	Process    processConfig     `embed:""`
	Admin      adminConfig       `embed:""`
	Site       siteConfig        `embed:""`
	Limits     ratelimit.Config  `embed:""`
	Query      query.Config      `embed:""`
	ClickHouse clickhouse.Config `embed:""`
	Postgres   postgres.Config   `embed:""`
}

func (c *queryCommand) check() error {
	return validate(c.Admin, c.Site, c.Limits, c.Query, c.ClickHouse, c.Postgres)
}

// Run is the query service's process.
func (c *queryCommand) Run(ctx context.Context) error {
	if err := c.check(); err != nil {
		return err
	}
	p := newProcess(c.Process)
	pool, err := p.addPostgres(ctx, c.Postgres)
	if err != nil {
		return err
	}
	p.addAdmin(c.Admin)
	site, err := p.addAPI(ctx, c.Limits, c.Postgres, pool)
	if err != nil {
		return err
	}
	if _, err := p.addQuery(site, c.Query, c.ClickHouse, pool); err != nil {
		return err
	}
	p.addSite(c.Site, site)
	return p.run(ctx)
}

// limiterConns is how many connections the counter of rate limits has to itself, so that it never
// waits for a slow operation to give one back.
const limiterConns = 4

// addAPI returns an API without operations, and puts what it stands on onto the stack.
func (p *process) addAPI(ctx context.Context, c ratelimit.Config, pg postgres.Config, pool *postgres.Pool) (*api.API, error) {
	pg.MaxConns = min(pg.MaxConns, limiterConns)
	counters, err := postgres.Open(ctx, pg)
	if err != nil {
		return nil, err
	}
	p.stack.Add("rate limits", closing(func() error { counters.Close(); return nil }))
	verifier := auth.NewVerifier(pool, p.log)
	p.stack.Add("API keys", verifier)
	answers := idempotency.New(pool, p.log)
	p.stack.Add("idempotency keys", answers)
	return api.New(api.Options{
		Verifier: verifier, Log: p.log, Metrics: p.metrics,
		Limits: ratelimit.New(c, counters, p.log, p.metrics), Idempotency: answers,
		Unavailable: []func(error) bool{query.IsUnavailable},
	}), nil
}

// addQuery registers the analytics endpoints.
func (p *process) addQuery(site *api.API, c query.Config, s clickhouse.Config, pool *postgres.Pool) (*query.Query, error) {
	service, err := query.New(c, query.Deps{ClickHouse: s, Postgres: pool})
	if err != nil {
		return nil, err
	}
	p.checks["query"] = service.Ready
	p.stack.Add("query service", closing(service.Close))
	service.Register(site)
	return service, nil
}

// addSite puts the server of the API, with everything that was registered on it, onto the stack.
func (p *process) addSite(c siteConfig, site *api.API) {
	p.stack.Add("site", httpserver.New("site", "--listen", c.Listen, site, p.log))
}

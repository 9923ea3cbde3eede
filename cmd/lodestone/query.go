package main

import (
	"context"
	"errors"

	"lodestone/pkg/api"
	"lodestone/pkg/auth"
	"lodestone/pkg/certificate"
	"lodestone/pkg/clickhouse"
	"lodestone/pkg/clientaddr"
	"lodestone/pkg/httpserver"
	"lodestone/pkg/idempotency"
	"lodestone/pkg/postgres"
	"lodestone/pkg/ratelimit"
	"lodestone/pkg/token"
	"lodestone/pkg/tracing"
	"lodestone/query"
	"lodestone/query/scope"
)

// siteConfig is the setting of a process that serves the API.
type siteConfig struct {
	Listen string             `name:"listen" default:"127.0.0.1:8080" help:"Address to listen on for the site and the API."`
	TLS    certificate.Server `embed:""`
}

// Validate returns every problem of the settings.
func (c siteConfig) Validate() error {
	return errors.Join(validateAddress("--listen", c.Listen), c.TLS.Validate(""))
}

// local returns the address of the site on this machine.
func (c siteConfig) local() string { return c.TLS.Scheme() + "://" + visible(c.Listen) }

type queryCommand struct {
	Process    processConfig           `embed:""`
	Admin      adminConfig             `embed:""`
	Trace      tracing.Config          `embed:""`
	Drain      drainConfig             `embed:""`
	Site       siteConfig              `embed:""`
	Limits     ratelimit.Config        `embed:""`
	Addresses  clientaddr.Config       `embed:""`
	Query      query.Config            `embed:""`
	ClickHouse clickhouse.Config       `embed:""`
	Copies     clickhouse.CopiesConfig `embed:""`
	Postgres   postgres.Config         `embed:""`
	HTTPURL    string                  `name:"clickhouse-http-url" placeholder:"URL" help:"HTTP address of the same ClickHouse, as http://host:port, which exports read from. Without it, there are no exports. With other copies, one address of each, with commas between them. User and password are those of its native address, unless the address has its own. Secret."`
	SQLURL     string                  `name:"sql-url" placeholder:"URL" help:"HTTP address of the read-only SQL user, as http://user:password@host:port/?database=analytics. If set, a test query runs as this user every 15 seconds, and /readyz and /metrics report when SQL users get no answers. Secret."`
}

func (c *queryCommand) check() error {
	err := validate(c.Admin, c.Trace, c.Drain, c.Site, c.Limits, c.Addresses, c.Query, c.ClickHouse, c.Copies, c.Postgres)
	_, wrong := c.Copies.Copies(c.ClickHouse)
	return errors.Join(err, wrong)
}

// Run is the query service's process.
func (c *queryCommand) Run(ctx context.Context) error {
	if err := c.check(); err != nil {
		return err
	}
	p := newProcess(c.Process)
	if err := p.addTracing(c.Trace, "query"); err != nil {
		return err
	}
	p.drainDelay = c.Drain.Delay
	pool, err := p.addPostgres(ctx, c.Postgres)
	if err != nil {
		return err
	}
	if err := p.addShardCheck(ctx, c.ClickHouse, pool); err != nil {
		return err
	}
	p.addAdmin(c.Admin)
	site, err := p.addAPI(ctx, c.Limits, c.Addresses, c.Postgres, pool, nil)
	if err != nil {
		return err
	}
	if err := p.addQuery(site, c.Query, c.ClickHouse, c.Copies, c.HTTPURL, pool); err != nil {
		return err
	}
	if err := p.addCanary(c.SQLURL); err != nil {
		return err
	}
	p.addSite(c.Site, site)
	return p.run(ctx)
}

// addCanary watches whether the SQL user with an address is answered, if there is one. The API does
// not depend on it, so the process stays ready.
func (p *process) addCanary(address string) error {
	if address == "" {
		return nil
	}
	canary, err := clickhouse.NewCanary(clickhouse.CanaryConfig{URL: address},
		clickhouse.CanaryDeps{Log: p.log, Registerer: p.metrics})
	if err != nil {
		return err
	}
	p.checks["sql"] = func(ctx context.Context) error {
		if err := canary.Ready(ctx); err != nil {
			return httpserver.DegradedError{Err: err}
		}
		return nil
	}
	p.stack.Add("SQL canary", canary)
	return nil
}

// limiterConns is how many connections the counter of rate limits has to itself, so that it never
// waits for a slow operation to give one back.
const limiterConns = 4

// addAPI returns an API without operations, and adds its dependencies to the stack. tokens seals
// the answers that are stored for repeated requests; nil: the API only reads, and keeps none.
func (p *process) addAPI(ctx context.Context, c ratelimit.Config, addresses clientaddr.Config, pg postgres.Config,
	pool *postgres.Pool, tokens *token.Ring) (*api.API, error) {
	finder, err := addresses.Finder()
	if err != nil {
		return nil, err
	}
	pg.MaxConns = min(pg.MaxConns, limiterConns)
	counters, err := postgres.Open(ctx, pg)
	if err != nil {
		return nil, err
	}
	counters.Watch(p.metrics, "rate limits")
	p.stack.Add("rate limits", closing(func() error { counters.Close(); return nil }))
	verifier := auth.NewVerifier(pool, p.log)
	p.stack.Add("API keys", verifier)
	var answers *idempotency.Store
	if tokens != nil {
		answers = idempotency.New(idempotency.Deps{Postgres: pool, Tokens: tokens, Log: p.log})
	}
	return api.New(api.Deps{
		Verifier: verifier, Sessions: verifier, Log: p.log, Metrics: p.metrics, Trace: p.trace,
		Limits:      ratelimit.New(c, ratelimit.Deps{Postgres: counters, Log: p.log, Registerer: p.metrics}),
		Idempotency: answers, Addresses: finder,
		Unavailable: []func(error) bool{query.IsUnavailable}, Prepare: query.Pin,
	}), nil
}

// addQuery registers the analytics endpoints. httpURL has the addresses that exports read from; "":
// there are none.
func (p *process) addQuery(site *api.API, c query.Config, s clickhouse.Config, others clickhouse.CopiesConfig,
	httpURL string, pool *postgres.Pool) error {
	all, err := others.Copies(s)
	if err != nil {
		return err
	}
	copies := scope.NewCopies(scope.CopiesConfig{Of: all, MaxLag: others.MaxLag},
		scope.CopiesDeps{Postgres: pool, Log: p.log, Registerer: p.metrics})
	p.stack.Add("copies of the events", copies)
	service, err := query.New(c, query.Deps{Copies: copies, ClickHouseHTTP: httpURL, Postgres: pool,
		Log: p.log, Registerer: p.metrics})
	if err != nil {
		return err
	}
	if p.checks["clickhouse"] == nil { // in `up`, the consumer says more
		p.checks["clickhouse"] = service.Ready
	}
	p.stack.Add("query service", closing(service.Close))
	p.stack.Add("live reader", service.Live())
	service.Register(site)
	return nil
}

// addSite puts the server of the API, with everything that was registered on it, onto the stack.
func (p *process) addSite(c siteConfig, site *api.API) {
	server := httpserver.New(httpserver.Config{Name: "site", Setting: "--listen", Address: c.Listen, TLS: c.TLS},
		httpserver.Deps{Handler: site, Log: p.log, Registerer: p.metrics})
	p.leave = append(p.leave, server.Leave)
	p.stack.Add("site", server)
	p.stack.Add("streams", closing(func() error { site.EndStreams(); return nil })) // first: the server waits for them
}

package main

import (
	"context"
	"strings"
	"time"

	"lodestone/crud"
	"lodestone/pkg/api"
	"lodestone/pkg/postgres"
	"lodestone/pkg/ratelimit"
	"lodestone/pkg/token"
	"lodestone/pkg/tracing"
	"lodestone/query"
)

type crudCommand struct {
	Process  processConfig    `embed:""`
	Admin    adminConfig      `embed:""`
	Trace    tracing.Config   `embed:""`
	Drain    drainConfig      `embed:""`
	Site     siteConfig       `embed:""`
	Limits   ratelimit.Config `embed:""`
	Crud     crud.Config      `embed:""`
	Postgres postgres.Config  `embed:""`
	Token    token.Config     `embed:""`
}

func (c *crudCommand) check() error {
	return validate(c.Admin, c.Trace, c.Drain, c.Site, c.Limits, c.Crud, c.Postgres, c.Token)
}

// Run is the process of lead magnets and links. Requests for analytics go on to the query process.
func (c *crudCommand) Run(ctx context.Context) error {
	c.Crud.PublicURL = publicURL(c.Crud, c.Site)
	if err := c.check(); err != nil {
		return err
	}
	p := newProcess(c.Process)
	if err := p.addTracing(c.Trace, "crud"); err != nil {
		return err
	}
	p.drainDelay, p.servesTLS = c.Drain.Delay, c.Site.TLS.Enabled()
	pool, err := p.addPostgres(ctx, c.Postgres)
	if err != nil {
		return err
	}
	p.addAdmin(c.Admin)
	ring, err := p.addTokenKeys(c.Token)
	if err != nil {
		return err
	}
	site, err := p.addAPI(ctx, c.Limits, c.Crud.Addresses, c.Postgres, pool, ring)
	if err != nil {
		return err
	}
	if c.Crud.QueryURL != "" {
		query.Describe(site) // one description for clients, whichever process answers
	}
	if err := p.addCrud(site, c.Crud, crud.Deps{Postgres: pool, Tokens: ring, Grace: crudGrace}); err != nil {
		return err
	}
	p.addSite(c.Site, site)
	return p.run(ctx)
}

// publicURL returns the address that links begin with.
func publicURL(c crud.Config, site siteConfig) string {
	if c.PublicURL != "" {
		return c.PublicURL
	}
	return site.local()
}

// crudGrace is the time that mails and webhooks in flight get when the process stops.
const crudGrace = 10 * time.Second

// addCrud registers the endpoints of lead magnets and links, and puts the work behind them on the
// stack. The log and the registerer are those of the process.
func (p *process) addCrud(site *api.API, c crud.Config, d crud.Deps) error {
	d.Log, d.Registerer = p.log, p.metrics
	service, err := crud.New(c, d)
	if err != nil {
		return err
	}
	if strings.HasPrefix(c.PublicURL, "https:") && !p.servesTLS && len(c.Addresses.TrustedProxies) == 0 {
		p.log.Warn("the public URL is https, which a proxy serves, but no proxy is trusted: all visitors share the limits of one",
			"remedy", "set --trusted-proxies to the network of the proxy")
	}
	if !c.Mail.Enabled() && d.Mailbox == nil {
		p.log.Warn("--smtp-url is not set: mails wait in the queue and are dropped after a day")
	}
	p.stack.Add("entities", closing(func() error {
		service.Close()
		return nil
	}))
	p.stack.Add("erasures", service.Erasures())
	p.stack.Add("record of revocations", service.Revocations())
	p.stack.Add("files", service.Files())
	p.stack.Add("queue", service.Queue())
	p.stack.Add("upkeep of files", service.Upkeep())
	p.stack.Add("webhooks", service.Webhooks())
	p.stack.Add("pruning of queues", service.Pruning())
	p.stack.Add("sealing", service.Sealing())
	p.stack.Add("ends of sessions", service.SessionEnds())
	return service.Register(site)
}

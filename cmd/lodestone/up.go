package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/term"

	"lodestone/crud"
	"lodestone/ingest/collector"
	"lodestone/ingest/consumer"
	"lodestone/ingest/counter"
	"lodestone/ingest/erasure"
	"lodestone/ingest/mirror"
	"lodestone/ingest/producer"
	"lodestone/ingest/retention"
	"lodestone/ingest/spool"
	"lodestone/ingest/verify"
	"lodestone/pkg/certificate"
	"lodestone/pkg/clickhouse"
	"lodestone/pkg/config"
	"lodestone/pkg/engine"
	"lodestone/pkg/kafka"
	"lodestone/pkg/postgres"
	"lodestone/pkg/ratelimit"
	"lodestone/pkg/token"
	"lodestone/pkg/tracing"
	"lodestone/query"
)

// Limits of `lodestone up`, for which a person waits.
const (
	upStartTimeout = 15 * time.Minute // the first start on a machine downloads the engines
	upStopTimeout  = 1500 * time.Millisecond
	upGrace        = 300 * time.Millisecond // of upStopTimeout, for mails and webhooks in flight
	// more than all of them take one after another, each being killed in the end
	upEnginesTimeout   = 10 * time.Second
	upPartitions       = 4
	upPostgresMaxConns = 20 // all parts share one pool
)

type upCommand struct {
	LogLevel  slog.Level `name:"log-level" default:"WARN" help:"Minimum level of messages to log: DEBUG, INFO, WARN or ERROR."`
	LogFormat string     `name:"log-format" default:"text" enum:"text,json" help:"Format of the log: text or json."`

	NoSample bool `name:"no-sample" help:"Do not create a sample (a lead magnet with a landing page) on the first start."`

	Site      siteConfig          `embed:""`
	Admin     adminConfig         `embed:""`
	Trace     tracing.Config      `embed:""`
	Drain     drainConfig         `embed:""`
	Engines   engine.Config       `embed:""`
	Copies    kafka.Copies        `embed:""`
	Limits    ratelimit.Config    `embed:""`
	Crud      crud.Config         `embed:""`
	Query     query.Config        `embed:""`
	Collector collector.Config    `embed:""`
	Producer  producer.Config     `embed:""`
	Spool     spool.Config        `embed:""`
	Consumer  consumer.Config     `embed:""`
	Counter   counter.Config      `embed:""`
	Mirror    mirror.Config       `embed:""`
	Retention retention.Config    `embed:""`
	Quota     counter.QuotaConfig `embed:""`
	Verify    verify.Config       `embed:""`
	Erasure   erasure.Config      `embed:""`
	TokenKeys string              `name:"token-keys" placeholder:"ID:KEY,..." help:"Keys that sign tracking tokens, as for the collector. Default: a key that is generated on the first start and stored in the data directory. Secret."`
	// ownCollector connects to the collector of this process; nil: over plain HTTP, or by a public
	// address.
	ownCollector *certificate.Dialer

	tokenKeys *config.Secret
}

// AfterApply implements the hook of kong.
func (c *upCommand) AfterApply(f *config.Files) error {
	c.tokenKeys = f.Secret(&c.TokenKeys, token.Follows(c.TokenKeys))
	return nil
}

func (c *upCommand) check() error {
	withSpool := c.Spool
	withSpool.Dir = "spool" // there is always one
	var closedToItself error
	if c.Collector.TLS.ClientCA != "" {
		closedToItself = config.Invalid("--collector-tls-client-ca",
			"excludes this process, which reports downloads to its collector and has no client certificate",
			"leave it out, or run the collector by itself")
	}
	return errors.Join(closedToItself, checkSpool(c.Collector, withSpool), validate(c.Site, c.Admin, c.Trace, c.Drain,
		c.Engines, c.Limits, c.Crud, c.Query, c.Collector, c.Spool, c.Consumer, c.Mirror, c.Retention, c.Quota, c.Erasure))
}

// Run runs everything in one process. The parts are created by the same functions as in processes
// of their own. wire puts them onto the stack: p.start starts them, in the order of wire, and
// p.stop stops in the opposite order those that started. The stack only watches the engines, which
// start before it and stop after it.
func (c *upCommand) Run(ctx context.Context) (err error) {
	begin := time.Now()
	// Before fillAddresses: with a public URL, others may reach the pages through a proxy.
	withDevPages := c.Crud.PublicURL == "" && loopback(c.Site.Listen) &&
		loopback(c.Collector.Listen) && loopback(c.Admin.Listen)
	c.fillAddresses()
	if len(c.Crud.Webhooks.AllowNetworks) == 0 && c.local() {
		c.Crud.Webhooks.AllowNetworks = []string{"127.0.0.0/8", "::1/128"}
	}
	if err := c.check(); err != nil {
		return err
	}
	collector.CollectEagerly() // 44 MiB less at rest, with four million events
	p := newProcess(processConfig{LogLevel: c.LogLevel, LogFormat: c.LogFormat, component: "up"})
	p.drainDelay, p.servesTLS = c.Drain.Delay, c.Site.TLS.Enabled()
	if err := p.addTracing(c.Trace, "up"); err != nil {
		return err
	}
	observe, err := engine.Observer(p.metrics)
	if err != nil {
		return err
	}
	engines := engine.NewSet(c.Engines, engine.Deps{
		Runtime:  engine.Runtime{Log: p.log, Observe: observe},
		Progress: func(line string) { fmt.Fprintln(os.Stderr, line) },
	})
	// Before anything starts, which may take minutes the first time. The directory comes first:
	// whoever has it probably has the addresses, too.
	if err := engines.Take(); err != nil {
		return err
	}
	err = errors.Join(checkFree(ctx, listenAddress{"--listen", c.Site.Listen},
		listenAddress{"--collector-listen", c.Collector.Listen},
		listenAddress{"--admin-listen", c.Admin.Listen}), checkReach(ctx, c.Engines))
	if err != nil {
		return errors.Join(err, engines.Stop(ctx))
	}
	start, cancel := context.WithTimeout(ctx, upStartTimeout)
	defer cancel()
	if err := engines.Start(start); err != nil {
		return err
	}
	defer func() {
		stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), upEnginesTimeout)
		defer cancel()
		err = errors.Join(err, engines.Stop(stop))
	}()
	w, err := c.wire(start, p, engines, withDevPages)
	if err != nil {
		return errors.Join(err, p.stop(upStopTimeout))
	}
	if err := p.start(start); err != nil {
		return errors.Join(err, p.stop(upStopTimeout))
	}
	path, err := writeEnvFile(engines.DataDir(), w.settings())
	if err != nil {
		return errors.Join(err, p.stop(upStopTimeout))
	}
	w.addSample(start, p.log)
	w.print(os.Stdout, term.IsTerminal(int(os.Stdout.Fd())), path, time.Since(begin))
	c.warnAboutExposure(p.log)

	// Engines that cannot be brought back end the process as well.
	p.stack.Add("engines", watched{engines})
	err = p.watchReadiness(start)
	if err == nil {
		err = p.stack.Wait(ctx)
	}
	fmt.Fprintln(os.Stderr, "stopping")
	if err == nil {
		err = p.drain()
	}
	if cut := p.stop(upStopTimeout); cut != nil {
		// A client that was in the middle of a request was cut off. It was not answered, so nothing
		// that a client relies on is lost.
		p.log.Warn("requests were cut off at the end of the stop", "error", cut)
	}
	return err
}

// fillAddresses sets the addresses that are not given.
func (c *upCommand) fillAddresses() {
	c.Crud.PublicURL = publicURL(c.Crud, c.Site)
	if c.Crud.CollectorURL == "" {
		c.Crud.CollectorURL = c.Collector.TLS.Scheme() + "://" + visible(c.Collector.Listen)
		if c.Collector.TLS.Enabled() && c.Crud.CollectorInternalURL == "" {
			c.ownCollector = c.Collector.TLS.Self()
		}
	}
	c.Collector.PublicURL = c.Crud.CollectorURL
}

// visible returns an address that a browser on this machine can open.
func visible(listen string) string {
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return listen // refused by validate
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port)
}

// local reports whether only this machine can reach the site, also through a proxy before it. Then
// whoever has a key of it may let webhooks go to this machine.
func (c *upCommand) local() bool {
	u, err := url.Parse(c.Crud.PublicURL)
	return err == nil && loopback(c.Site.Listen) && loopback(net.JoinHostPort(u.Hostname(), "0"))
}

// loopback reports whether an address with a port belongs to the loopback network.
func loopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	ip := net.ParseIP(host)
	return err == nil && (host == "localhost" || ip != nil && ip.IsLoopback())
}

// fillPlaces sets the places that are not set: they are below the data directory.
func (c *upCommand) fillPlaces(dir string) {
	if !c.Spool.Enabled() {
		c.Spool.Dir = filepath.Join(dir, "spool")
	}
	if c.Crud.Erasure.Log == "" && c.Crud.Files.Store == "" {
		c.Crud.Erasure.Log = erasuresOf(dir)
	}
}

// opened is what the parts of `lodestone up` share.
type opened struct {
	postgres   postgres.Config
	clickhouse clickhouse.Config
	kafka      kafka.Config
	pool       *postgres.Pool
	ring       *token.Ring
}

// open migrates what the engines hold, and opens the keys and the pool.
func (c *upCommand) open(ctx context.Context, p *process, engines *engine.Set) (o opened, err error) {
	o = opened{
		postgres:   postgres.Config{URL: engines.PostgresURL(), MaxConns: upPostgresMaxConns},
		clickhouse: clickhouse.Config{URL: engines.ClickHouseURL()},
		kafka:      engines.Kafka(),
	}
	o.kafka.Copies = c.Copies
	if err := migrate(ctx, p.log, o.postgres, o.clickhouse, o.kafka,
		kafka.TopicConfig{Partitions: upPartitions, Replication: -1}); err != nil {
		return o, err
	}
	tokens, err := c.tokens(engines.DataDir())
	if err != nil {
		return o, err
	}
	if o.ring, err = p.addTokenKeys(tokens); err != nil {
		return o, err
	}
	if o.pool, err = p.addPostgres(ctx, o.postgres); err != nil {
		return o, err
	}
	return o, p.addShardCheck(ctx, o.clickhouse, o.pool)
}

// wire puts every part onto the stack, in the order of their start. With the dev pages, the person
// who started it can read the mails.
func (c *upCommand) wire(ctx context.Context, p *process, engines *engine.Set, withDevPages bool) (*app, error) {
	o, err := c.open(ctx, p, engines)
	if err != nil {
		return nil, err
	}
	owner := ""
	if !c.Crud.Mail.Enabled() { // mails stay here
		owner = demoOwner
	}
	account, key, err := demoKey(ctx, o.pool, engines.DataDir(), owner, p.log)
	if err != nil {
		return nil, err
	}
	dashboard, err := demoDashboard(ctx, o.pool, account)
	if err != nil {
		return nil, err
	}
	p.addAdmin(c.Admin)
	c.Erasure.SpoolMaxAge, c.Quota.Plans = c.Spool.MaxAge, c.Crud.Plans.Plans
	p.as("consumer")
	if err := p.addConsumer(c.Consumer, c.Counter, c.Mirror, c.Retention, c.Verify, c.Quota,
		c.Erasure, o.kafka, o.clickhouse, o.pool); err != nil {
		return nil, err
	}
	c.fillPlaces(engines.DataDir()) // of the spool and of the log of erasures, for the parts that follow
	p.as("collector")
	if err := p.addCollector(c.Collector, c.Crud.Country, c.Crud.Suspects, c.Producer, c.Spool,
		o.kafka, o.ring, o.pool); err != nil {
		return nil, err
	}
	p.as("crud") // which serves the API
	site, err := p.addAPI(ctx, c.Limits, c.Crud.Addresses, o.postgres, o.pool, o.ring)
	if err != nil {
		return nil, err
	}
	p.as("query")
	if err := p.addQuery(site, c.Query, o.clickhouse, clickhouse.CopiesConfig{}, engines.ClickHouseHTTPURL(),
		o.pool); err != nil {
		return nil, err
	}
	if err := p.addCanary(engines.SQLURL()); err != nil {
		return nil, err
	}
	p.as("crud")
	dev, err := newDevPages(engines.DataDir(), c.Site.Listen)
	if err != nil {
		return nil, err
	}
	w := &app{command: c, site: site, engines: engines, account: account, key: key,
		dashboard: dashboard, devSecret: dev.secret}
	if withDevPages {
		w.dev = dev
	}
	private, err := dev.site(c.Crud.PublicURL, p.log)
	if err != nil {
		return nil, err
	}
	mailbox, err := c.openMailbox(w, p, site, private)
	if err != nil {
		return nil, err
	}
	if err := p.addCrud(site, c.Crud, crud.Deps{Postgres: o.pool, Tokens: o.ring, Grace: upGrace, Mailbox: mailbox,
		Collector: c.ownCollector}); err != nil {
		return nil, err
	}
	p.addSite(c.Site, site)
	p.as("up")
	return w, nil
}

// tokens returns the keys of tracking tokens: those given, else those of the data directory.
func (c *upCommand) tokens(dir string) (token.Config, error) {
	if c.TokenKeys != "" {
		given := token.Config{Keys: c.TokenKeys, Secret: c.tokenKeys}
		return given, given.Validate()
	}
	path := filepath.Join(dir, tokenKeysFile)
	keys, err := readOrMake(path, func() (string, error) { return token.NewKeys(1).Keys, nil })
	if err != nil {
		return token.Config{}, err
	}
	file := config.NewSecret(config.SecretConfig{Setting: "--token-keys", Path: path, Value: keys,
		Check: token.Follows(keys)})
	return token.Config{Keys: keys, Secret: file}, nil
}

// warnAboutExposure warns about the missing guarantees of an embedded Kafka that others depend on.
func (c *upCommand) warnAboutExposure(log *slog.Logger) {
	if len(c.Engines.KafkaBrokers) > 0 {
		return
	}
	for _, address := range []string{c.Site.Listen, c.Collector.Listen} {
		if _, _, err := net.SplitHostPort(address); err == nil && !loopback(address) {
			log.Warn("listening beyond loopback with the embedded Kafka, which keeps one copy of acknowledged records; for more, set --kafka-brokers",
				"address", address)
		}
	}
}

// watched passes on the failure of a service that is started and stopped elsewhere.
type watched struct{ *engine.Set }

// Start implements service.Service.
func (watched) Start(context.Context) error { return nil }

// Stop implements service.Service.
func (watched) Stop(context.Context) error { return nil }

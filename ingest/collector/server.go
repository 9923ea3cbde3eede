// Package collector is the public endpoint for events: it verifies, completes and classifies the
// events that browsers and servers send, and answers when they are durable.
package collector

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/valyala/fasthttp"

	"lodestone/ingest/producer"
	"lodestone/pkg/asset"
	"lodestone/pkg/bot"
	"lodestone/pkg/certificate"
	"lodestone/pkg/clientaddr"
	"lodestone/pkg/config"
	"lodestone/pkg/limit"
	"lodestone/pkg/service"
	"lodestone/pkg/suspect"
	"lodestone/pkg/token"
	"lodestone/pkg/tracing"
)

// Deps are the dependencies of a collector. All but Countries, Networks, Quotas, Beacon, Trace and
// Now are required.
type Deps struct {
	Tokens     *token.Ring
	Sink       Sink
	Addresses  Hasher
	Bots       Classifier
	Countries  Countries         // nil: countries are not stored
	Networks   *suspect.Networks // nil: no view is suspected
	Quotas     Quotas            // nil: accounts may send any number of events
	Beacon     *asset.File       // nil: not served
	Trace      *tracing.Tracer   // nil: no traces
	Now        func() time.Time  // nil: time.Now
	Log        *slog.Logger
	Registerer prometheus.Registerer
}

// Sink takes records and makes them durable. A *producer.Producer is one; a spool on disk, for
// when Kafka is away, is another that stands before it.
type Sink interface {
	// Write returns nil when every record is durable. Any error means that the sender has to
	// repeat all of them: some may be stored, or be stored later. It returns soon after ctx ends.
	//
	// The records and their bytes are the caller's again when it has returned.
	Write(ctx context.Context, records []producer.Record) error
}

// Hasher turns the address of a client into the hash that is kept. *Salts is the one in use.
type Hasher interface {
	// Hash returns the hash of an address for one account at a time, or false when there is no
	// salt for that time. It is called from many goroutines and must not block.
	Hash(account uuid.UUID, client netip.Addr, at time.Time) ([16]byte, bool)
}

// Classifier tells bots from people.
type Classifier interface {
	// Classify returns the name of the rule that takes the sender for a bot, at most
	// event.MaxBotRuleBytes long, or "". It is called from many goroutines and keeps nothing of
	// the request.
	Classify(r bot.Request) string
}

// Quotas knows which accounts have used up their plan's events of the month.
// *counter.ExceededQuotas is the one in use.
type Quotas interface {
	// Exceeded returns the message for senders of an account whose events are refused at that time,
	// or "". It is called from many goroutines and must not block.
	Exceeded(account uuid.UUID, at time.Time) string
}

// Collector is an HTTP server for events. It is a service.Service.
type Collector struct {
	config          Config
	deps            Deps
	addresses       *clientaddr.Finder
	privacySignals  bool // are respected
	metrics         *metrics
	refusals        logBudget
	bodies          bodyBudget
	admission       admission
	views           *limit.AddressLimiter // of views of a link
	allViews        *limit.AddressLimiter // of views of all landing pages
	tokens          *tokens
	strictTransport []byte // of every answer; nil: none
	server          *fasthttp.Server
	routes          map[string]fasthttp.RequestHandler // by path
	scratches       [len(scratchClasses)]sync.Pool     // of *scratch

	listener     *listener
	open         atomic.Bool      // connections are accepted
	leaving      atomic.Bool      // connections end with their next answer
	deadlines    *limit.Deadlines // of requests; of base
	base         context.Context  //nolint:containedctx // of every request; ends when Stop gives up waiting
	giveUp       context.CancelFunc
	failed       chan error
	done         chan struct{} // closed when the server has returned
	drainTimeout time.Duration // that handlers have to answer once the requests are cancelled
}

// drainTimeout is short, since a process that is stopped waits for it.
const drainTimeout = time.Second

var _ service.Service = (*Collector)(nil)

// New returns a collector. It listens when it is started.
func New(c Config, d Deps) (*Collector, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if d.Tokens == nil || d.Sink == nil || d.Addresses == nil || d.Bots == nil || d.Log == nil || d.Registerer == nil {
		return nil, errors.New("make collector: tokens, sink, addresses, bots, log and registerer are all needed")
	}
	if d.Now == nil {
		d.Now = time.Now
	}
	trusted, err := c.proxies()
	if err != nil {
		return nil, err
	}
	m, err := newMetrics(d.Registerer)
	if err != nil {
		return nil, err
	}
	col := &Collector{
		config:         c,
		deps:           d,
		addresses:      clientaddr.New(trusted, c.ForwardedHeader),
		privacySignals: c.PrivacySignals == "honour",
		bodies:         bodyBudget{max: c.MaxInFlight},
		admission:      admission{maxRequests: int64(c.MaxRequests), maxBytes: c.MaxInFlight},
		views:          limit.NewAddressLimiter(c.ViewLimit),
		allViews:       limit.NewAddressLimiter(linksPerAddress * c.ViewLimit),
		tokens:         newTokens(d.Tokens),
		metrics:        m,
		failed:         make(chan error, 1),
		drainTimeout:   drainTimeout,
	}
	if value := certificate.StrictTransport(c.PublicURL); value != "" {
		col.strictTransport = []byte(value)
	}
	for i := range col.scratches {
		col.scratches[i].New = func() any { return new(scratch) }
	}
	col.routes = map[string]fasthttp.RequestHandler{
		eventsPath: col.endpoint(&eventsEndpoint), viewsPath: col.endpoint(&viewsEndpoint), pixelPath: col.servePixel,
		beaconPath: col.serveBeacon, scriptPath: col.serveBeacon,
	}
	col.base, col.giveUp = context.WithCancel(context.Background())
	col.deadlines = limit.NewDeadlines(col.base)
	col.server = &fasthttp.Server{
		Handler:                      col.serve,
		ErrorHandler:                 col.refuse,
		Logger:                       quiet{d.Log},
		NoDefaultServerHeader:        true,
		NoDefaultContentType:         true,
		ReadTimeout:                  c.ReadTimeout,
		WriteTimeout:                 c.WriteTimeout,
		IdleTimeout:                  c.IdleTimeout,
		MaxRequestBodySize:           c.MaxBodyBytes,
		StreamRequestBody:            true, // else memory for what is announced is taken before it comes
		ReadBufferSize:               c.MaxHeaderBytes,
		Concurrency:                  c.MaxConnections + 1024, // never met: beyond the listener's limit, connections wait
		DisablePreParseMultipartForm: true,
		CloseOnShutdown:              true,
		SecureErrorLogMessage:        true,
		TCPKeepalive:                 true,
	}
	return col, nil
}

// Start listens. It returns when connections are accepted.
func (c *Collector) Start(ctx context.Context) error {
	connections := c.config.MaxConnections
	if files, known := limit.Descriptors(); known {
		connectionsAllowed, err := c.config.connectionsWithin(files)
		if err != nil {
			return err
		}
		if connectionsAllowed < connections {
			c.deps.Log.Info("accepting fewer connections than --collector-max-connections: the limit of open files is lower",
				"connections", connectionsAllowed, "max_connections", connections, "file_limit", files,
				"remedy", "raise the limit of open files (ulimit -n, LimitNOFILE=, ulimits: nofile), or lower --collector-max-connections")
		}
		connections = connectionsAllowed
	}
	secure, err := c.config.TLS.Open(certificate.Deps{Name: "collector", Log: c.deps.Log, Registerer: c.deps.Registerer,
		Protocols: []string{"http/1.1"}})
	if err != nil {
		return err
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", c.config.Listen)
	if errors.Is(err, syscall.EADDRINUSE) {
		return config.Invalid("--collector-listen", "is "+c.config.Listen+", which another process uses",
			"stop that process or give another address")
	}
	if err != nil {
		return fmt.Errorf("listen for events (--collector-listen): %w", err)
	}
	limits := connLimits{total: connections, slack: c.config.slack(), waits: c.connectionWaits()}
	if secure != nil {
		limits.secure = secure.TLS()
	}
	c.listener, c.done = newListener(l, limits), make(chan struct{})
	c.open.Store(true)
	c.deps.Log.Info("listening", "server", "collector", "address", l.Addr().String(), "tls", secure != nil)
	go func() {
		defer close(c.done)
		if err := c.server.Serve(c.listener); err != nil {
			c.failed <- fmt.Errorf("serve events: %w", err)
		}
	}()
	return nil
}

var errNotListening = errors.New("the collector does not accept connections")

// Ready reports whether connections are accepted. What is behind the collector may be away all the
// same.
func (c *Collector) Ready(context.Context) error {
	if !c.open.Load() {
		return errNotListening
	}
	return nil
}

// Leave ends each connection with its next answer, so that clients and proxies that keep
// connections go to another collector. New connections are served, with one request each. It is
// safe for concurrent use.
func (c *Collector) Leave() { c.leaving.Store(true) }

// Addr returns the address that the collector listens on. Call it after Start.
func (c *Collector) Addr() net.Addr { return c.listener.Addr() }

// Stop accepts no more connections, and returns when every request under way is answered. When ctx
// ends before that, the rest is answered with 503 and cut off.
func (c *Collector) Stop(ctx context.Context) error {
	if c.listener == nil {
		return nil
	}
	c.open.Store(false)
	err := c.server.ShutdownWithContext(ctx)
	c.giveUp()
	if err != nil {
		c.cutOff()
		err = fmt.Errorf("stop collector with requests under way: %w", err)
	}
	<-c.done
	return err
}

// connectionWaits returns what counts and logs that no connection can be accepted. It belongs to
// one goroutine.
func (c *Collector) connectionWaits() func(error) {
	const logEach = 10 * time.Second
	var logged time.Time
	return func(err error) {
		c.metrics.acceptFailures.Inc()
		if now := time.Now(); now.Sub(logged) >= logEach {
			logged = now
			c.deps.Log.Error("cannot accept connections: new ones wait until others end", "error", err,
				"remedy", "raise the limit of open files (ulimit -n, LimitNOFILE=, ulimits: nofile) and --collector-max-connections, or run more collectors")
		}
	}
}

// cutOff lets the handlers, whose requests are cancelled, send their answers, and then ends the
// connections that are left: their clients do not read.
func (c *Collector) cutOff() {
	timer, look := time.NewTimer(c.drainTimeout), time.NewTicker(5*time.Millisecond)
	defer timer.Stop()
	defer look.Stop()
	for waiting := true; waiting && !c.listener.drained(); {
		select {
		case <-look.C:
		case <-timer.C:
			waiting = false
		}
	}
	c.listener.closeAll()
}

// Failed implements service.Service.
func (c *Collector) Failed() <-chan error { return c.failed }

// quiet keeps the server's own messages out of the log but for their kind: their arguments hold
// the addresses of clients.
type quiet struct{ log *slog.Logger }

// Printf implements fasthttp.Logger.
func (q quiet) Printf(format string, _ ...any) { q.log.Debug("http server", "detail", format) }

// eagerCollection is the garbage that a process may have, in percent of what it uses. Of what a
// collector makes, little lives longer than a request, so that looking for it sooner costs next to
// nothing.
const eagerCollection = 50

// CollectEagerly lets the garbage collector of the process run sooner than it does by default,
// unless GOGC says otherwise.
func CollectEagerly() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(eagerCollection)
	}
}

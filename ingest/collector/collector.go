// Package collector is the public door for events: it verifies, completes and classifies what
// browsers and servers send, and answers when it is durable.
package collector

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/valyala/fasthttp"

	"lodestone/ingest/beacon"
	"lodestone/pkg/clientaddr"
	"lodestone/pkg/config"
	"lodestone/pkg/deadline"
	"lodestone/pkg/descriptor"
	"lodestone/pkg/service"
	"lodestone/pkg/token"
)

// Deps are what a collector works with. All but Quotas, Beacon and Now are needed.
type Deps struct {
	Tokens     *token.Ring
	Sink       Sink
	Addresses  Hasher
	Bots       Classifier
	Quotas     Quotas           // nil: accounts may send any number of events
	Beacon     *beacon.Script   // nil: not served
	Now        func() time.Time // nil: time.Now
	Log        *slog.Logger
	Registerer prometheus.Registerer
}

// Collector is an HTTP server for events. It is a service.Service.
type Collector struct {
	config    Config
	deps      Deps
	addresses *clientaddr.Finder
	honour    bool // privacy signals
	metrics   *metrics
	refusals  logBudget
	arriving  arrivals
	rooms     rooms
	admission admission
	limit     *addressLimit // of requests
	views     *addressLimit // of views of a link
	allViews  *addressLimit // of views of all landing pages
	tokens    *tokens
	server    *fasthttp.Server
	batches   [classes]sync.Pool // of *batch
	spaces    sync.Pool          // of *space

	listener  *listener
	open      atomic.Bool      // connections are accepted
	deadlines *deadline.Source // of requests; of base
	base      context.Context  //nolint:containedctx // of every request; ends when Stop gives up waiting
	giveUp    context.CancelFunc
	failed    chan error
	done      chan struct{} // closed when the server has returned
	farewell  time.Duration // that handlers which are told to give up have to answer
}

// farewell is short, since a process that is stopped waits for it.
const farewell = time.Second

var _ service.Service = (*Collector)(nil)

// New returns a collector. It listens when it is started.
func New(c Config, d Deps) (*Collector, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if d.Tokens == nil || d.Sink == nil || d.Addresses == nil || d.Bots == nil || d.Log == nil || d.Registerer == nil {
		return nil, errNoDeps
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
		config:    c,
		deps:      d,
		addresses: clientaddr.New(trusted, c.ForwardedHeader),
		honour:    c.PrivacySignals == "honour",
		arriving:  arrivals{most: c.MaxInFlight},
		admission: admission{maxRequests: int64(c.MaxRequests), maxBytes: c.MaxInFlight},
		limit:     newAddressLimit(c.AddressLimit),
		views:     newAddressLimit(c.ViewLimit),
		allViews:  newAddressLimit(linksPerAddress * c.ViewLimit),
		tokens:    newTokens(d.Tokens),
		metrics:   m,
		failed:    make(chan error, 1),
		farewell:  farewell,
	}
	for i := range col.batches {
		col.batches[i].New = func() any { return new(batch) }
	}
	col.spaces.New = func() any { return &space{hashes: new(hashes)} }
	col.base, col.giveUp = context.WithCancel(context.Background())
	col.deadlines = deadline.New(col.base)
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
		StreamRequestBody:            true, // else room for what is announced is taken before it comes
		ReadBufferSize:               c.MaxHeaderBytes,
		Concurrency:                  2*c.MaxConnections + 1024, // never met: the listener counts, and answers better
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
	if files, known := descriptor.Limit(); known {
		most, err := c.config.connectionsWithin(files)
		if err != nil {
			return err
		}
		if most < connections {
			c.deps.Log.Info("fewer connections are accepted than --collector-max-connections says: the process may not open as many files",
				"connections", most, "setting", connections, "file_limit", files,
				"remedy", "raise the limit of open files (ulimit -n, LimitNOFILE=, ulimits: nofile), or lower --collector-max-connections")
		}
		connections = most
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", c.config.Listen)
	if errors.Is(err, syscall.EADDRINUSE) {
		return config.Invalid("--collector-listen", "is "+c.config.Listen+", which another process uses", "stop that process or give another address")
	}
	if err != nil {
		return fmt.Errorf("listen for events (--collector-listen): %w", err)
	}
	c.listener, c.done = newListener(l, connLimits{connections, c.config.MaxConnsPerIP, c.config.slack(), c.turnedAway, c.exhausted()}), make(chan struct{})
	c.open.Store(true)
	c.deps.Log.Info("listening", "server", "collector", "address", l.Addr().String())
	go func() {
		defer close(c.done)
		if err := c.server.Serve(c.listener); err != nil {
			c.failed <- fmt.Errorf("serve events: %w", err)
		}
	}()
	return nil
}

var errNotListening = errors.New("the collector does not accept connections")

// Ready reports whether connections are accepted. What is behind the collector may be away all the same.
func (c *Collector) Ready(context.Context) error {
	if !c.open.Load() {
		return errNotListening
	}
	return nil
}

// Addr returns the address that the collector listens on. Call it after Start.
func (c *Collector) Addr() net.Addr { return c.listener.Addr() }

// Stop accepts no more connections, and returns when every request under way is answered. When ctx
// ends before that, the rest is answered with 503 and cut off.
func (c *Collector) Stop(ctx context.Context) error {
	if c.listener == nil {
		return nil
	}
	c.open.Store(false)
	c.listener.closeSilent()
	err := c.server.ShutdownWithContext(ctx)
	c.giveUp()
	if err != nil {
		c.cutOff()
		err = fmt.Errorf("stop collector with requests under way: %w", err)
	}
	<-c.done
	c.listener.closeTurnedAway()
	return err
}

// turnedAway counts a connection that was not served.
func (c *Collector) turnedAway(reason refusalReason) {
	c.metrics.refused[reason].Inc()
	status := fasthttp.StatusServiceUnavailable
	if reason == refusedAddressConnections {
		status = fasthttp.StatusTooManyRequests
	}
	c.metrics.answered(status)
}

// exhausted returns what counts and logs that no connection can be accepted. It belongs to one goroutine.
func (c *Collector) exhausted() func(error) {
	const logEach = 10 * time.Second
	var logged time.Time
	return func(err error) {
		c.metrics.acceptFailures.Inc()
		if now := time.Now(); now.Sub(logged) >= logEach {
			logged = now
			c.deps.Log.Error("cannot accept connections, trying again: they wait until a file descriptor is free", "error", err,
				"remedy", "raise the limit of open files (ulimit -n, LimitNOFILE=, ulimits: nofile), or lower --collector-max-connections")
		}
	}
}

// cutOff lets the handlers, which have been told to give up, send their answers, and then ends the
// connections that are left: their clients do not read.
func (c *Collector) cutOff() {
	timer, look := time.NewTimer(c.farewell), time.NewTicker(5*time.Millisecond)
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
func (q quiet) Printf(format string, _ ...any) { q.log.Debug("http server", "message", format) }

package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"sync/atomic"
	"time"

	"github.com/alecthomas/kong"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/pkg/certificate"
	"lodestone/pkg/config"
	"lodestone/pkg/httpserver"
	"lodestone/pkg/kafka"
	"lodestone/pkg/logline"
	"lodestone/pkg/service"
	"lodestone/pkg/token"
	"lodestone/pkg/tracing"
)

// stopTimeout bounds an orderly end of a process after the drain delay, without the time that a
// collector sends its spool. Under a container platform, the time between SIGTERM and SIGKILL has
// to be longer than all of these.
const stopTimeout = 25 * time.Second

// processConfig is the setting that every process has.
type processConfig struct {
	LogLevel  slog.Level `name:"log-level" default:"INFO" help:"Minimum level of messages to log: DEBUG, INFO, WARN or ERROR."`
	LogFormat string     `name:"log-format" default:"text" enum:"text,json" help:"Format of the log: text or json."`
	component string     // the command
}

// AfterApply implements a hook of kong.
func (c *processConfig) AfterApply(ctx *kong.Context) error {
	if selected := ctx.Selected(); selected != nil {
		c.component = selected.Path()
	}
	return nil
}

// component is the field that says which part of Lodestone writes a line.
const component = "component"

func (c *processConfig) logger() *slog.Logger { return c.bare().With(component, c.component) }

// bare returns a log whose lines lack the component.
func (c *processConfig) bare() *slog.Logger {
	options := &slog.HandlerOptions{Level: c.LogLevel, ReplaceAttr: uniform}
	if c.LogFormat == "json" {
		return slog.New(logline.Once(slog.NewJSONHandler(os.Stderr, options)))
	}
	return slog.New(logline.Once(slog.NewTextHandler(os.Stderr, options)))
}

// uniform gives durations a unit, which slog's JSON leaves out.
func uniform(_ []string, a slog.Attr) slog.Attr {
	if a.Value.Kind() == slog.KindDuration {
		a.Value = slog.StringValue(a.Value.Duration().String())
	}
	return a
}

// adminConfig is the setting of the server for operators.
type adminConfig struct {
	Listen   string             `name:"admin-listen" default:"127.0.0.1:8090" help:"Address to listen on for /metrics, /healthz and /readyz. Do not expose it to the public."`
	Profiles bool               `name:"admin-profiles" help:"Serve Go profiles at /debug/pprof/ of --admin-listen."`
	TLS      certificate.Server `embed:"" prefix:"admin-"`
}

// Validate returns every problem of the settings.
func (c adminConfig) Validate() error {
	return errors.Join(validateAddress("--admin-listen", c.Listen), c.TLS.Validate("admin-"))
}

func validateAddress(setting, address string) error {
	if _, _, err := net.SplitHostPort(address); err != nil {
		return config.Invalid(setting, "is not an address", "write host:port, such as 127.0.0.1:8090")
	}
	return nil
}

// drainConfig is the setting of a process that serves requests.
type drainConfig struct {
	Delay time.Duration `name:"drain-delay" default:"100ms" help:"How long a stopping process keeps serving after /readyz turns to 503 and before it closes its listeners. Behind a load balancer, set it to the time that the balancer needs to notice."`
}

// Validate returns every problem of the settings.
func (c drainConfig) Validate() error {
	if c.Delay < 0 || c.Delay > 10*time.Minute {
		return config.Invalid("--drain-delay", "is out of range", "give a time from 0s to 10m")
	}
	return nil
}

// process holds the shared state of the parts of one operating system process while it is
// assembled.
type process struct {
	log     *slog.Logger // of the component whose parts are added
	bare    *slog.Logger
	metrics *prometheus.Registry
	stack   *service.Stack
	checks  map[string]httpserver.Check
	kafka   *kafka.Meter
	trace   *tracing.Tracer // nil: no traces

	servesTLS   bool          // the site does, so that no proxy has to
	started     atomic.Bool   // /readyz answers 503 until it is set
	stopping    atomic.Bool   // /readyz answers 503 from then on
	leave       []func()      // ends connections with their next answer, one server each
	drainDelay  time.Duration // between the end of readiness and that of the listeners
	stopTimeout time.Duration
}

var (
	errStarting = errors.New("the process is starting")
	errStopping = errors.New("the process is stopping")
)

// as says to which component of `up` the parts belong that are added from now on.
func (p *process) as(name string) { p.log = p.bare.With(component, name) }

func newProcess(c processConfig) *process {
	bare := c.bare()
	log := bare.With(component, c.component)
	metrics := prometheus.NewRegistry()
	metrics.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	registerBuild(metrics)
	p := &process{log: log, bare: bare, metrics: metrics, stack: service.NewStack(log),
		checks: map[string]httpserver.Check{}, stopTimeout: stopTimeout}
	p.checks["process"] = func(context.Context) error {
		switch {
		case p.stopping.Load():
			return errStopping
		case !p.started.Load():
			return errStarting
		}
		return nil
	}
	return p
}

// addTokenKeys returns the keys, which are those of the setting's file from then on, if it is in
// one.
func (p *process) addTokenKeys(c token.Config) (*token.Ring, error) {
	ring, err := c.Ring()
	if err == nil && c.Secret != nil {
		p.stack.Add("watch of the token keys", c.Secret.Watch(config.WatchDeps{Log: p.log, Registerer: p.metrics}))
	}
	return ring, err
}

// addTracing sends the traces of the process, if the settings name a collector of them.
func (p *process) addTracing(c tracing.Config, name string) (err error) {
	p.trace, err = tracing.New(c, tracing.Deps{Service: "lodestone-" + name, Internal: name == "query", Log: p.log})
	if err == nil && p.trace != nil {
		p.stack.Add("traces", p.trace)
	}
	return err
}

// kafkaHooks returns what the clients of Kafka are watched by.
func (p *process) kafkaHooks() []kgo.Hook {
	if p.kafka == nil {
		p.kafka = kafka.NewMeter(p.metrics)
	}
	return []kgo.Hook{p.kafka}
}

// addAdmin puts the operators' server on the stack.
func (p *process) addAdmin(c adminConfig) {
	needCertificate := c.TLS.ClientCA != ""
	p.stack.Add("admin server", httpserver.New(
		httpserver.Config{Name: "admin server", Setting: "--admin-listen", Address: c.Listen, TLS: c.TLS,
			OptionalClients: needCertificate},
		httpserver.Deps{Handler: httpserver.Admin(p.metrics, p.checks,
			httpserver.AdminConfig{NeedCertificate: needCertificate, Profiles: c.Profiles}), Log: p.log, Registerer: p.metrics}))
}

// run starts the services of the stack, waits for the end of ctx or of a service, and stops
// everything.
func (p *process) run(ctx context.Context) error {
	err := p.start(ctx)
	if err == nil {
		err = p.watchReadiness(ctx)
	}
	if err == nil {
		err = p.stack.Wait(ctx)
	}
	if err == nil {
		err = p.drain()
	}
	return errors.Join(err, p.stop(p.stopTimeout))
}

// start starts the services of the stack. The process is ready only then: the admin server answers
// before the listeners above it are open.
func (p *process) start(ctx context.Context) error {
	if err := p.stack.Start(ctx); err != nil {
		return err
	}
	p.started.Store(true)
	return nil
}

// watchReadiness starts what remains once the process is ready. A stop that comes meanwhile is an
// orderly one, and no start that was interrupted.
func (p *process) watchReadiness(ctx context.Context) error {
	p.addReadinessLog()
	return p.stack.Start(context.WithoutCancel(ctx))
}

// drain makes the process unready at once, and lets it serve until those in front of it know: a
// listener that closes first refuses the connections of every proxy that has not looked yet. A
// service that fails meanwhile ends it early.
func (p *process) drain() error {
	p.stopping.Store(true)
	if len(p.leave) == 0 {
		return nil
	}
	for _, leave := range p.leave {
		leave()
	}
	p.log.Info("stopping: /readyz fails, listeners close after the drain delay", "delay", p.drainDelay)
	ctx, cancel := context.WithTimeout(context.Background(), p.drainDelay)
	defer cancel()
	return p.stack.Wait(ctx)
}

func (p *process) stop(limit time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	if err := p.stack.Stop(ctx); err != nil {
		return fmt.Errorf("stop: %w", err)
	}
	return nil
}

// closing is a thing that is closed when everything above it on the stack has stopped.
type closing func() error

// Start implements service.Service.
func (closing) Start(context.Context) error { return nil }

// Stop implements service.Service.
func (c closing) Stop(context.Context) error { return c() }

// Failed implements service.Service.
func (closing) Failed() <-chan error { return nil }

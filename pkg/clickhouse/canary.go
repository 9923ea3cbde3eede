package clickhouse

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"lodestone/pkg/certificate"
	"lodestone/pkg/service"
)

// Times of a Canary.
const (
	canaryInterval = 15 * time.Second
	// canaryWait is longer than a query may wait in the queue: every earlier query ends within 120 s
	// of its arrival. That is the maximum of the profile for max_execution_time, waiting included.
	canaryWait = 150 * time.Second
)

// CanaryConfig says what a Canary asks, and how often.
type CanaryConfig struct {
	// URL is the HTTP address of an SQL user, with its password. Required.
	URL string
	// Interval is the time between two queries. Default 15 s.
	Interval time.Duration
	// Wait is how long no answer may come before SQL users count as stopped. Default 150 s.
	Wait time.Duration
}

// CanaryDeps are the dependencies of a Canary.
type CanaryDeps struct {
	Log        *slog.Logger
	Registerer prometheus.Registerer
}

// Canary sends a cheap query at intervals as an SQL user, because ClickHouse can answer all other
// users while those of SQL wait for ever. It implements service.Service.
type Canary struct {
	*service.Loop
	config  CanaryConfig
	deps    CanaryDeps
	address string
	client  *http.Client

	answering, answered prometheus.Gauge

	mu   sync.Mutex
	last time.Time // of the last answer, or of the start
	err  error     // of the last query, nil if it was answered
}

// NewCanary returns a canary that is not started yet, and registers its metrics.
func NewCanary(settings CanaryConfig, d CanaryDeps) (*Canary, error) {
	settings.Interval, settings.Wait = cmp.Or(settings.Interval, canaryInterval), cmp.Or(settings.Wait, canaryWait)
	u, err := url.Parse(settings.URL)
	if err != nil || u.Host == "" {
		return nil, errors.New("make the SQL canary: the address of the SQL user cannot be parsed")
	}
	c := &Canary{config: settings, deps: d,
		client: &http.Client{Transport: certificate.HTTP(&http.Transport{DisableKeepAlives: true, Proxy: nil})}}
	c.address = (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: "/", RawQuery: u.RawQuery}).String()
	c.answering = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "lodestone_sql_answering",
		Help: "1 while queries of SQL users are answered, 0 if none has been answered for longer than any query may wait.",
	})
	c.answered = prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "lodestone_sql_last_answer_timestamp_seconds", Help: "When the last query of the SQL canary was answered.",
	})
	for _, metric := range []prometheus.Collector{c.answering, c.answered} {
		if err := d.Registerer.Register(metric); err != nil {
			return nil, fmt.Errorf("register the SQL canary's metrics: %w", err)
		}
	}
	c.answering.Set(1)
	c.Loop = service.NewLoop("SQL canary", c.run)
	return c, nil
}

// Ready returns an error while SQL users have had no answer for longer than any query may wait. It
// sends no query itself.
func (c *Canary) Ready(context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	silent := time.Since(c.last)
	if c.last.IsZero() || silent < c.config.Wait {
		return nil
	}
	return fmt.Errorf("SQL users have had no answer for %v: %w", silent.Round(time.Second), c.err)
}

func (c *Canary) run(ctx context.Context, ready func()) error {
	c.mu.Lock()
	c.last, c.err = time.Now(), errors.New("none has been asked for")
	c.mu.Unlock()
	ready()
	for {
		err := c.ask(ctx)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		c.note(err)
		if err := service.Sleep(ctx, c.config.Interval); err != nil {
			return err
		}
	}
}

// note records the outcome of a query.
func (c *Canary) note(err error) {
	c.mu.Lock()
	c.err = err
	if err == nil {
		c.last = time.Now()
	}
	silent := time.Since(c.last)
	c.mu.Unlock()
	switch {
	case err == nil:
		c.answered.SetToCurrentTime()
		c.answering.Set(1)
	case silent >= c.config.Wait:
		c.answering.Set(0)
		c.deps.Log.Error("SQL users get no answer", "silent_for", silent.Round(time.Second), "error", err)
	}
}

// canaryAnswers are the codes of exceptions that do not indicate a fault of the server:
// TIMEOUT_EXCEEDED, of a query that waited too long in the queue, and QUOTA_EXCEEDED, of a user
// with too many queries in the hour.
var canaryAnswers = []string{"159", "201"}

var exceptionNumber = regexp.MustCompile(`^Code: (\d+)\.`)

// ask returns nil if ClickHouse answered.
func (c *Canary) ask(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, c.config.Wait)
	defer cancel()
	return HTTPLogin{URL: c.config.URL}.ask(ctx, c.client, c.address)
}

// TryHTTP returns nil if an HTTP address of ClickHouse answers a query with its login.
func TryHTTP(ctx context.Context, l HTTPLogin) error {
	u, err := url.Parse(l.URL)
	if err != nil || u.Host == "" {
		return errors.New("it is not an address such as http://host:port")
	}
	client := &http.Client{Transport: certificate.HTTP(&http.Transport{DisableKeepAlives: true, Proxy: nil})}
	address := (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: "/", RawQuery: u.RawQuery}).String()
	return l.ask(ctx, client, address)
}

// ask returns nil if a cheap query is answered.
func (l HTTPLogin) ask(ctx context.Context, client *http.Client, address string) error {
	user, password, err := l.Credentials()
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address, strings.NewReader("SELECT 1"))
	if err != nil {
		return errors.New("the address cannot be used")
	}
	request.Header.Set("X-ClickHouse-User", user)
	request.Header.Set("X-ClickHouse-Key", password)
	response, err := client.Do(request)
	if err != nil {
		if failed, ok := errors.AsType[*url.Error](err); ok {
			err = failed.Err // its own text has the address
		}
		return err
	}
	defer func() { _ = response.Body.Close() }() // what counts is the answer
	text, err := io.ReadAll(io.LimitReader(response.Body, 1024))
	if err != nil {
		return fmt.Errorf("read the answer: %w", err)
	}
	answer := strings.TrimSpace(string(text))
	if answer == "1" {
		return nil
	}
	if code := exceptionNumber.FindStringSubmatch(answer); code != nil && slices.Contains(canaryAnswers, code[1]) {
		return nil
	}
	return fmt.Errorf("ClickHouse answers with status %d: %.200s", response.StatusCode, answer)
}

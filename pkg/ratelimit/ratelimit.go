// Package ratelimit counts in fixed windows, exactly across all processes: requests of keys and
// accounts (Limiter), and what visitors without keys do (Visitors). Each count is a row in
// Postgres.
package ratelimit

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"

	"lodestone/pkg/auth"
	"lodestone/pkg/postgres"
)

// Window is the length of a window. It begins with the first request that it counts.
const Window = 60 * time.Second

// Name names a limit, as in the headers that clients get.
type Name string

// The limits.
const (
	Requests       Name = "requests"        // of a key, for everything that has no limit of its own
	Analytics      Name = "analytics"       // of an account, for the event list
	AnalyticsEmail Name = "analytics-email" // of an account, for email summaries
	AnalyticsQuery Name = "analytics-query" // of an account, for reports; a session's are among its requests
	ProcessorTime  Name = "processor-time"  // of an account, what its reports take in ClickHouse
)

// State is how a subject stands with a limit.
type State struct {
	Name      Name
	Quota     int
	Remaining int
	Reset     time.Duration // until the window ends
	Refused   bool
}

const (
	// storeTimeout bounds what a slow Postgres adds to a request.
	storeTimeout = 250 * time.Millisecond
	// pause is how long Postgres is not asked after it failed, so that requests do not each wait
	// for the timeout.
	pause = time.Second
	// maxExhausted bounds the memory of who is over the limit, and maxTallies that of who sent what.
	maxExhausted = 10_000
	maxTallies   = 100_000
)

// Limiter counts requests. It is safe for concurrent use.
type Limiter struct {
	db      *postgres.Pool
	log     *slog.Logger
	quotas  map[Name]int
	timeout time.Duration
	outcome *prometheus.CounterVec

	mu        sync.Mutex
	paused    time.Time             // no questions before
	exhausted map[subject]time.Time // who is over the limit, and until when at the latest
	tallies   map[subject]tally
}

type subject struct {
	name Name
	id   uuid.UUID
}

// Deps are the dependencies of a limiter.
type Deps struct {
	// Postgres is a pool that nothing else uses: a request that waits for a connection is soon not
	// counted.
	Postgres   *postgres.Pool
	Log        *slog.Logger
	Registerer prometheus.Registerer // nil: no metrics
}

// New returns a limiter that counts in a database.
func New(c Config, d Deps) *Limiter {
	l := &Limiter{
		db: d.Postgres, log: d.Log, timeout: storeTimeout, exhausted: map[subject]time.Time{}, tallies: map[subject]tally{},
		quotas: map[Name]int{Requests: c.Requests, Analytics: c.Analytics, AnalyticsEmail: c.AnalyticsEmail,
			AnalyticsQuery: c.AnalyticsQuery},
		outcome: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "lodestone_ratelimit_requests_total",
			Help: "Requests by limit and outcome: allowed, refused, or unchecked (allowed by this process's own count because the shared one was unreachable).",
		}, []string{"limit", "outcome"}),
	}
	for name := range l.quotas {
		for _, outcome := range []string{"allowed", "refused", "unchecked"} {
			l.outcome.WithLabelValues(string(name), outcome)
		}
	}
	if d.Registerer != nil {
		d.Registerer.MustRegister(l.outcome)
	}
	return l
}

// Untouched returns the state of a subject that has not used a limit, for answers that are not
// counted.
func (l *Limiter) Untouched(name Name) State {
	return State{Name: name, Quota: l.quotas[name], Remaining: l.quotas[name], Reset: Window}
}

// Take counts one request of a caller. When Postgres cannot be asked in time, this process counts
// by itself, from what it knows of the window: so many processes allow at most so many times the
// quota until Postgres answers again. Requests that it allows are counted as unchecked.
func (l *Limiter) Take(ctx context.Context, name Name, caller auth.Identity) State {
	if name == AnalyticsQuery && caller.SessionID != uuid.Nil {
		// a screen of the dashboard asks several questions; the processor time that they take is limited
		// by itself
		name = Requests
	}
	who := subject{name, caller.AccountID}
	if name == Requests {
		who.id = caller.Caller()
	}
	begin := time.Now()
	if reset, over := l.over(who, begin); over {
		return l.done(State{Name: name, Quota: l.quotas[name], Reset: reset, Refused: true}, true)
	}
	quota := l.quotas[name]
	used, reset, err := l.count(ctx, who, begin)
	shared := err == nil
	used, reset = l.tally(who, begin, shared, used, reset)
	if used <= quota {
		return l.done(State{Name: name, Quota: quota, Remaining: quota - used, Reset: reset}, shared)
	}
	// Within a window the count only grows, so further requests need no look. The time counts from
	// before the question: the memory ends no later than the window.
	l.mu.Lock()
	if len(l.exhausted) >= maxExhausted {
		clear(l.exhausted)
	}
	l.exhausted[who] = begin.Add(reset)
	l.mu.Unlock()
	return l.done(State{Name: name, Quota: quota, Reset: reset, Refused: true}, shared)
}

// tally is a process's count of a subject's window.
type tally struct {
	ends   time.Time
	shared int // the highest count that Postgres gave
	own    int // requests that Postgres may not have counted
}

// tally adds a request to what is known of its subject's window, and returns how many requests that
// has and when it ends. used and reset are those of Postgres if it was asked.
func (l *Limiter) tally(who subject, now time.Time, asked bool, used int, reset time.Duration) (int, time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := l.tallies[who]
	if !now.Before(t.ends) {
		t = tally{ends: now.Add(Window)}
	}
	switch {
	case !asked:
		t.own++
		used, reset = t.shared+t.own, t.ends.Sub(now)
	case t.own == 0:
		t.shared, t.ends = max(t.shared, used), now.Add(reset)
	default:
		t.shared = max(t.shared, used)
		used += t.own
		reset = min(reset, t.ends.Sub(now))
	}
	if len(l.tallies) >= maxTallies {
		clear(l.tallies)
	}
	l.tallies[who] = t
	return used, reset
}

func (l *Limiter) done(s State, shared bool) State {
	outcome := "allowed"
	switch {
	case s.Refused:
		outcome = "refused"
	case !shared:
		outcome = "unchecked"
	}
	l.outcome.WithLabelValues(string(s.Name), outcome).Inc()
	return s
}

// over reports whether a subject is known to be over its limit, and for how long still.
func (l *Limiter) over(who subject, now time.Time) (reset time.Duration, over bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	until, ok := l.exhausted[who]
	if ok && !now.Before(until) {
		delete(l.exhausted, who)
		return 0, false
	}
	return until.Sub(now), ok
}

func (l *Limiter) count(ctx context.Context, who subject, now time.Time) (used int, reset time.Duration, err error) {
	l.mu.Lock()
	resting := now.Before(l.paused)
	l.mu.Unlock()
	if resting {
		return 0, 0, errResting
	}
	// A client that leaves must not look like a Postgres that fails.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), l.timeout)
	defer cancel()
	used, reset, err = count(ctx, l.db, Rule{string(who.name), l.quotas[who.name], Window}, who.id)
	if err == nil {
		return used, reset, nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if now.Before(l.paused) {
		return 0, 0, errResting // another request logged it
	}
	l.paused = time.Now().Add(pause)
	l.log.Warn("rate limits are counted by this process alone: the shared counter does not answer",
		"error", err)
	return 0, 0, fmt.Errorf("count request: %w", err)
}

var errResting = errors.New("the counter failed a moment ago")

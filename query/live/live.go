// Package live streams the events of accounts as they are stored.
//
// One poll of the process asks up to which time everything that is stored can be seen, the horizon,
// and which accounts have something new up to there. Streams of such accounts that have the same
// filter are given it by one statement, and each other stream reads for itself, in the order of the
// log. So a stream has nothing that the list of events does not have.
//
// The id of a message is a horizon: everything stored until then was sent. A stream that goes on
// from it begins scope.ClockSlack before, as one who lists by received_after does, and so sends a
// few events again.
package live

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"

	"lodestone/pkg/limit"
	"lodestone/pkg/service"
	"lodestone/query/eventlist"
	"lodestone/query/scope"
)

const (
	// pollEvery is how often the process looks for what is new while there are streams, and
	// retryAfter is after a failure.
	pollEvery  = 250 * time.Millisecond
	retryAfter = time.Second
	// maxReads is how many streams read at a time: they leave connections to lists and reports.
	maxReads = 4
	// maxShared is below how many events several streams are given. Of more, each reads its own.
	maxShared = 5000
	// clockAhead is by how much the clock of ClickHouse may be ahead of that of the process.
	clockAhead = time.Minute
	// clockNoise is by how much the two clocks may differ in their speed between two polls.
	clockNoise = 50 * time.Millisecond
)

// Config is the setting of live streams.
type Config struct {
	Streams           int // at the same time
	StreamsPerAccount int
}

// Deps are the dependencies of live streams; all are required.
type Deps struct {
	ClickHouse *scope.ClickHouse
	Log        *slog.Logger
	Registerer prometheus.Registerer
}

// Live is the poll, a service, and its listeners. It is safe for concurrent use. It asks nothing
// while there are no listeners.
type Live struct {
	*service.Loop
	ch     *scope.ClickHouse
	events *eventlist.Lister
	slots  *limit.Slots[uuid.UUID]
	reads  chan struct{} // a place for each of maxReads
	meters meters

	mu        sync.Mutex
	listeners map[*Listener]struct{}

	// Of the poll alone.
	polledTo time.Time // listeners know what is new up to then; zero: there were none
	clock    time.Time // of ClickHouse, at the last poll
	clockAt  time.Time // when that was known, by the clock of this process
}

// New returns live streams whose poll is not started.
func New(c Config, d Deps) *Live {
	l := &Live{
		ch: d.ClickHouse, events: eventlist.New(d.ClickHouse), slots: limit.NewSlots[uuid.UUID](int64(c.Streams),
			int64(c.StreamsPerAccount)),
		reads: make(chan struct{}, maxReads), meters: newMeters(d.Registerer), listeners: map[*Listener]struct{}{},
	}
	l.Loop = service.Every("live poll", pollEvery, retryAfter, d.Log, l.poll)
	return l
}

// Errors of Listen.
var (
	// ErrAccount says that the account has as many streams as it may.
	ErrAccount = limit.ErrOwner
	// ErrFull says that the process has as many streams as it may.
	ErrFull = limit.ErrFull
	// ErrAhead says that a time is ahead of everything that is stored.
	ErrAhead = errors.New("the time is ahead of what is stored")
)

// Listen returns a listener to the events of an account that a filter lets through: those stored
// after a time, which is the id of a message, or, if that is zero, all that are stored from now on.
// It does not wait for ClickHouse: Listener.Begin does. Close it.
func (l *Live) Listen(account uuid.UUID, f eventlist.Filter, after time.Time) (*Listener, error) {
	now := time.Now()
	if after.After(now.Add(clockAhead)) {
		return nil, ErrAhead
	}
	release, err := l.slots.Take(account, 1)
	if err != nil {
		l.meters.refuse(err)
		return nil, err
	}
	l.meters.listeners.Inc()
	li := &Listener{live: l, account: account, filter: f, key: f.Key(), after: after, asked: now, release: release,
		slice: firstSlice, ready: make(chan struct{}, 1)}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.listeners[li] = struct{}{}
	return li, nil
}

// poll notifies listeners of what is new between the last horizon and the one of now. Times of
// ClickHouse are those of one copy of the events (scope.ClickHouse.As), and go back when another
// copy is read or its clock is set back: listeners are sent events again, and miss none.
func (l *Live) poll(ctx context.Context) (err error) {
	defer func() { l.measure(err) }()
	if !l.awaited() {
		l.polledTo = time.Time{}
		return nil
	}
	ctx = scope.Pin(ctx)
	asked := time.Now()
	horizon, clock, err := l.ch.Horizon(ctx)
	if err != nil {
		return err
	}
	horizon = l.ch.At(ctx, horizon)
	clockAt, from := time.Now(), l.polledTo
	switch {
	case from.IsZero():
		from = horizon // listeners that are new have a begin of their own
	case l.ch.As(from, horizon) != from: // another copy of the events is read
		from = earlier(l.ch.As(from, horizon), horizon)
	case clock.Sub(l.clock) < asked.Sub(l.clockAt)-clockNoise: // the clock was set back
		from = earlier(from, horizon.Add(-scope.ClockSlack)) // what is new has times that were passed
	case !horizon.After(from):
		horizon = from
	}
	news, err := l.ch.News(ctx, from, horizon)
	if err != nil {
		return err
	}
	shared, err := l.share(ctx, news, from, horizon)
	if err != nil {
		return err
	}
	l.polledTo, l.clock, l.clockAt = horizon, clock, clockAt
	l.mu.Lock()
	defer l.mu.Unlock()
	for li := range l.listeners {
		switch {
		case !li.known:
			li.known = true
			li.notify(li.start(horizon, clock, clockAt), horizon, nil, false)
		case news[li.account]:
			of, whole := shared[li.key]
			li.notify(from, horizon, of[li.account], whole)
		}
	}
	return nil
}

// share reads what is new for listeners that have the same filter, by account. Of a filter that one
// listener has, or of too many events, it returns nothing.
func (l *Live) share(ctx context.Context, news map[uuid.UUID]bool, from,
	horizon time.Time) (map[string]map[uuid.UUID][]eventlist.Event, error) {
	groups := map[string][]*Listener{}
	l.mu.Lock()
	for li := range l.listeners {
		if li.known && news[li.account] {
			groups[li.key] = append(groups[li.key], li)
		}
	}
	l.mu.Unlock()
	shared := map[string]map[uuid.UUID][]eventlist.Event{}
	for key, group := range groups {
		if len(group) == 1 {
			continue
		}
		of := map[uuid.UUID][]eventlist.Event{}
		for _, li := range group {
			of[li.account] = nil
		}
		events, err := l.events.Stored(ctx, slices.Collect(maps.Keys(of)), group[0].filter, from, horizon, nil, maxShared)
		if err != nil {
			return nil, err
		}
		if len(events) == maxShared {
			continue
		}
		for _, e := range events {
			of[e.AccountID] = append(of[e.AccountID], e)
		}
		shared[key] = of
	}
	return shared, nil
}

// awaited reports whether anyone listens.
func (l *Live) awaited() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.listeners) > 0
}

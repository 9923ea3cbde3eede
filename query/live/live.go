// Package live streams the events of accounts as they are stored.
//
// One reader of the process follows what ClickHouse stores, and hands each event to the listeners of its account. It reads
// rows rather than the log: a listener sees what the list of events has, once, and nothing that is not stored yet.
//
// A stream has an order, and each event in it a Position, from which another stream goes on without loss or repeats: a
// listener first reads for itself what lies between its position and that of the reader.
package live

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"

	"lodestone/pkg/service"
	"lodestone/pkg/slot"
	"lodestone/query/eventlist"
	"lodestone/query/scope"
)

// Config is the setting of live streams.
type Config struct {
	Streams           int // at the same time
	StreamsPerAccount int
	Every             time.Duration // between two looks at what is new; 0: 250 ms
}

// Deps is what live streams work with; all of it is required.
type Deps struct {
	ClickHouse *scope.ClickHouse
	Log        *slog.Logger
	Registerer prometheus.Registerer
	// Encode returns an event as its message has it.
	Encode func(*eventlist.Event) ([]byte, error)
}

// Live is the reader, a service, and its listeners. It is safe for concurrent use. It reads while there are listeners.
type Live struct {
	*service.Loop
	ch     *scope.ClickHouse
	log    *slog.Logger
	encode func(*eventlist.Event) ([]byte, error)
	slots  *slot.Slots[uuid.UUID]
	every  time.Duration
	meters meters

	wake chan struct{} // a listener waits for the reader

	mu        sync.Mutex
	joins     []join // wait for the end of the next poll
	listeners map[uuid.UUID]map[*Listener]struct{}

	at      Position  // of the reader; its own
	reached time.Time // the time of at, by the clock of this process; its own as well
	now     time.Time // of ClickHouse, in the last poll; its own as well
}

// join waits for a poll of the reader that began later.
type join struct {
	listener *Listener // gets what is stored after that poll; nil: only the position is wanted
	// asked is when a listener came that gets everything that is stored from then on; zero: one that waits for the position
	// after the poll.
	asked time.Time
	done  chan joined
}

type joined struct {
	at  Position
	now time.Time // of ClickHouse, in that poll
	err error
}

// New returns live streams whose reader is not started.
func New(c Config, d Deps) *Live {
	l := &Live{
		ch: d.ClickHouse, log: d.Log, encode: d.Encode, slots: slot.New[uuid.UUID](int64(c.Streams), int64(c.StreamsPerAccount)),
		every:  cmp.Or(c.Every, pollEvery),
		meters: newMeters(d.Registerer),
		wake:   make(chan struct{}, 1), listeners: map[uuid.UUID]map[*Listener]struct{}{},
	}
	l.Loop = service.NewLoop("live reader", l.run)
	return l
}

// Errors of Listen and of a Listener.
var (
	// ErrAccount says that the account has as many streams as it may.
	ErrAccount = slot.ErrOwner
	// ErrFull says that the process has as many streams as it may.
	ErrFull = slot.ErrFull
	// ErrAhead says that a position is ahead of everything that is stored.
	ErrAhead = errors.New("the position is ahead of what is stored")
	// ErrSlow says that a listener did not keep up. Another one can go on from its position.
	ErrSlow = errors.New("the listener does not keep up")
)

// Listen returns a listener to the events of an account that a filter lets through: those after the position, or, if that
// is nil, all that are stored from now on. It does not wait for ClickHouse: Listener.Begin does. Close it.
func (l *Live) Listen(account uuid.UUID, f eventlist.Filter, after *Position) (*Listener, error) {
	if after != nil && after.stored.After(time.Now().Add(clockAhead)) {
		return nil, ErrAhead
	}
	release, err := l.slots.Take(account, 1)
	if err != nil {
		l.meters.refuse(err)
		return nil, err
	}
	l.meters.listeners.Inc()
	li := newListener(l, account, f, release)
	if after != nil {
		li.at, li.behind = *after, true
		return li, nil
	}
	j := join{listener: li, asked: time.Now(), done: make(chan joined, 1)}
	li.beginning = j.done
	l.join(j)
	return li, nil
}

// clockAhead is by how much the clock of ClickHouse may be ahead of that of the process.
const clockAhead = time.Minute

// join adds one who waits for the next poll.
func (l *Live) join(j join) {
	l.mu.Lock()
	l.joins = append(l.joins, j)
	l.mu.Unlock()
	select {
	case l.wake <- struct{}{}:
	default: // it is awake
	}
}

// position waits for a poll that begins now, and returns where the reader is after it, and ClickHouse's time. A listener gets what comes then.
func (l *Live) position(ctx context.Context, listener *Listener) (at Position, now time.Time, err error) {
	j := join{listener: listener, done: make(chan joined, 1)}
	l.join(j)
	return j.wait(ctx)
}

func (j join) wait(ctx context.Context) (at Position, now time.Time, err error) {
	select {
	case got := <-j.done:
		return got.at, got.now, got.err
	case <-ctx.Done():
		return Position{}, time.Time{}, context.Cause(ctx)
	}
}

// awaited reports whether anyone listens or waits.
func (l *Live) awaited() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.joins) > 0 || len(l.listeners) > 0
}

// takeJoins returns those who wait, apart from each other new listeners and others, and whether anyone listens already.
func (l *Live) takeJoins() (fresh, others []join, listening bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, j := range l.joins {
		if j.asked.IsZero() {
			others = append(others, j)
		} else {
			fresh = append(fresh, j)
		}
	}
	l.joins = nil
	return fresh, others, len(l.listeners) > 0
}

// putBack lets those who wait go on waiting, but for listeners that have ended.
func (l *Live) putBack(joins []join) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, j := range joins {
		if j.listener == nil || !j.listener.closed {
			l.joins = append(l.joins, j)
		}
	}
}

// admit lets listeners take part from a position on, or tells them that it is not known.
func (l *Live) admit(joins []join, at Position, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, j := range joins {
		if j.listener != nil && err == nil && !j.listener.closed {
			of := l.listeners[j.listener.account]
			if of == nil {
				of = map[*Listener]struct{}{}
				l.listeners[j.listener.account] = of
			}
			of[j.listener] = struct{}{}
		}
		j.done <- joined{at, l.now, err}
	}
}

// remove ends the part of a listener, and reports whether it had not ended before.
func (l *Live) remove(li *Listener) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if li.closed {
		return false
	}
	li.closed = true
	of := l.listeners[li.account]
	delete(of, li)
	if len(of) == 0 {
		delete(l.listeners, li.account)
	}
	return true
}

// heard returns those of the accounts that have listeners.
func (l *Live) heard(news []scope.News) (accounts []uuid.UUID) {
	seen := map[uuid.UUID]bool{}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, n := range news {
		for _, account := range n.Accounts {
			if len(l.listeners[account]) > 0 && !seen[account] {
				seen[account] = true
				accounts = append(accounts, account)
			}
		}
	}
	return accounts
}

// deliver gives a message to the listeners of its account, and to no others.
func (l *Live) deliver(m Message) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for li := range l.listeners[m.Event.AccountID] {
		if m.Event.StoredAt.After(li.since) && matches(&li.filter, m.Event) && !li.queue.add(m) {
			delete(l.listeners[li.account], li)
			l.meters.slow.Inc()
		}
	}
	if len(l.listeners[m.Event.AccountID]) == 0 {
		delete(l.listeners, m.Event.AccountID)
	}
}

// Message is an event as it is sent.
type Message struct {
	ID    string // the text of the position behind the event
	Event *Event // shared: it must not be changed
	Data  []byte // the encoded event; shared as well
}

func (l *Live) message(e *Event, at Position) (Message, error) {
	data, err := l.encode(&e.Event)
	return Message{at.String(), e, data}, err
}

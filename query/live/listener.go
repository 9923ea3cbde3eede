package live

import (
	"context"
	"time"

	"github.com/google/uuid"

	"lodestone/pkg/service"
	"lodestone/query/eventlist"
	"lodestone/query/scope"
)

const (
	// pageEvents is how many events a listener reads at once, and firstSlice in how much time of what
	// was stored it looks for them at first: a page takes as long as there are events in the slice.
	pageEvents    = 1000
	firstSlice    = time.Minute
	shortestSlice = time.Second
	longestSlice  = 365 * 24 * time.Hour
)

// Message is an event as it is sent.
type Message struct {
	ID    time.Time // everything stored until then was sent
	Event *eventlist.Event
}

// Listener is a stream of events. Its methods are called by one goroutine.
type Listener struct {
	live    *Live
	account uuid.UUID
	filter  eventlist.Filter
	key     string    // of the filter
	after   time.Time // the id from which it goes on; zero: none
	asked   time.Time // when it came, by the clock of the process
	release func()
	ready   chan struct{} // something is new

	// Under live.mu.
	known       bool              // the poll set where it begins
	from, until time.Time         // something is new in between; zero: nothing
	events      []eventlist.Event // all of that, if whole; else it reads for itself
	whole       bool

	begun  bool
	sent   time.Time           // everything stored until then was sent
	at, to time.Time           // in between is what it has to read
	end    time.Time           // of the slice that it reads; of a page behind the first one
	behind *eventlist.Position // the event before that page; nil: it is the first one
	slice  time.Duration
}

// begin returns where a listener begins: at its id, or, without one, not after ClickHouse's time
// when it came. Neither is behind the horizon: an insert that runs stores something new.
func (li *Listener) begin(horizon, clock, answered time.Time) time.Time {
	if !li.after.IsZero() {
		return earlier(li.live.ch.As(li.after, horizon), horizon)
	}
	came := clock.Add(-answered.Sub(li.asked)).Add(-time.Millisecond).Truncate(time.Millisecond)
	return earlier(came.Add(horizon.Sub(horizon.Truncate(time.Millisecond))), horizon) // as a place in the same copy
}

// notify adds a time in which something is new to those that the listener did not take yet, and the
// events, if they are whole.
func (li *Listener) notify(from, until time.Time, events []eventlist.Event, whole bool) {
	if li.from.IsZero() {
		li.from, li.whole = from, true
	}
	li.from, li.until = earlier(li.live.ch.As(li.from, until), from), until
	li.events = append(li.events, events...)
	if li.whole = li.whole && whole && len(li.events) <= pageEvents; !li.whole {
		li.events = nil
	}
	select {
	case li.ready <- struct{}{}:
	default: // it was notified before
	}
}

// wait waits for what is new, and returns it as notify has it.
func (li *Listener) wait(ctx context.Context) (events []eventlist.Event, whole bool, err error) {
	select {
	case <-li.ready:
	case <-ctx.Done():
		return nil, false, context.Cause(ctx)
	}
	li.live.mu.Lock()
	defer li.live.mu.Unlock()
	li.at, li.to, events, whole = li.from, li.until, li.events, li.whole
	li.from, li.events = time.Time{}, nil
	return events, whole, nil
}

// Begin waits until the stream can begin, and returns its first id. Next waits for it as well.
func (li *Listener) Begin(ctx context.Context) (time.Time, error) {
	if li.begun {
		return li.sent, nil
	}
	if _, _, err := li.wait(ctx); err != nil {
		return time.Time{}, err
	}
	li.sent, li.begun = li.at, true
	if !li.after.IsZero() {
		li.at = li.at.Add(-scope.ClockSlack)
	}
	return li.sent, nil
}

// Next waits for events, and returns at least one, or the error that ends the stream: the cause of
// ctx, or why a statement failed.
func (li *Listener) Next(ctx context.Context) ([]Message, error) {
	if _, err := li.Begin(ctx); err != nil {
		return nil, err
	}
	for {
		messages, err := li.look(ctx)
		if err != nil || len(messages) > 0 {
			li.live.meters.messages.Add(float64(len(messages)))
			return messages, err
		}
	}
}

// look returns what is new, or a page of it, if there is any.
func (li *Listener) look(ctx context.Context) ([]Message, error) {
	if li.at.Before(li.to) {
		return li.read(ctx)
	}
	events, whole, err := li.wait(ctx)
	if err != nil {
		return nil, err
	}
	li.sent = earlier(li.sent, li.to) // unless the clock was set back, it is
	if !whole {
		return li.read(ctx)
	}
	li.end = li.to
	return li.messages(events, true), nil
}

// read returns a page of what is to be read. If ClickHouse does not answer, it returns nothing
// after a while.
func (li *Listener) read(ctx context.Context) ([]Message, error) {
	ctx = scope.Pin(ctx)
	if at := li.live.ch.From(ctx, li.at); at != li.at { // another copy of the events is read now
		li.at, li.to, li.behind = at, li.live.ch.At(ctx, li.to), nil
	}
	if li.behind == nil {
		li.end = earlier(li.at.Add(li.slice), li.to)
	}
	events, err := li.page(ctx)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case scope.IsUnavailable(err):
		li.live.meters.errors.Inc()
		return nil, service.Sleep(ctx, retryAfter)
	case err != nil:
		return nil, err
	}
	if len(events) == pageEvents {
		li.behind, li.slice = &events[pageEvents-1].Position, max(shortestSlice, li.slice/2)
		return li.messages(events, false), nil
	}
	li.behind, li.slice = nil, min(4*li.slice, longestSlice)
	return li.messages(events, true), nil
}

// messages returns the messages of events. If they are all up to li.end, the last one says so.
func (li *Listener) messages(events []eventlist.Event, all bool) []Message {
	messages := make([]Message, len(events))
	for i := range events {
		messages[i] = Message{li.sent, &events[i]}
	}
	if !all {
		return messages
	}
	if li.at = li.end; li.at.After(li.sent) {
		li.sent = li.at
	}
	if len(messages) > 0 {
		messages[len(messages)-1].ID = li.sent
	}
	return messages
}

// page reads a page when it is its turn.
func (li *Listener) page(ctx context.Context) ([]eventlist.Event, error) {
	select {
	case li.live.reads <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	defer func() { <-li.live.reads }()
	return li.live.events.Stored(ctx, []uuid.UUID{li.account}, li.filter, li.at, li.end, li.behind, pageEvents)
}

// Close ends the listener.
func (li *Listener) Close() {
	li.live.mu.Lock()
	_, open := li.live.listeners[li]
	delete(li.live.listeners, li)
	li.live.mu.Unlock()
	if open {
		li.live.meters.listeners.Dec()
		li.release()
	}
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

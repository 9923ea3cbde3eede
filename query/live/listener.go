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
	known             bool              // the poll set where it begins
	newFrom, newUntil time.Time         // the poll saw something new in between; zero: nothing
	events            []eventlist.Event // all of that, if whole; else it reads for itself
	whole             bool

	// Of the goroutine that calls its methods. What is new is read in slices of time, and a slice in
	// pages. readFrom is before sent where events are sent again.
	begun            bool
	sent             time.Time           // everything stored until then was sent
	readFrom, readTo time.Time           // in between is what it has to read
	sliceEnd         time.Time           // of the slice that begins at readFrom
	lastRead         *eventlist.Position // the last event of the slice's page before; nil: there is none
	slice            time.Duration       // how long slices are
}

// start returns where a listener begins: at its id, or, without one, not after ClickHouse's time
// when it came. Neither is behind the horizon: an insert that runs stores something new.
func (li *Listener) start(horizon, clock, clockAt time.Time) time.Time {
	if !li.after.IsZero() {
		return earlier(li.live.ch.As(li.after, horizon), horizon)
	}
	came := clock.Add(-clockAt.Sub(li.asked)).Add(-time.Millisecond).Truncate(time.Millisecond)
	return earlier(came.Add(horizon.Sub(horizon.Truncate(time.Millisecond))), horizon) // as a place in the same copy
}

// notify adds a time in which something is new to those that the listener did not take yet, and the
// events, if they are whole.
func (li *Listener) notify(from, until time.Time, events []eventlist.Event, whole bool) {
	if li.newFrom.IsZero() {
		li.newFrom, li.whole = from, true
	}
	li.newFrom, li.newUntil = earlier(li.live.ch.As(li.newFrom, until), from), until
	li.events = append(li.events, events...)
	if li.whole = li.whole && whole && len(li.events) <= pageEvents; !li.whole {
		li.events = nil
	}
	select {
	case li.ready <- struct{}{}:
	default: // it was notified before
	}
}

// wait waits for what is new, sets what is to be read, and returns the events as notify has them.
func (li *Listener) wait(ctx context.Context) (events []eventlist.Event, whole bool, err error) {
	select {
	case <-li.ready:
	case <-ctx.Done():
		return nil, false, context.Cause(ctx)
	}
	li.live.mu.Lock()
	defer li.live.mu.Unlock()
	li.readFrom, li.readTo, events, whole = li.newFrom, li.newUntil, li.events, li.whole
	li.newFrom, li.events = time.Time{}, nil
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
	li.sent, li.begun = li.readFrom, true
	if !li.after.IsZero() {
		li.readFrom = li.readFrom.Add(-scope.ClockSlack)
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
	if li.readFrom.Before(li.readTo) {
		return li.read(ctx)
	}
	events, whole, err := li.wait(ctx)
	if err != nil {
		return nil, err
	}
	li.sent = earlier(li.sent, li.readTo) // it is later only if the clock was set back
	if !whole {
		return li.read(ctx)
	}
	li.sliceEnd = li.readTo
	return li.messages(events, true), nil
}

// read returns a page of what is to be read. If ClickHouse does not answer, it returns nothing
// after a while.
func (li *Listener) read(ctx context.Context) ([]Message, error) {
	ctx = scope.Pin(ctx)
	if from := li.live.ch.From(ctx, li.readFrom); from != li.readFrom { // another copy is read now
		li.readFrom, li.readTo, li.lastRead = from, li.live.ch.At(ctx, li.readTo), nil
	}
	if li.lastRead == nil {
		li.sliceEnd = earlier(li.readFrom.Add(li.slice), li.readTo)
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
		li.lastRead, li.slice = &events[pageEvents-1].Position, max(shortestSlice, li.slice/2)
		return li.messages(events, false), nil
	}
	li.lastRead, li.slice = nil, min(4*li.slice, longestSlice)
	return li.messages(events, true), nil
}

// messages returns the messages of events. If they are all up to sliceEnd, reading goes on there,
// and the id of the last one says so.
func (li *Listener) messages(events []eventlist.Event, all bool) []Message {
	messages := make([]Message, len(events))
	for i := range events {
		messages[i] = Message{li.sent, &events[i]}
	}
	if !all {
		return messages
	}
	if li.readFrom = li.sliceEnd; li.readFrom.After(li.sent) {
		li.sent = li.readFrom
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
	return li.live.events.Stored(ctx, []uuid.UUID{li.account}, li.filter, li.readFrom, li.sliceEnd, li.lastRead,
		pageEvents)
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

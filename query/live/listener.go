package live

import (
	"context"
	"sync"
	"time"

	"github.com/google/uuid"

	"lodestone/pkg/service"
	"lodestone/query/eventlist"
)

const (
	// maxQueued is the size of the messages that may wait for a listener, in bytes.
	maxQueued = 1 << 20
	// pageEvents is how many events a listener reads at once for itself, and firstSlice in how much time of what was
	// stored it looks for them at first.
	pageEvents   = 1000
	firstSlice   = time.Minute
	longestSlice = 365 * 24 * time.Hour
	// aheadPolls is for how many polls a listener waits for the reader to reach its position, which may be of another process. Those in
	// which an insert that runs holds the reader back do not count.
	aheadPolls = 10
)

// Listener is a stream of events. Next and Close are called by one goroutine.
type Listener struct {
	live    *Live
	account uuid.UUID
	filter  eventlist.Filter
	release func()
	queue   queue
	closed  bool      // under live.mu
	since   time.Time // of what the reader hands on, it takes what is stored later; set before it takes part

	beginning chan joined // tells where it begins; nil: it is known, or after a position
	begun     bool

	at     Position // behind what Next returned
	to     Position // up to where it reads for itself
	slice  time.Duration
	joined bool // the reader hands it what comes after to
	behind bool // it reads for itself
}

func newListener(l *Live, account uuid.UUID, f eventlist.Filter, release func()) *Listener {
	return &Listener{live: l, account: account, filter: f, release: release, slice: firstSlice,
		queue: queue{ready: make(chan struct{}, 1), cut: make(chan struct{})}}
}

// Begin waits until the stream can begin: until then ID is not known. ErrAhead is of a position that is ahead of everything
// that is stored. Next does the same.
func (li *Listener) Begin(ctx context.Context) (err error) {
	if li.begun {
		return nil
	}
	if li.beginning != nil {
		li.at, _, err = join{done: li.beginning}.wait(ctx)
		li.joined, li.begun = true, err == nil
		return err
	}
	for polls := 0; polls < aheadPolls; {
		var now time.Time
		li.to, now, err = li.live.position(ctx, nil)
		if li.begun = err == nil && li.at.isBehind(li.to); li.begun || err != nil {
			return err
		}
		if li.at.stored.After(now) || !li.at.stored.After(li.to.stored) {
			polls++
		}
		if err := service.Sleep(ctx, pollEvery); err != nil {
			return err
		}
	}
	if li.at.stored.After(li.to.stored) {
		return ErrAhead
	}
	// The reader knows only the offsets of what was stored since shortly before it began, which may be late events alone.
	stored, err := li.live.ch.Reaches(ctx, li.at.beyond(li.to))
	if err == nil && !stored {
		err = ErrAhead
	}
	li.begun = err == nil
	return err
}

// ID returns the text of the position behind what Next returned last, or where the listener began.
func (li *Listener) ID() string { return li.at.String() }

// Done is closed when the listener did not keep up: Next then fails.
func (li *Listener) Done() <-chan struct{} { return li.queue.cut }

// Next waits for events, and returns at least one, or the error that ends the stream: ErrSlow, the cause of ctx, or why
// ClickHouse could not be asked.
func (li *Listener) Next(ctx context.Context) (messages []Message, err error) {
	if err := li.Begin(ctx); err != nil {
		return nil, err
	}
	defer func() { li.live.meters.messages.Add(float64(len(messages))) }()
	for li.behind {
		messages, err := li.catchUp(ctx)
		if err != nil || len(messages) > 0 {
			return messages, err
		}
	}
	for {
		messages, err := li.queue.take()
		if err != nil || len(messages) > 0 {
			return messages, err
		}
		select {
		case <-li.queue.ready:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// Close ends the listener.
func (li *Listener) Close() {
	if li.live.remove(li) {
		li.live.meters.listeners.Dec()
	}
	li.release()
}

// catchUp reads a page of what lies before the part that the reader hands on. It takes part in that when little is left:
// what the reader hands it meanwhile waits.
func (li *Listener) catchUp(ctx context.Context) (messages []Message, err error) {
	until := li.at.stored.Add(li.slice)
	if until.After(li.to.stored) {
		until = li.to.stored
	}
	window := li.at.window(until, li.to.next)
	window.Reader = li.to.stored
	events, err := read(ctx, li.live.ch, []uuid.UUID{li.account}, window, pageEvents)
	if err != nil {
		return nil, err
	}
	for _, e := range events {
		li.at = li.at.after(e, until)
		if !matches(&li.filter, e) {
			continue
		}
		m, err := li.live.message(e, li.at)
		if err != nil {
			return nil, err
		}
		messages = append(messages, m)
	}
	if len(events) == pageEvents {
		li.slice = max(time.Second, li.slice/2)
		return messages, nil
	}
	li.slice = min(4*li.slice, longestSlice)
	li.at = li.at.until(until)
	switch {
	case until.Before(li.to.stored):
	case !li.joined:
		li.to, _, err = li.live.position(ctx, li)
		li.joined = true
	default:
		li.at, li.behind = li.to, false
	}
	return messages, err
}

// queue holds the messages that wait for a listener. It is safe for concurrent use.
type queue struct {
	ready chan struct{} // a message waits
	cut   chan struct{} // closed when there were too many

	mu       sync.Mutex
	messages []Message
	bytes    int
	slow     bool
}

// add adds a message, and reports whether there was space for it. If not, the queue has ended.
func (q *queue) add(m Message) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.slow {
		return false
	}
	if q.bytes += len(m.ID) + len(m.Data); q.bytes > maxQueued {
		q.slow, q.messages = true, nil
		close(q.cut)
	} else {
		q.messages = append(q.messages, m)
	}
	select {
	case q.ready <- struct{}{}:
	default: // it knows
	}
	return !q.slow
}

// take returns what waits.
func (q *queue) take() (messages []Message, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.slow {
		return nil, ErrSlow
	}
	messages, q.messages, q.bytes = q.messages, nil, 0
	return messages, nil
}

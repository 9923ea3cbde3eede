package limit

import (
	"context"
	"sync"
	"time"
)

// DeadlineGrain is by how much a deadline may be later than asked for.
const DeadlineGrain = 10 * time.Millisecond

// Deadlines makes contexts that end at a time, or when their parent does. They cost little where
// very many calls begin close to one another: those whose deadlines fall into the same moment share
// one context and one timer. It is safe for concurrent use.
type Deadlines struct {
	parent context.Context //nolint:containedctx // of all that it makes
	began  time.Time       // moments are counted from here, by the monotonic clock
	mu     sync.Mutex
	live   map[int64]*sharedContext
	past   int64 // up to here, moments were given free
}

// sharedContext is the context of one moment.
type sharedContext struct {
	context.Context //nolint:containedctx // this is one
	cancel          context.CancelFunc
	source          *Deadlines
}

type sourceKey struct{}

// Value implements context.Context.
func (s *sharedContext) Value(key any) any {
	if key == (sourceKey{}) {
		return s.source
	}
	return s.Context.Value(key)
}

// NewDeadlines returns a source of contexts that end with parent at the latest.
func NewDeadlines(parent context.Context) *Deadlines {
	return &Deadlines{parent: parent, began: time.Now(), live: make(map[int64]*sharedContext)}
}

// At returns a context that ends at a time or up to DeadlineGrain later. It needs no cancelling: it
// is others' as well, and what it holds is given free when it ends.
func (s *Deadlines) At(t time.Time) context.Context {
	tick := int64((t.Sub(s.began) + DeadlineGrain - 1) / DeadlineGrain)
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.live[tick]; c != nil {
		return c
	}
	s.sweep()
	ctx, cancel := context.WithDeadline(s.parent, s.began.Add(time.Duration(tick)*DeadlineGrain))
	c := &sharedContext{ctx, cancel, s}
	if tick < s.past { // it has ended, and no one would give it free
		cancel()
		return c
	}
	s.live[tick] = c
	return c
}

// sweep gives free what has ended. It looks at each moment once.
func (s *Deadlines) sweep() {
	now := int64(time.Since(s.began) / DeadlineGrain)
	for ; s.past < now && len(s.live) > 0; s.past++ {
		if c := s.live[s.past]; c != nil && c.Err() != nil {
			c.cancel()
			delete(s.live, s.past)
		} else if c != nil {
			return // its timer is late
		}
	}
	s.past = max(s.past, now)
}

// Within returns a context that ends with ctx, and after d or up to DeadlineGrain later. If ctx
// comes from a source, so does it. Call cancel when it is not needed any more.
func Within(ctx context.Context, d time.Duration) (within context.Context, cancel context.CancelFunc) {
	source, ok := ctx.Value(sourceKey{}).(*Deadlines)
	if !ok {
		return context.WithTimeout(ctx, d)
	}
	at := time.Now().Add(d)
	if end, _ := ctx.Deadline(); end.Before(at) {
		return ctx, func() {}
	}
	return source.At(at), func() {}
}

package bench

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"lodestone/pkg/service"
)

// heavy are queries that take as much as the SQL user may have: the thread for seconds, and most of the memory.
var heavy = []string{
	"SELECT device, count(), uniqExact(access_link_id), sum(reading_ms) FROM sessions GROUP BY device",
	"SELECT uniq(event_id), uniq(session_id), max(length(event_data)), sum(cityHash64(user_agent, event_data)) FROM events",
	"SELECT access_link_id, count() AS n FROM events GROUP BY access_link_id ORDER BY n DESC LIMIT 10",
	"SELECT event_id FROM events ORDER BY cityHash64(event_id) LIMIT 100",
}

// refusedRest is how long somebody waits who was refused.
const refusedRest = 250 * time.Millisecond

// analysts ask heavy queries, each one after another.
type analysts struct {
	n    int
	ask  func(ctx context.Context, query string) error
	quit context.CancelFunc
	all  sync.WaitGroup

	mu       sync.Mutex
	answered int
	refused  map[string]int // by reason
}

func newAnalysts(n int, ask func(context.Context, string) error) *analysts {
	return &analysts{n: n, ask: ask, refused: map[string]int{}}
}

func (a *analysts) start(ctx context.Context) {
	ctx, a.quit = context.WithCancel(ctx)
	for first := range a.n {
		a.all.Go(func() { a.work(ctx, first) })
	}
}

// stop ends them in the middle of what they ask.
func (a *analysts) stop() {
	a.quit()
	a.all.Wait()
}

func (a *analysts) work(ctx context.Context, first int) {
	for i := first; ctx.Err() == nil; i++ {
		err := a.ask(ctx, heavy[i%len(heavy)])
		if err != nil && ctx.Err() != nil {
			return
		}
		a.count(err)
		if err != nil && service.Sleep(ctx, refusedRest) != nil {
			return
		}
	}
}

func (a *analysts) count(err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch refused, ok := errors.AsType[*refusal](err); {
	case err == nil:
		a.answered++
	case ok:
		a.refused[refused.reason]++
	default:
		a.refused[err.Error()]++
	}
}

// counts returns how many queries were answered and refused so far.
func (a *analysts) counts() (answered, refused int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, n := range a.refused {
		refused += n
	}
	return a.answered, refused
}

// reasons lists why queries were refused, and how often; "" if none was.
func (a *analysts) reasons() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	var texts []string
	for _, reason := range slices.Sorted(maps.Keys(a.refused)) {
		texts = append(texts, fmt.Sprintf("%d for %s", a.refused[reason], reason))
	}
	return strings.Join(texts, ", ")
}

package scope

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/prometheus/client_golang/prometheus"

	"lodestone/pkg/clickhouse"
	"lodestone/pkg/postgres"
	"lodestone/pkg/service"
	"lodestone/pkg/store"
)

const (
	// watchEvery is how often the copies are looked at, and answerWithin how long one may take to
	// answer: one that hangs is passed over after that.
	watchEvery   = time.Second
	answerWithin = 2 * time.Second
	// horizonsKept is for how long it is remembered what a copy had. Cursors are younger, unless an
	// insert runs for longer.
	horizonsKept = 5 * time.Minute
)

// Copies are the copies of the events that may be read, in order of preference. It watches them, a
// service: the first one that answers and is not too far behind is read. If all are too far behind,
// the first that has about as much as any is. It is safe for concurrent use. Of one copy there is
// nothing to watch.
type Copies struct {
	*service.Loop
	configs []clickhouse.Config
	maxLag  time.Duration
	pool    *postgres.Pool
	log     *slog.Logger
	read    *prometheus.GaugeVec

	mu     sync.Mutex
	states []copyState
	chosen int // index of the copy that is read
}

// copyState is the known state of a copy.
type copyState struct {
	away     bool
	horizons []horizon // the newest last
}

// horizon says what a copy had at a time: everything that was in Kafka until then.
type horizon struct{ at, has time.Time }

// CopiesConfig is the setting of Copies.
type CopiesConfig struct {
	Of     []clickhouse.Config // each of a copy, those preferred first
	MaxLag time.Duration       // by which a copy that is read may be behind
}

// CopiesDeps are the dependencies of Copies. Registerer may be nil; all others are required for
// several copies.
type CopiesDeps struct {
	Postgres   *postgres.Pool
	Log        *slog.Logger
	Registerer prometheus.Registerer
}

// NewCopies returns the copies of the settings.
func NewCopies(config CopiesConfig, d CopiesDeps) *Copies {
	c := &Copies{configs: config.Of, maxLag: config.MaxLag, pool: d.Postgres, log: d.Log,
		states: make([]copyState, len(config.Of))}
	c.read = prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "lodestone_query_copy",
		Help: "1 for the copy of the events being read, 0 for the other configured ones, with each copy's place in the order of preference.",
	}, []string{"copy", "preference"})
	if d.Registerer != nil {
		d.Registerer.MustRegister(c.read)
	}
	c.show()
	c.Loop = service.NewLoop("copies", c.run)
	return c
}

// One returns a copy that is the only one.
func One(c clickhouse.Config) *Copies {
	return NewCopies(CopiesConfig{Of: []clickhouse.Config{c}}, CopiesDeps{})
}

func (c *Copies) several() bool { return len(c.configs) > 1 }

// run looks at the copies until ctx ends.
func (c *Copies) run(ctx context.Context, ready func()) (err error) {
	if !c.several() {
		ready()
		<-ctx.Done()
		return nil
	}
	var conns []driver.Conn
	defer func() {
		for _, conn := range conns {
			err = errors.Join(err, conn.Close())
		}
	}()
	for _, config := range c.configs {
		conn, err := clickhouse.Open(config, 1)
		if err != nil {
			return err
		}
		conns = append(conns, conn)
	}
	for first := true; ; first = false {
		if err := c.look(ctx, conns); err != nil && ctx.Err() == nil {
			c.log.Warn("cannot determine how far the copies of the events are, will try again", "error", err)
		}
		if first {
			ready()
		}
		if service.Sleep(ctx, watchEvery) != nil {
			return nil
		}
	}
}

// look finds out which copies answer and what they have, and chooses one.
func (c *Copies) look(ctx context.Context, conns []driver.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	failed := make([]error, len(conns))
	var all sync.WaitGroup
	for i, conn := range conns {
		all.Go(func() { failed[i] = c.answers(ctx, conn, c.configs[i].Number()) })
	}
	now := time.Now()
	lags, err := store.New(c.pool.Unscoped()).CopyLags(ctx)
	all.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, config := range c.configs {
		of := slices.IndexFunc(lags, func(l store.CopyLagsRow) bool { return l.Copy == config.Number() })
		if of < 0 && err == nil && failed[i] == nil {
			failed[i] = errors.New("it is not on record")
		}
		c.setAway(i, failed[i])
		if of >= 0 && !math.IsInf(lags[of].Seconds, 0) {
			c.states[i].note(horizon{now, now.Add(-time.Duration(lags[of].Seconds * float64(time.Second)))})
		}
	}
	c.choose(now)
	return err
}

// setAway notes why a copy cannot be read, nil if it can. It is called with c.mu.
func (c *Copies) setAway(index int, why error) {
	s := &c.states[index]
	switch {
	case why != nil && !s.away:
		c.log.Warn("a copy of the events cannot be read", "copy", c.configs[index].Number(), "error", why)
	case why == nil && s.away:
		c.log.Info("a copy of the events can be read again", "copy", c.configs[index].Number())
	}
	s.away = why != nil
}

// answers returns nil if every shard of a copy answers, and is of this copy.
func (c *Copies) answers(ctx context.Context, conn driver.Conn, number int32) error {
	if err := conn.Ping(ctx); err != nil { // also what connections to several shards ask of them
		return err
	}
	return clickhouse.EachServer(conn, func(server driver.Conn) error {
		var id uint16
		if err := server.QueryRow(ctx, "SELECT id FROM lodestone.shard").Scan(&id); err != nil {
			return fmt.Errorf("ask a server which shard it is: %w", err)
		}
		if is := clickhouse.CopyOf(id); is != number {
			return fmt.Errorf("the server is of copy %d", is)
		}
		return nil
	})
}

// note adds what a copy has, which never is less than it was.
func (s *copyState) note(h horizon) {
	if n := len(s.horizons); n > 0 && h.has.Before(s.horizons[n-1].has) {
		h.has = s.horizons[n-1].has
	}
	s.horizons = append(s.horizons, h)
	s.horizons = slices.DeleteFunc(s.horizons, func(old horizon) bool { return h.at.Sub(old.at) > horizonsKept })
}

// has returns until when the copy has everything, the zero time if that is not known.
func (s *copyState) has() time.Time {
	if n := len(s.horizons); n > 0 {
		return s.horizons[n-1].has
	}
	return time.Time{}
}

// choose chooses the copy that is read. It is called with c.mu.
func (c *Copies) choose(now time.Time) {
	best := -1
	for i := range c.states {
		s := &c.states[i]
		if s.away || s.has().IsZero() { // it has never caught up
			continue
		}
		if now.Sub(s.has()) <= c.maxLag {
			best = i
			break
		}
		if best < 0 || s.has().Sub(c.states[best].has()) > c.maxLag {
			best = i
		}
	}
	if best < 0 || best == c.chosen {
		return
	}
	c.log.Warn("now reading another copy of the events", "copy", c.configs[best].Number(), "before",
		c.configs[c.chosen].Number())
	c.chosen = best
	c.show()
}

func (c *Copies) show() {
	for i, config := range c.configs {
		value := 0.0
		if i == c.chosen {
			value = 1
		}
		c.read.WithLabelValues(fmt.Sprint(config.Number()), fmt.Sprint(i+1)).Set(value)
	}
}

// current returns the index of the copy that is read.
func (c *Copies) current() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.chosen
}

// instead returns the copy to read now that one did not answer, if there is another.
func (c *Copies) instead(failed int, why error) (int, bool) {
	if !c.several() {
		return 0, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.setAway(failed, why) // the next look may find otherwise
	c.choose(time.Now())
	return c.chosen, c.chosen != failed
}

// copyChoice is the copy that a request reads.
type copyChoice struct {
	mu     sync.Mutex
	chosen bool
	index  int
	fixed  bool // something of the answer is of this copy
}

type pinKey struct{}

// Pin returns a context of one request: all of its statements read the same copy.
func Pin(ctx context.Context) context.Context { return context.WithValue(ctx, pinKey{}, &copyChoice{}) }

// index returns the index of the copy that a request reads, as far as is known before its first
// answer.
func (c *Copies) index(ctx context.Context) int {
	index, _ := c.take(ctx, false)
	return index
}

// fix returns the index of the copy that a request reads from now on, and whether that was open.
func (c *Copies) fix(ctx context.Context) (index int, open bool) { return c.take(ctx, true) }

func (c *Copies) take(ctx context.Context, fix bool) (index int, open bool) {
	p, ok := ctx.Value(pinKey{}).(*copyChoice)
	if !ok {
		return c.current(), true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.chosen {
		p.index, p.chosen = c.current(), true
	}
	open = !p.fixed
	p.fixed = p.fixed || fix
	return p.index, open
}

// move makes another copy that of the request, whose first statement failed.
func (c *Copies) move(ctx context.Context, index int) {
	if p, ok := ctx.Value(pinKey{}).(*copyChoice); ok {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.index = index
	}
}

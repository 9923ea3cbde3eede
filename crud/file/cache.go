package file

import (
	"container/list"
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/singleflight"
)

const (
	maxCopies = 1000 // each is an open file
	maxFills  = 4    // at a time
	// fillTimeout bounds the copying of one file.
	fillTimeout = 5 * time.Minute
)

// key is the SHA-256 of a file, so a copy is never out of date.
type key = [sha256.Size]byte

// cache has copies of files on disk, the most recently read ones. They have no names, so a process that is killed leaves none. It is
// safe for concurrent use.
type cache struct {
	max   int64
	ctx   context.Context //nolint:containedctx // a copy is made for all who wait for it, until close
	stop  context.CancelFunc
	fills singleflight.Group
	slots chan struct{}

	mu     sync.Mutex
	copies map[key]*list.Element // of *copied
	order  *list.List            // the most recently read one first
	bytes  int64

	reads *prometheus.CounterVec
}

// copied is a copy of a file.
type copied struct {
	*os.File
	cache *cache
	key   key
	size  int64
	users int // and one while it is in the cache; under the cache's lock
}

func newCache(maxBytes int64, r prometheus.Registerer) *cache {
	c := &cache{max: maxBytes, slots: make(chan struct{}, maxFills), copies: map[key]*list.Element{}, order: list.New()}
	c.ctx, c.stop = context.WithCancel(context.Background())
	c.reads = prometheus.NewCounterVec(prometheus.CounterOpts{Name: "lodestone_file_cache_reads_total", Help: "Files of the bucket that were opened, by whether a copy was on disk."}, []string{"result"})
	c.reads.WithLabelValues("hit")
	c.reads.WithLabelValues("miss")
	r.MustRegister(c.reads, prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "lodestone_file_cache_bytes", Help: "Size of the copies of files on disk."}, func() float64 {
		c.mu.Lock()
		defer c.mu.Unlock()
		return float64(c.bytes)
	}))
	return c
}

// open returns the copy of a file, which fill makes if there is none. Whoever waits shares one fill, which goes on if they leave.
func (c *cache) open(ctx context.Context, k key, fill func(ctx context.Context, into *os.File) (int64, error)) (*copied, error) {
	result := "hit"
	defer func() { c.reads.WithLabelValues(result).Inc() }()
	for {
		if found := c.take(k); found != nil {
			return found, nil
		}
		result = "miss"
		filled := c.fills.DoChan(string(k[:]), func() (any, error) { return nil, c.fill(k, fill) })
		select {
		case r := <-filled:
			if r.Err != nil {
				return nil, r.Err
			}
		case <-ctx.Done():
			return nil, fmt.Errorf("wait for file: %w", context.Cause(ctx))
		}
	}
}

func (c *cache) take(k key) *copied {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.copies[k]
	if !ok {
		return nil
	}
	c.order.MoveToFront(e)
	found := e.Value.(*copied)
	found.users++
	return found
}

func (c *cache) has(k key) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.copies[k] != nil
}

func (c *cache) fill(k key, fill func(ctx context.Context, into *os.File) (int64, error)) error {
	if c.has(k) { // since the caller looked
		return nil
	}
	ctx, cancel := context.WithTimeout(c.ctx, fillTimeout)
	defer cancel()
	select {
	case c.slots <- struct{}{}:
		defer func() { <-c.slots }()
	case <-ctx.Done():
		return unavailable("wait for other files", ctx.Err())
	}
	temp, err := os.CreateTemp("", "lodestone-file-*")
	if err != nil {
		return fmt.Errorf("copy file: %w", err)
	}
	_ = os.Remove(temp.Name()) // open files need no name
	size, err := fill(ctx, temp)
	if err != nil {
		_ = temp.Close()
		return err
	}
	c.add(&copied{File: temp, cache: c, key: k, size: size, users: 1})
	return nil
}

// add adds a copy, and drops those that were not read for the longest time, but never the new one: someone waits for it.
func (c *cache) add(n *copied) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.copies[n.key] = c.order.PushFront(n)
	c.bytes += n.size
	for c.order.Len() > 1 && (c.bytes > c.max || c.order.Len() > maxCopies) {
		c.drop(c.order.Back())
	}
}

// drop forgets a copy, under the lock. Its file is closed when no one reads it.
func (c *cache) drop(e *list.Element) {
	old := c.order.Remove(e).(*copied)
	delete(c.copies, old.key)
	c.bytes -= old.size
	old.leave()
}

func (n *copied) leave() {
	if n.users--; n.users == 0 {
		_ = n.Close()
	}
}

// release ends one use of a copy.
func (n *copied) release() {
	n.cache.mu.Lock()
	defer n.cache.mu.Unlock()
	n.leave()
}

// close ends fills and drops every copy.
func (c *cache) close() {
	c.stop()
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.order.Len() > 0 {
		c.drop(c.order.Back())
	}
}

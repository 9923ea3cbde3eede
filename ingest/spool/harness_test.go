package spool

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"lodestone/ingest/producer"
	"lodestone/pkg/event"
	"lodestone/pkg/test/enginetest"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

var background = context.Background()

// slowAnswer is the time in which a healthy Kafka answers, even on a busy machine.
const slowAnswer = 20 * time.Second

// brokenDisk does what a test says instead of writing or syncing.
type brokenDisk struct {
	realDisk
	mu       sync.Mutex
	creation error
	reading  error // of opening and of reading
	sound    int   // so many times before that, it succeeds
	listing  error
	write    error
	partial  int // bytes that a failing write writes nevertheless
	sync     error
	truncate error
	syncs    int
	dirs     []string // that were synced
	fast     bool     // do not sync at all
	slow     bool     // syncs after everybody else who can has gone on
}

func (d *brokenDisk) set(change func(*brokenDisk)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	change(d)
}

func (d *brokenDisk) open(path string) (source, error) {
	f, err := d.realDisk.open(path)
	if err != nil {
		return nil, err
	}
	if err := d.failing(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &brokenSource{f, d}, nil
}

func (d *brokenDisk) failing() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.sound > 0 {
		d.sound--
		return nil
	}
	return d.reading
}

func (d *brokenDisk) list(path string) ([]fs.DirEntry, error) {
	d.mu.Lock()
	err := d.listing
	d.mu.Unlock()
	if err != nil {
		return nil, err
	}
	return d.realDisk.list(path)
}

type brokenSource struct {
	source
	disk *brokenDisk
}

func (f *brokenSource) ReadAt(b []byte, at int64) (int, error) {
	n, err := f.source.ReadAt(b, at)
	if broken := f.disk.failing(); broken != nil {
		return min(n, 20), broken // some bytes may have been read
	}
	return n, err
}

func (d *brokenDisk) create(path string) (file, error) {
	d.mu.Lock()
	err := d.creation
	d.mu.Unlock()
	if err != nil {
		return nil, err
	}
	f, err := d.realDisk.create(path)
	if err != nil {
		return nil, err
	}
	return &brokenFile{f, d}, nil
}

func (d *brokenDisk) syncDir(path string) error {
	d.set(func(d *brokenDisk) { d.dirs = append(d.dirs, path) })
	if d.fast {
		return nil
	}
	return d.realDisk.syncDir(path)
}

type brokenFile struct {
	file
	disk *brokenDisk
}

func (f *brokenFile) WriteAt(b []byte, at int64) (int, error) {
	f.disk.mu.Lock()
	err, partial := f.disk.write, f.disk.partial
	f.disk.mu.Unlock()
	if err != nil {
		n, _ := f.file.WriteAt(b[:min(partial, len(b))], at)
		return n, err
	}
	return f.file.WriteAt(b, at)
}

func (f *brokenFile) Sync() error {
	for i := 0; f.disk.slow && i < 200; i++ {
		runtime.Gosched()
	}
	f.disk.mu.Lock()
	defer f.disk.mu.Unlock()
	f.disk.syncs++
	if f.disk.sync != nil {
		return f.disk.sync
	}
	if f.disk.fast {
		return nil
	}
	return f.file.Sync()
}

func (f *brokenFile) Truncate(size int64) error {
	f.disk.mu.Lock()
	err := f.disk.truncate
	f.disk.mu.Unlock()
	if err != nil {
		return err
	}
	return f.file.Truncate(size)
}

var errNoSpace error = &os.PathError{Op: "write", Path: "segment", Err: syscall.ENOSPC}

type fataler interface {
	require.TestingT
	Helper()
}

func newTestMetrics(t fataler) *metrics {
	zero := func() float64 { return 0 }
	m, err := newMetrics(prometheus.NewRegistry(), gauges{zero, zero, zero, zero})
	require.NoError(t, err)
	return m
}

// value returns that of a counter or gauge.
func value(t fataler, c prometheus.Collector) float64 {
	t.Helper()
	r := prometheus.NewRegistry()
	require.NoError(t, r.Register(c))
	families, err := r.Gather()
	require.NoError(t, err)
	m := families[0].GetMetric()[0]
	return m.GetCounter().GetValue() + m.GetGauge().GetValue()
}

func open(t fataler, dir string, d disk, maxBytes, segmentBytes int64) *queue {
	t.Helper()
	q, err := openQueue(dir, maxBytes, segmentBytes, d, slog.New(slog.DiscardHandler), newTestMetrics(t))
	require.NoError(t, err)
	if b, ok := d.(*brokenDisk); ok && b.fast {
		q.bookmark.sync = func() error { return nil }
	}
	return q
}

// kill ends a process without what it does at an orderly end.
func kill(t fataler, q *queue) {
	t.Helper()
	q.mu.Lock()
	q.closed, q.tidying, q.moved, q.done = true, false, false, nil
	q.segments = make([]*segment, 2) // so that nothing is retired
	q.mu.Unlock()
	notify(q.wake)
	<-q.stopped
	q.stopReading()
	require.NoError(t, errors.Join(q.bookmark.close(), q.lock.Unlock()))
}

// rest reads and acknowledges everything.
func rest(t fataler, q *queue) []string {
	t.Helper()
	var all []string
	for {
		b, err := q.read(64<<10, 1000)
		require.NoError(t, err)
		if len(b.payloads) == 0 {
			return all
		}
		for _, p := range b.payloads {
			all = append(all, string(p))
		}
		q.ack(b.end, b.records)
	}
}

func tempDir(t fataler) (dir string, remove func()) {
	t.Helper()
	dir, err := os.MkdirTemp("", "spool")
	require.NoError(t, err)
	return dir, func() { _ = os.RemoveAll(dir) }
}

func settings(dir string) Config {
	return Config{Dir: dir, MaxBytes: 64 << 20, SegmentBytes: 1 << 20, After: 300 * time.Millisecond, DrainBytes: 1 << 30}
}

// record returns a valid record whose event id is the number given.
func record(n int) producer.Record {
	link := uuid.UUID{15: byte(n%5 + 1)}
	e := event.Event{
		AccountID: uuid.UUID{1}, LeadMagnetID: uuid.UUID{2}, AccessLinkID: link, EventID: uuid.UUID{0: 1, 12: byte(n >> 24),
			13: byte(n >> 16), 14: byte(n >> 8), 15: byte(n)},
		Type: event.PageViewed, CreatedAt: 1_700_000_000_000, ReceivedAt: 1_700_000_000_000 + int64(n),
	}
	return producer.Record{Topic: event.Topic, Key: link[:], Value: e.Append(nil)}
}

func eventOf(t testing.TB, value []byte) event.Event {
	t.Helper()
	var e event.Event
	require.NoError(t, e.Decode(value))
	return e
}

// read reads from the oldest entry that is not acknowledged.
func (q *queue) read(maxBytes, maxRecords int64) (batch, error) {
	return q.readAt(position{}, maxBytes, maxRecords)
}

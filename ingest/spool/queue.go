package spool

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gofrs/flock"
)

// ErrFull is wrapped by the error of a write that the spool has no space for.
var ErrFull = errors.New("the spool is full (--spool-max-bytes)")

// ErrUnwritable is wrapped by the error of a write that the disk refused.
var ErrUnwritable = errors.New("the spool cannot be written")

var errClosed = errors.New("the spool is closed")

// queue is a durable first-in, first-out queue of payloads in a directory. append is safe for
// concurrent use; read and ack belong to one goroutine.
type queue struct {
	dir          string
	maxBytes     int64
	segmentBytes int64
	disk         disk
	log          *slog.Logger
	metrics      *metrics
	lock         *flock.Flock
	bookmark     *bookmark
	began        position // the position in the bookmark when the queue was opened
	reading      source   // the segment that was read from last, if it is still open
	readingOf    uint64

	wake     chan struct{} // to the committer: something waits, or the queue is closed
	readable chan struct{} // to the reader: something was committed
	stopped  chan struct{} // the committer has ended

	mu       sync.Mutex
	next     *commit    // what the next fsync will cover; nil: nothing
	segments []*segment // oldest first
	number   uint64     // of the newest segment that there ever was
	head     position   // of the oldest entry that is not acknowledged
	used     int64      // bytes of the segments, and of what is being written
	records  int64      // that are committed and not acknowledged
	closed   bool
	tidying  bool         // the reader asks the committer to retire the last segment
	done     []*segment   // wholly acknowledged, still on the disk
	moved    bool         // head is not in the bookmark yet
	oldest   atomic.Int64 // Unix milliseconds when the oldest entry was spooled; 0: there is none
	aside    atomic.Int64 // segments in the folder of damaged ones

	active     file // the newest segment, while it is written; of the committer
	activeSeg  *segment
	activeSize int64 // what was synced of it
}

// segment is the state of a file. Its fields are guarded by queue.mu.
type segment struct {
	number uint64
	size   int64 // durable bytes; what follows is no part of it
	from   int64 // what stands before was acknowledged in an earlier process
	damage []span
	aside  bool // had damage: it is moved aside, not deleted

	unread bool // of an earlier process, and could not be read yet: only its number is known
	newest bool // was the newest when that process ended
}

// commit is a group of payloads that one fsync makes durable.
type commit struct {
	entries []byte
	records int64
	done    chan struct{}
	err     error
}

// maxGroupBytes limits the bytes that wait for one fsync.
const maxGroupBytes = 64 << 20

// openQueue locks the directory, recovers its content, and begins to accept entries.
func openQueue(dir string, maxBytes, segmentBytes int64, d disk, log *slog.Logger, m *metrics) (*queue, error) {
	q := &queue{
		dir: dir, maxBytes: maxBytes, segmentBytes: segmentBytes, disk: d, log: log, metrics: m,
		wake: make(chan struct{}, 1), readable: make(chan struct{}, 1), stopped: make(chan struct{}),
	}
	if err := errors.Join(makeDir(d, dir), makeDir(d, filepath.Join(dir, damagedDir))); err != nil {
		return nil, fmt.Errorf("open spool: %w", err)
	}
	var err error
	if q.lock, err = lock(dir); err != nil {
		return nil, err
	}
	if err := q.recover(); err != nil {
		if q.bookmark != nil {
			_ = q.bookmark.close() // the first error tells more
		}
		_ = q.lock.Unlock()
		return nil, err
	}
	go q.commitLoop()
	return q, nil
}

// lock locks a directory, which one process may use at a time.
func lock(dir string) (*flock.Flock, error) {
	l := flock.New(filepath.Join(dir, "lock"))
	locked, err := l.TryLock()
	if err != nil {
		return nil, fmt.Errorf("lock spool: %w", err)
	}
	if !locked {
		return nil, fmt.Errorf("lock spool %s: another process uses it; give each collector its own directory (--spool-dir)",
			dir)
	}
	return l, nil
}

// append stores a payload durably. If ctx ends first, it may or may not be stored.
func (q *queue) append(ctx context.Context, payload []byte, records int) error {
	size := int64(entryHeader + len(payload))
	q.mu.Lock()
	switch {
	case q.closed:
		q.mu.Unlock()
		return errClosed
	case len(payload) > maxPayloadBytes, q.used+size+segmentHeader > q.maxBytes,
		q.next != nil && int64(len(q.next.entries))+size > maxGroupBytes:
		q.mu.Unlock()
		return ErrFull
	}
	if q.next == nil {
		q.next = &commit{done: make(chan struct{})}
	}
	c := q.next
	c.entries = appendEntry(c.entries, payload, records)
	c.records += int64(records)
	q.used += size
	q.mu.Unlock()
	notify(q.wake)
	select {
	case <-c.done:
		return c.err
	case <-ctx.Done():
		return fmt.Errorf("write to spool: %w", context.Cause(ctx))
	}
}

// commitLoop writes group after group: while one is synced, the next one gathers.
func (q *queue) commitLoop() {
	defer close(q.stopped)
	for range q.wake {
		q.mu.Lock()
		c, closed := q.next, q.closed
		q.next = nil
		q.mu.Unlock()
		if c != nil {
			q.commit(c)
		}
		q.retire()
		if closed {
			if q.active != nil {
				if err := q.active.Close(); err != nil {
					q.log.Warn("cannot close a segment of the spool", "error", err)
				}
			}
			return
		}
	}
}

// commit writes and syncs one group. A group that fails leaves nothing valid behind.
func (q *queue) commit(c *commit) {
	size := int64(len(c.entries))
	err := q.write(c.entries)
	q.mu.Lock()
	if err != nil {
		q.used -= size
		c.err = fmt.Errorf("%w: %w", ErrUnwritable, err)
	} else {
		q.activeSeg.size = q.activeSize
		if q.records == 0 {
			q.oldest.Store(time.Now().UnixMilli())
		}
		q.records += c.records
	}
	q.mu.Unlock()
	if err != nil {
		q.metrics.failures.Inc()
		q.log.Error("cannot write to the spool", "error", err)
	}
	close(c.done)
	notify(q.readable)
}

// write appends entries to the active segment and syncs them.
func (q *queue) write(entries []byte) error {
	if q.active != nil && q.activeSize >= q.segmentBytes {
		q.abandon()
	}
	if q.active == nil {
		if err := q.begin(); err != nil {
			return err
		}
	}
	seal(entries, q.activeSeg.number, q.activeSize)
	begin := time.Now()
	_, err := q.active.WriteAt(entries, q.activeSize)
	if err == nil {
		if err = q.active.Sync(); err == nil {
			q.metrics.fsync.Observe(time.Since(begin).Seconds())
			q.activeSize += int64(len(entries))
			return nil
		}
	}
	// After a failed sync the kernel may have dropped unwritten pages, and a second sync would not
	// report it. Everything synced before is safe; nothing is added to this file any more.
	if cut := q.active.Truncate(q.activeSize); cut != nil {
		q.log.Warn("cannot remove a failed write from the spool: its rest may be sent although it was refused", "error",
			cut)
	}
	q.abandon()
	return err
}

// begin creates a new segment. It is durable, with its name, before anything in it counts.
func (q *queue) begin() error {
	q.mu.Lock()
	q.number++
	number := q.number
	q.mu.Unlock()
	path := filepath.Join(q.dir, segmentName(number))
	f, err := q.disk.create(path)
	if err != nil {
		return err
	}
	if _, err = f.WriteAt(newSegmentHeader(number), 0); err == nil {
		if err = f.Sync(); err == nil {
			err = q.disk.syncDir(q.dir)
		}
	}
	if err != nil {
		// The next try takes another number: this name may or may not be there after a crash.
		return errors.Join(err, f.Close(), q.disk.remove(path))
	}
	seg := &segment{number: number, size: segmentHeader, from: segmentHeader}
	q.mu.Lock()
	q.segments = append(q.segments, seg)
	q.used += segmentHeader
	q.mu.Unlock()
	q.active, q.activeSeg, q.activeSize = f, seg, segmentHeader
	return nil
}

// abandon closes the active segment: the next group begins a new one.
func (q *queue) abandon() {
	if err := q.active.Close(); err != nil {
		q.log.Warn("cannot close a segment of the spool", "error", err)
	}
	q.active, q.activeSeg = nil, nil
}

// retire hands the last segment over to the reader, which removes it, if tidy asked for it or the
// queue is being closed. It runs in the committer, which alone knows that nothing is being written.
func (q *queue) retire() {
	q.mu.Lock()
	asked := q.tidying || q.closed
	q.tidying = false
	if !asked || q.next != nil || len(q.segments) != 1 || !q.empty() {
		q.mu.Unlock()
		return
	}
	seg := q.segments[0]
	q.done, q.segments = append(q.done, seg), nil
	// Beyond the segment: a file of this number that is found later was given back, and is sent.
	q.head, q.moved = position{segment: seg.number + 1}, true
	q.mu.Unlock()
	if q.activeSeg == seg {
		q.abandon()
	}
	notify(q.readable)
}

// close writes waiting entries, ends the committer and unlocks the directory.
func (q *queue) close() error {
	q.mu.Lock()
	q.closed = true
	q.mu.Unlock()
	notify(q.wake)
	<-q.stopped
	q.release()
	q.stopReading()
	if err := errors.Join(q.bookmark.close(), q.lock.Unlock()); err != nil {
		return fmt.Errorf("close spool: %w", err)
	}
	return nil
}

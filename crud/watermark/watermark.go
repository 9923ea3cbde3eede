// Package watermark shows readers who they are: it draws an address and a time into the pages of a
// document.
//
// A document is stamped once in a process, with a place for the words, and kept on the disk for the
// next reader. The words of a reader, which are always as long, take their place while the bytes go
// out. So no file has the words of anyone, a part of the document is the same in each process, and
// no one waits for another's mark.
package watermark

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/semaphore"

	"lodestone/crud/file"
	"lodestone/crud/pdf"
	"lodestone/pkg/store"
)

const (
	// maxKept bounds the stamped documents that are kept while no one reads them, in bytes.
	maxKept = 512 << 20
	// maxIdle is how long one is kept that no one reads, if others are read.
	maxIdle = 12 * time.Hour
	// stampTimeout bounds the stamping of a document, for which those wait who want to read it.
	stampTimeout = 3 * time.Minute
	// maxStamping bounds the disk that documents take while they are stamped, all together, in bytes.
	// One that may take more is stamped alone.
	maxStamping = 1 << 30
	// diskTimeout bounds the wait for a part of that.
	diskTimeout = 30 * time.Second
	// failedFor is how long a document that could not be stamped is not tried again.
	failedFor = 10 * time.Minute
)

// ErrUnfit is the error of a document that cannot be stamped, and ErrBusy of one for which others
// leave no disk now.
var (
	ErrUnfit = errors.New("the document cannot be stamped")
	ErrBusy  = errors.New("too many documents are being stamped")
)

// Deps are the dependencies of marks. All are required.
type Deps struct {
	Files  *file.Files
	Reader *pdf.Reader
}

// Marks draws the marks. It is safe for concurrent use.
type Marks struct {
	deps    Deps
	disk    *semaphore.Weighted // bytes for stamping
	timeout time.Duration       // of the wait for them

	mu   sync.Mutex
	docs map[version]*stamped
	kept int64 // bytes of those that no one reads
}

type version struct {
	magnet uuid.UUID
	number int32
}

// stamped is a document with a place for words.
type stamped struct {
	ready chan struct{} // closed when the rest is set
	file  *os.File
	size  int64
	place int64
	err   error
	tried time.Time

	readers int // under the lock of Marks, as is read
	read    time.Time
}

// wait returns when the document is stamped, or ctx ends before.
func (s *stamped) wait(ctx context.Context) error {
	select {
	case <-s.ready:
		return s.err
	default:
	}
	select {
	case <-s.ready:
		return s.err
	case <-ctx.Done():
		return fmt.Errorf("wait for the stamped document: %w", ctx.Err())
	}
}

// isOver reports whether the stamping failed so long ago that it is tried again.
func (s *stamped) isOver() bool {
	select {
	case <-s.ready:
		return s.err != nil && time.Since(s.tried) > failedFor
	default:
		return false
	}
}

// New returns the marks. Close removes what it keeps on the disk.
func New(d Deps) *Marks {
	return &Marks{deps: d, disk: semaphore.NewWeighted(maxStamping), timeout: diskTimeout, docs: map[version]*stamped{}}
}

// Close removes the documents. No one may read them.
func (m *Marks) Close() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for key, s := range m.docs {
		m.drop(key, s)
	}
}

// Document is a document with the words of a reader, which belongs to one goroutine. Close it.
type Document struct {
	*io.SectionReader
	marks *Marks
	of    *stamped
	tag   string
}

// Tag returns the ETag of the document: it stands for these bytes.
func (d *Document) Tag() string { return d.tag }

// Close ends the reading.
func (d *Document) Close() {
	d.marks.mu.Lock()
	defer d.marks.mu.Unlock()
	d.marks.leave(d.of)
}

// Open returns a document with a mark of whoever has an address and began to read at a time. The
// error is ErrUnfit if the document cannot be stamped, and ErrBusy if it can be later.
func (m *Marks) Open(ctx context.Context, f store.LeadMagnetFile, address string, at time.Time) (*Document, error) {
	s, err := m.enter(ctx, f)
	if err != nil {
		return nil, err
	}
	text := address + " · " + at.UTC().Format("2006-01-02 15:04") + " UTC"
	sum := sha256.New()
	_, _ = sum.Write(f.SHA256) // documented never to fail
	_, _ = sum.Write([]byte(text))
	return &Document{io.NewSectionReader(&overlay{s, pdf.Mark(text)}, 0, s.size), m, s,
		`"` + hex.EncodeToString(sum.Sum(nil)[:16]) + `"`}, nil
}

// enter returns the stamped document of a file, for one reader more.
func (m *Marks) enter(ctx context.Context, f store.LeadMagnetFile) (*stamped, error) {
	key := version{f.LeadMagnetID, f.Version}
	m.mu.Lock()
	s, found := m.docs[key]
	found = found && !s.isOver()
	if !found {
		s = &stamped{ready: make(chan struct{}), tried: time.Now()}
		m.docs[key] = s
	}
	if s.readers == 0 {
		m.kept -= s.size
	}
	s.readers++
	m.mu.Unlock()
	if !found {
		m.stamp(context.WithoutCancel(ctx), f, s)
		close(s.ready)
	}
	err := s.wait(ctx)
	if err == nil {
		return s, nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.leave(s)
	if !found && !errors.Is(err, ErrUnfit) && m.docs[key] == s { // the next one tries again
		delete(m.docs, key)
	}
	return nil, err
}

// stamp makes a stamped document. Others wait for it, so it does not end with the one who wanted it
// first.
func (m *Marks) stamp(ctx context.Context, f store.LeadMagnetFile, s *stamped) {
	free, err := m.takeDisk(ctx, f.FileSize)
	if err != nil {
		s.err = err
		return
	}
	defer free()
	ctx, cancel := context.WithTimeout(ctx, stampTimeout)
	defer cancel()
	to, err := os.CreateTemp("", "lodestone-stamped-*")
	if err != nil {
		s.err = fmt.Errorf("stamp document: %w", err)
		return
	}
	_ = os.Remove(to.Name()) // so that a process that is killed leaves nothing; where that cannot be, remove does it
	err = m.deps.Files.WithCopy(ctx, f, func(temp *os.File) (err error) {
		s.place, err = m.deps.Reader.Stamp(ctx, f.AccountID, temp, to)
		return err
	})
	if err == nil {
		s.size, err = to.Seek(0, io.SeekEnd)
	}
	if err == nil {
		s.file = to
		return
	}
	remove(to)
	s.size = 0
	s.err = fmt.Errorf("stamp document: %w", err)
	if pdf.IsHostile(err) {
		s.err = fmt.Errorf("%w: %w", ErrUnfit, err)
	}
}

// takeDisk takes the disk for stamping a document of some size: for its copy, and for what comes of
// it at most.
func (m *Marks) takeDisk(ctx context.Context, size int64) (free func(), err error) {
	bytes := min(size+pdf.MaxStampedBytes(size), maxStamping)
	if !m.disk.TryAcquire(bytes) {
		ctx, cancel := context.WithTimeout(ctx, m.timeout)
		defer cancel()
		if err := m.disk.Acquire(ctx, bytes); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrBusy, err)
		}
	}
	return func() { m.disk.Release(bytes) }, nil
}

// leave ends the reading of a document, and removes those that were not read for longest: while too
// much is kept, and after a while.
func (m *Marks) leave(s *stamped) {
	s.readers--
	s.read = time.Now()
	if s.readers > 0 {
		return
	}
	m.kept += s.size
	for {
		var oldest *stamped
		var key version
		for k, other := range m.docs {
			if other.readers == 0 && other.size > 0 && (oldest == nil || other.read.Before(oldest.read)) {
				oldest, key = other, k
			}
		}
		if oldest == nil || m.kept <= maxKept && time.Since(oldest.read) < maxIdle {
			return
		}
		m.kept -= oldest.size
		m.drop(key, oldest)
	}
}

func (m *Marks) drop(key version, s *stamped) {
	delete(m.docs, key)
	if s.file != nil {
		remove(s.file)
	}
}

func remove(f *os.File) {
	_ = f.Close() // it is of no use any more
	_ = os.Remove(f.Name())
}

// overlay is a stamped document with words in their place.
type overlay struct {
	of    *stamped
	words []byte
}

// ReadAt implements io.ReaderAt.
func (o *overlay) ReadAt(p []byte, at int64) (int, error) {
	n, err := o.of.file.ReadAt(p, at)
	if from, to := max(at, o.of.place), min(at+int64(n), o.of.place+int64(len(o.words))); from < to {
		copy(p[from-at:to-at], o.words[from-o.of.place:])
	}
	return n, err //nolint:wrapcheck // because io.EOF is compared
}

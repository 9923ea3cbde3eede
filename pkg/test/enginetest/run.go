package enginetest

import (
	"bytes"
	"context"
	"sync"
	"testing"
)

// Run starts a service. The end of the test stops it, unless the test has called stop.
func Run(t testing.TB, s interface {
	Start(ctx context.Context) error
	Stop(ctx context.Context) error
}) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), startTimeout)
	defer cancel()
	if err := s.Start(ctx); err != nil {
		t.Fatal(err)
	}
	stop = sync.OnceFunc(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), stopTimeout)
		defer cancel()
		if err := s.Stop(ctx); err != nil {
			t.Errorf("stop %T: %v", s, err)
		}
	})
	t.Cleanup(stop)
	return stop
}

// Log is a buffer for what a program under test logs. It is safe for concurrent use; its zero value
// is empty.
type Log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements io.Writer.
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// String returns all that was written.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// once does something for all tests of a process, at the first of them that needs it. If it fails,
// each of them fails.
type once struct {
	sync.Once
	err error
}

func (o *once) do(t testing.TB, fn func() error) {
	t.Helper()
	o.Do(func() { o.err = fn() })
	if o.err != nil {
		t.Fatal(o.err)
	}
}

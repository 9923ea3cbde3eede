package flush

import (
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/test"
)

func TestMain(m *testing.M) { test.LeakMain(m) }

// disk knows what a power loss would leave of each file: what it had when it was last synced.
type disk struct {
	mu   sync.Mutex
	safe map[string]int64
}

func (d *disk) sync(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.safe[f.Name()] = info.Size()
	return nil
}

func (d *disk) has(t *testing.T, path string) {
	t.Helper()
	info, err := os.Stat(path)
	require.NoError(t, err)
	d.mu.Lock()
	defer d.mu.Unlock()
	safe, ok := d.safe[path]
	require.True(t, ok, path)
	if !info.IsDir() {
		require.Equal(t, info.Size(), safe, path)
	}
}

func newFlusher(t *testing.T) (f *Flusher, d *disk, dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "log")
	f, d = New(dir), &disk{safe: map[string]int64{}}
	f.sync = d.sync
	t.Cleanup(func() { _ = f.Close() })
	return f, d, dir
}

// add appends to a file, which it makes if need be.
func add(t *testing.T, elements ...string) string {
	t.Helper()
	path := filepath.Join(elements...)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	require.NoError(t, err)
	_, err = f.WriteString("records")
	require.NoError(t, err)
	require.NoError(t, f.Close())
	return path
}

func TestEverythingWrittenBeforeIsDurable(t *testing.T) {
	t.Parallel()
	f, d, dir := newFlusher(t)
	require.NoError(t, f.Flush(), "there is nothing yet")
	events := filepath.Join(dir, "partitions", "events-0")
	for _, step := range []struct {
		name string
		do   func() []string // paths that have to be durable
	}{
		{"the first record of a partition",
			func() []string { return []string{add(t, events, "0.dat"), events, filepath.Dir(events)} }},
		{"one more", func() []string { return []string{add(t, events, "0.dat")} }},
		{"a new segment, after a record in the old one", func() []string {
			return []string{add(t, events, "0.dat"), add(t, events, "9.dat"), events}
		}},
		{"a segment whose name is longer", func() []string { return []string{add(t, events, "10.dat"), events} }},
		{"another partition", func() []string { return []string{add(t, dir, "partitions", "events-1", "0.dat")} }},
		{"a commit", func() []string { return []string{add(t, dir, "groups.log"), dir} }},
		{"commits written again", func() []string {
			path := add(t, dir, "groups.log.tmp")
			require.NoError(t, os.Rename(path, filepath.Join(dir, "groups.log")))
			return []string{filepath.Join(dir, "groups.log"), dir}
		}},
		{"all records gone, and a new one", func() []string {
			require.NoError(t, os.Remove(filepath.Join(events, "10.dat")))
			return []string{add(t, events, "20.dat")}
		}},
		{"a topic created again", func() []string {
			require.NoError(t, os.RemoveAll(events))
			d.mu.Lock()
			clear(d.safe)
			d.mu.Unlock()
			return []string{add(t, events, "0.dat"), events, filepath.Dir(events)}
		}},
		{"no topic", func() []string { require.NoError(t, os.RemoveAll(events)); return nil }},
	} {
		paths := step.do()
		require.NoError(t, f.Flush(), step.name)
		for _, path := range paths {
			d.has(t, path)
		}
	}
}

func TestIndexIsDurableAtTheLatestWhenClosed(t *testing.T) {
	t.Parallel()
	f, d, dir := newFlusher(t)
	events := filepath.Join(dir, "partitions", "events-0")
	old := add(t, events, "0.idx")
	require.NoError(t, f.Flush())
	add(t, events, "0.idx")
	add(t, events, "5.idx")
	require.NoError(t, f.Flush())
	d.has(t, old)
	last := add(t, events, "5.idx")
	require.NoError(t, f.Close())
	d.has(t, last)
}

func TestFilesThatGrowNoMoreAreLetGo(t *testing.T) {
	t.Parallel()
	f, _, dir := newFlusher(t)
	events := filepath.Join(dir, "partitions", "events-0")
	for _, name := range []string{"0.dat", "1.dat", "2.dat", "2.idx", "0.idx"} {
		add(t, events, name)
	}
	require.NoError(t, f.Flush())
	require.NoError(t, f.Flush())
	open := []string{}
	for name, a := range f.tree.each["events-0"].appended {
		if a.file != nil {
			open = append(open, name)
		}
	}
	require.ElementsMatch(t, []string{"2.dat", "2.idx"}, open)
}

func TestWhoComesDuringARoundWaitsForTheNext(t *testing.T) {
	t.Parallel()
	f, d, dir := newFlusher(t)
	begun, goOn := make(chan string), make(chan struct{})
	f.sync = func(file *os.File) error {
		if filepath.Ext(file.Name()) == ".log" {
			begun <- file.Name()
			<-goOn
		}
		return d.sync(file)
	}
	path := add(t, dir, "groups.log")
	first := make(chan error, 1)
	go func() { first <- f.Flush() }()
	<-begun
	add(t, dir, "groups.log") // what the round may have missed
	others := make(chan error, 10)
	for range cap(others) {
		go func() { others <- f.Flush() }()
	}
	goOn <- struct{}{}
	require.NoError(t, <-first)
	select {
	case <-begun:
	case err := <-others:
		require.Fail(t, "answered before its round", "%v", err)
	}
	close(goOn)
	go func() {
		for range begun { // rounds of those who came even later
		}
	}()
	for range cap(others) {
		require.NoError(t, <-others)
	}
	d.has(t, path)
	require.NoError(t, f.Close())
	close(begun)
}

func TestAfterAFailedSyncNothingIsAnswered(t *testing.T) {
	t.Parallel()
	f, _, dir := newFlusher(t)
	broken := errors.New("input/output error")
	f.sync = func(*os.File) error { return broken }
	l, err := f.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { require.NoError(t, l.Close()) }()
	answered := make(chan error, 2)
	go func() {
		for range cap(answered) {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, err = c.Write([]byte("acknowledged"))
			answered <- err
			_ = c.Close()
		}
	}()
	add(t, dir, "groups.log")
	for range cap(answered) {
		c, err := new(net.Dialer).DialContext(t.Context(), "tcp", l.Addr().String())
		require.NoError(t, err)
		require.ErrorIs(t, <-answered, broken)
		text, err := io.ReadAll(c)
		require.NoError(t, err)
		require.Empty(t, text)
		require.NoError(t, c.Close())
		f.sync = (*os.File).Sync // too late: the lost records are unknown
	}
	require.ErrorIs(t, <-f.Broken(), broken)
	require.NoError(t, f.Close(), "it is reported once")
}

func TestClosingTwiceIsHarmless(t *testing.T) {
	t.Parallel()
	f, _, _ := newFlusher(t)
	require.NoError(t, f.Close())
	require.NoError(t, f.Close())
	require.ErrorIs(t, f.Flush(), ErrClosed)
}

// A directory that changes within one tick of the file system's clock has the time that it had
// before.
func TestChangeWithinATickIsNoticed(t *testing.T) {
	t.Parallel()
	f, d, dir := newFlusher(t)
	tick := time.Now().Add(-time.Hour)
	path := add(t, dir, "groups.log")
	require.NoError(t, os.Chtimes(dir, tick, tick))
	require.NoError(t, f.Flush())
	d.has(t, path)
	path = add(t, dir, "pids.log")
	require.NoError(t, os.Chtimes(dir, tick, tick))
	require.NoError(t, f.Flush())
	d.has(t, path)
}

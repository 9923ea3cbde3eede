package spool

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// fill appends entries to a queue of small segments, and returns them.
func fill(t fataler, q *queue, n int) []string {
	t.Helper()
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf("payload %02d", i))
		require.NoError(t, q.append(background, []byte(all[i]), 1))
	}
	return all
}

// segmentsIn returns the names of the segments in a directory.
func segmentsIn(t fataler, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*"+segmentExtension))
	require.NoError(t, err)
	for i := range files {
		files[i] = filepath.Base(files[i])
	}
	return files
}

// withoutDescriptors runs f while the process can open no file.
func withoutDescriptors(t *testing.T, f func()) {
	t.Helper()
	var old syscall.Rlimit
	require.NoError(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &old))
	require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: 3, Max: old.Max}))
	defer func() { require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &old)) }()
	f()
}

// A read that fails says nothing about what is on the disk: nothing moves past it, and it is tried
// again.
func TestAReadErrorIsNoDamage(t *testing.T) {
	errIO := &os.PathError{Op: "read", Path: "segment", Err: syscall.EIO}
	for name, without := range map[string]func(t *testing.T, q *queue, d *brokenDisk, f func()){
		"no descriptors": func(t *testing.T, q *queue, _ *brokenDisk, f func()) {
			t.Helper()
			q.stopReading()
			withoutDescriptors(t, f)
		},
		"the file is away": func(t *testing.T, q *queue, _ *brokenDisk, f func()) {
			t.Helper()
			q.stopReading()
			path := q.path(q.segments[0].number)
			require.NoError(t, os.Rename(path, path+".away"))
			f()
			require.NoError(t, os.Rename(path+".away", path))
		},
		"the disk fails": func(_ *testing.T, _ *queue, d *brokenDisk, f func()) {
			d.set(func(d *brokenDisk) { d.reading = errIO })
			f()
			d.set(func(d *brokenDisk) { d.reading = nil })
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir, d := t.TempDir(), &brokenDisk{}
			q := open(t, dir, d, 1<<30, 200)
			want := fill(t, q, 30)
			var got []string
			for {
				before, _ := q.state()
				without(t, q, d, func() {
					for range 3 {
						b, err := q.read(64, 1000)
						require.ErrorIs(t, err, errUnreadable)
						require.Equal(t, batch{}, b)
					}
				})
				b, err := q.read(64, 1000)
				require.NoError(t, err)
				used, records := q.state()
				require.Equal(t, before, used)
				require.Equal(t, len(want)-len(got), int(records))
				for _, p := range b.payloads {
					got = append(got, string(p))
				}
				q.ack(b.end, b.records)
				if len(got) == len(want) {
					break
				}
			}
			require.Equal(t, want, got)
			require.Zero(t, value(t, q.metrics.damage))
			require.Zero(t, value(t, q.metrics.drops))
			require.Positive(t, value(t, q.metrics.unread))
			require.NoError(t, q.close())
			require.Empty(t, segmentsIn(t, filepath.Join(dir, damagedDir)))
		})
	}
}

// A damaged entry is judged by a second read of the file. If that fails, nothing more is taken for
// damage.
func TestDamageIsNotJudgedByAReadThatFails(t *testing.T) {
	t.Parallel()
	d := &brokenDisk{}
	q := open(t, t.TempDir(), d, 1<<30, 1<<20)
	want := fill(t, q, 5)
	data, err := os.ReadFile(q.path(1))
	require.NoError(t, err)
	data[segmentHeader+entryHeader] ^= 1
	require.NoError(t, os.WriteFile(q.path(1), data, 0o600))
	// The file is opened and read twice, with two limits, before it is read completely.
	d.set(func(d *brokenDisk) { d.reading, d.sound = syscall.EMFILE, 3 })
	_, err = q.read(1, 1)
	require.ErrorIs(t, err, syscall.EMFILE)
	require.Zero(t, d.sound)
	d.set(func(d *brokenDisk) { d.reading = nil })
	require.Equal(t, want[1:], rest(t, q))
	require.NoError(t, q.close())
}

// What cannot be read at the start is neither given up nor overtaken, and others can write
// meanwhile.
func TestSegmentsThatCannotBeReadAtTheStartWait(t *testing.T) {
	t.Parallel()
	dir, d := t.TempDir(), &brokenDisk{}
	q := open(t, dir, d, 1<<30, 200)
	want := fill(t, q, 30)
	b, err := q.read(64, 2)
	require.NoError(t, err)
	q.ack(b.end, b.records)
	want = want[len(b.payloads):]
	kill(t, q)
	torn, err := os.OpenFile(filepath.Join(dir, segmentsIn(t, dir)[len(segmentsIn(t, dir))-1]), os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = torn.WriteString("torn")
	require.NoError(t, errors.Join(err, torn.Close()))

	d.set(func(d *brokenDisk) { d.reading = errNoSpace })
	q = open(t, dir, d, 1<<30, 200)
	require.NoError(t, q.append(background, []byte("new"), 1))
	_, err = q.read(1000, 1000)
	require.ErrorIs(t, err, errUnreadable)
	q.tidy()
	d.set(func(d *brokenDisk) { d.reading = nil })
	require.Equal(t, append(want, "new"), rest(t, q))
	require.Zero(t, value(t, q.metrics.damage), "the tail was never acknowledged")
	require.Zero(t, value(t, q.metrics.drops))
	require.NoError(t, q.close())
	require.Empty(t, segmentsIn(t, dir))
	require.Empty(t, segmentsIn(t, filepath.Join(dir, damagedDir)))
}

// A directory that cannot be listed is not empty.
func TestADirectoryThatCannotBeListedIsNotTaken(t *testing.T) {
	t.Parallel()
	dir, d := t.TempDir(), &brokenDisk{}
	q := open(t, dir, d, 1<<30, 200)
	want := fill(t, q, 10)
	require.NoError(t, q.close())
	d.listing = syscall.EMFILE
	_, err := openQueue(dir, 1<<30, 200, d, slog.New(slog.DiscardHandler), newTestMetrics(t))
	require.ErrorIs(t, err, syscall.EMFILE)
	d.listing = nil
	q = open(t, dir, d, 1<<30, 200)
	require.Equal(t, want, rest(t, q))
	require.NoError(t, q.close())
}

// A file that lost its end is damaged there, and nowhere else.
func TestASegmentThatWasCutIsDamagedAtItsEnd(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	q := open(t, dir, realDisk{}, 1<<30, 200)
	want := fill(t, q, 30)
	require.NoError(t, os.Truncate(q.path(1), q.segments[0].size-3))
	got := rest(t, q)
	require.Len(t, got, len(want)-1)
	require.InDelta(t, 1, value(t, q.metrics.drops), 0)
	require.Equal(t, []string{segmentName(1)}, segmentsIn(t, filepath.Join(dir, damagedDir)))
	require.NoError(t, q.close())
}

// An earlier process noted a position that is beyond what it sent, or that is older than a file an
// operator gives back: the file decides.
func TestASegmentBelowThePositionIsSent(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	q := open(t, dir, realDisk{}, 1<<30, 200)
	want := fill(t, q, 30)
	last := q.segments[len(q.segments)-1]
	require.NoError(t, q.bookmark.write(position{last.number, last.size}))
	kill(t, q)
	q = open(t, dir, realDisk{}, 1<<30, 200)
	require.Equal(t, want, rest(t, q))
	require.NoError(t, q.close())
	require.Empty(t, segmentsIn(t, dir))
	require.Empty(t, segmentsIn(t, filepath.Join(dir, damagedDir)))
}

// A damaged file that is moved back out of the folder damaged is sent again as far as it is sound,
// whether it was the newest or not.
func TestADamagedSegmentThatIsMovedBackIsSent(t *testing.T) {
	t.Parallel()
	for name, which := range map[string]int{"an old one": 1, "the newest": -1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			q := open(t, dir, realDisk{}, 1<<30, 200)
			want := fill(t, q, 30)
			number := q.segments[(which+len(q.segments))%len(q.segments)].number
			data, err := os.ReadFile(q.path(number))
			require.NoError(t, err)
			entries, _ := scan(data, number)
			lost := string(data[entries[0].from+entryHeader : entries[0].to])
			data[entries[0].to-1] ^= 1
			require.NoError(t, os.WriteFile(q.path(number), data, 0o600))
			want = slices.DeleteFunc(want, func(s string) bool { return s == lost })
			require.Equal(t, want, rest(t, q))
			require.NoError(t, q.close())
			aside := filepath.Join(dir, damagedDir, segmentName(number))
			require.FileExists(t, aside)
			require.NoError(t, open(t, dir, realDisk{}, 1<<30, 200).close()) // another life in between
			require.NoError(t, os.Rename(aside, q.path(number)))
			q = open(t, dir, realDisk{}, 1<<30, 200)
			require.Len(t, rest(t, q), len(entries)-1)
			require.NoError(t, q.close())
			moved, err := os.ReadFile(aside)
			require.NoError(t, err)
			require.Equal(t, data, moved)
		})
	}
}

// One acknowledgement of several flights may pass segments, and end in the middle of one: their
// space is free at once.
func TestAnAcknowledgementThatPassesSegmentsFreesThem(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	q := open(t, dir, realDisk{}, 1<<30, 200)
	for i := range 60 {
		require.NoError(t, q.append(background, fmt.Appendf(nil, "payload %02d %s", i, strings.Repeat("x", (i*7)%40)), 1))
	}
	var ends []batch
	var at position
	for {
		b, err := q.readAt(at, 100, 2)
		require.NoError(t, err)
		if len(b.payloads) == 0 {
			break
		}
		ends, at = append(ends, b), b.end
	}
	q.ack(ends[0].end, ends[0].records) // then all that overtook it, as one, but the last two
	n := int64(0)
	for _, b := range ends[1 : len(ends)-2] {
		n += b.records
	}
	q.ack(ends[len(ends)-3].end, n)
	require.Equal(t, segmentName(ends[len(ends)-3].end.segment), segmentsIn(t, dir)[0])
	for _, b := range ends[len(ends)-2:] {
		q.ack(b.end, b.records)
	}
	used, records := q.state()
	require.Zero(t, records)
	require.Equal(t, diskUsage(t, dir), used)
	require.Len(t, segmentsIn(t, dir), 1, "the one that is written")
	require.Zero(t, q.oldest.Load())
	require.NoError(t, q.close())
	require.Empty(t, segmentsIn(t, dir))
}

// A directory that was created is durable only with its name.
func TestTheNameOfTheDirectoryIsSynced(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	d := &brokenDisk{}
	q := open(t, filepath.Join(dir, "a", "b"), d, 1<<30, 200)
	require.NoError(t, q.close())
	require.Contains(t, d.dirs, dir)
	require.Contains(t, d.dirs, filepath.Join(dir, "a"))
	require.Contains(t, d.dirs, filepath.Join(dir, "a", "b"))
}

// Without descriptors no segment can be created: what is written meanwhile is refused, and nothing
// of the rest is lost.
func TestWritingWithoutDescriptors(t *testing.T) {
	dir := t.TempDir()
	q := open(t, dir, realDisk{}, 1<<30, 200)
	want := fill(t, q, 5)
	refused := 0
	withoutDescriptors(t, func() {
		for i := range 20 {
			text := fmt.Sprintf("scarce %02d", i)
			if err := q.append(background, []byte(text), 1); err != nil {
				require.ErrorIs(t, err, ErrUnwritable)
				require.ErrorIs(t, err, syscall.EMFILE)
				refused++
				continue
			}
			want = append(want, text)
		}
	})
	require.Positive(t, refused)
	require.NoError(t, q.append(background, []byte("after"), 1))
	require.NoError(t, q.close())
	q = open(t, dir, realDisk{}, 1<<30, 200)
	require.Equal(t, append(want, "after"), rest(t, q))
	require.NoError(t, q.close())
}

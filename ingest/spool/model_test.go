package spool

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// world is a queue with small segments, and what a model says of it.
type world struct {
	dir     string
	disk    *brokenDisk
	queue   *queue
	durable []string          // appended with success, not acknowledged to the reader's side
	number  int               // of the next entry
	copies  map[string][]byte // segments that there were
}

func (w *world) open(t *rapid.T) { w.queue = open(t, w.dir, w.disk, 1<<30, 512) }

// append writes an entry, which succeeds.
func (w *world) append(t *rapid.T) {
	p := fmt.Sprintf("%06d %s", w.number, strings.Repeat("y", rapid.IntRange(0, 200).Draw(t, "size")))
	w.number++
	require.NoError(t, w.queue.append(background, []byte(p), 1))
	w.durable = append(w.durable, p)
}

// all reads and acknowledges everything. Entries from before may come again, but nothing else, and
// none may be missing.
func (w *world) all(t *rapid.T) {
	got := rest(t, w.queue)
	require.GreaterOrEqual(t, len(got), len(w.durable))
	require.True(t, slices.Equal(w.durable, got[len(got)-len(w.durable):]), "%q in %q", w.durable, got)
	w.durable = nil
}

// remember keeps a copy of each segment.
func (w *world) remember(t *rapid.T) {
	for _, name := range segmentsIn(t, w.dir) {
		data, err := os.ReadFile(filepath.Join(w.dir, name))
		require.NoError(t, err)
		w.copies[name] = data
	}
}

// back puts a segment into the directory that was removed from it.
func (w *world) back(t *rapid.T) {
	names := []string{}
	for name := range w.copies {
		if !slices.Contains(segmentsIn(t, w.dir), name) {
			names = append(names, name)
		}
	}
	if len(names) > 0 {
		slices.Sort(names)
		name := rapid.SampledFrom(names).Draw(t, "segment")
		require.NoError(t, os.WriteFile(filepath.Join(w.dir, name), w.copies[name], 0o600))
	}
}

// check holds at any time: nothing was damaged here, so nothing may be taken for it.
func (w *world) check(t *rapid.T) {
	used, records := w.queue.state()
	require.EqualValues(t, len(w.durable), records)
	require.Equal(t, diskUsage(t, w.dir), used)
	require.Zero(t, value(t, w.queue.metrics.damage))
	require.Zero(t, value(t, w.queue.metrics.drops))
	require.Empty(t, segmentsIn(t, filepath.Join(w.dir, damagedDir)))
}

// The queue against a model: what was acknowledged comes out, at least once, in order, whatever
// point a crash cuts the files at, whatever the disk refuses to read for a while, and only what was
// appended comes out.
func TestQueueAgainstModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		dir, remove := tempDir(t)
		defer remove()
		w := &world{dir: dir, disk: &brokenDisk{fast: true}, copies: map[string][]byte{}}
		w.open(t)
		defer func() { require.NoError(t, w.queue.close()) }()
		t.Repeat(map[string]func(*rapid.T){
			"append": w.append,
			"append to a full disk": func(t *rapid.T) {
				w.disk.set(func(d *brokenDisk) { d.write, d.partial = errNoSpace, rapid.IntRange(0, 60).Draw(t, "partial") })
				require.Error(t, w.queue.append(background, fmt.Appendf(nil, "%06d never", w.number), 1))
				w.number++
				w.disk.set(func(d *brokenDisk) { d.write = nil })
			},
			"read": func(t *rapid.T) {
				var records int64
				at, n := position{}, 0
				for range rapid.IntRange(1, 4).Draw(t, "batches") {
					b, err := w.queue.readAt(at, int64(rapid.IntRange(1, 600).Draw(t, "bytes")),
						int64(rapid.IntRange(1, 5).Draw(t, "records")))
					require.NoError(t, err)
					require.Equal(t, len(w.durable) == n, len(b.payloads) == 0)
					for i, p := range b.payloads {
						require.Equal(t, w.durable[n+i], string(p))
					}
					at, n, records = b.end, n+len(b.payloads), records+b.records
				}
				if rapid.Bool().Draw(t, "ack") { // of several batches at once, as after some that overtook another
					w.queue.ack(at, records)
					w.durable = w.durable[n:]
				}
			},
			"read while the disk fails": func(t *rapid.T) {
				w.disk.set(func(d *brokenDisk) { d.reading = syscall.EIO })
				b, err := w.queue.read(1000, 1000)
				require.Empty(t, b.payloads)
				require.Equal(t, len(w.durable) > 0, err != nil)
				w.disk.set(func(d *brokenDisk) { d.reading = nil })
			},
			"tidy": func(*rapid.T) { w.queue.tidy() },
			"restart": func(t *rapid.T) {
				require.NoError(t, w.queue.close())
				w.open(t)
			},
			"restart while the disk fails": func(t *rapid.T) {
				require.NoError(t, w.queue.close())
				tear(t, dir)
				w.disk.set(func(d *brokenDisk) { d.reading = syscall.EMFILE })
				w.open(t)
				for range rapid.IntRange(0, 3).Draw(t, "entries") {
					w.append(t)
				}
				_, err := w.queue.read(1000, 1000)
				require.Equal(t, len(segmentsIn(t, dir)) > 0, err != nil)
				w.disk.set(func(d *brokenDisk) { d.reading = nil })
				w.all(t)
			},
			"crash in the middle of a write": func(t *rapid.T) {
				kill(t, w.queue)
				tear(t, dir)
				w.open(t)
				w.all(t)
			},
			"crash before the position and removals are durable": func(t *rapid.T) {
				w.remember(t)
				old, err := os.ReadFile(filepath.Join(dir, positionFile))
				require.NoError(t, err)
				if rapid.Bool().Draw(t, "drained") {
					w.all(t)
				}
				if rapid.Bool().Draw(t, "killed") {
					kill(t, w.queue)
				} else {
					require.NoError(t, w.queue.close())
				}
				if rapid.Bool().Draw(t, "position") {
					require.NoError(t, os.WriteFile(filepath.Join(dir, positionFile), old, 0o600))
				}
				w.back(t)
				w.open(t)
				got := rest(t, w.queue) // in any order: an old position may let numbers begin again
				for _, p := range w.durable {
					require.Contains(t, got, p)
				}
				w.durable = nil
			},
			"position lost": func(t *rapid.T) {
				require.NoError(t, w.queue.close())
				require.NoError(t, os.WriteFile(filepath.Join(dir, positionFile), []byte("rubbish"), 0o600))
				w.open(t)
				w.all(t)
				clear(w.copies) // numbers may begin again
			},
			"": w.check,
		})
		w.all(t)
		w.check(t)
		require.NoError(t, w.queue.close())
		require.Empty(t, segmentsIn(t, dir), "all space is freed")
		w.open(t)
	})
}

// tear puts the beginning of another entry, or rubbish, behind the newest segment.
func tear(t *rapid.T, dir string) {
	files, err := filepath.Glob(filepath.Join(dir, "*.segment"))
	require.NoError(t, err)
	if len(files) == 0 {
		return
	}
	path := files[len(files)-1]
	info, err := os.Stat(path)
	require.NoError(t, err)
	number, _ := segmentNumber(path)
	entry := appendEntry(nil, []byte("never acknowledged"), 1)
	seal(entry, number, info.Size())
	tail := slices.Concat(entry[:rapid.IntRange(0, len(entry)-1).Draw(t, "cut")],
		make([]byte, rapid.IntRange(0, 20).Draw(t, "zeros")))
	if rapid.Bool().Draw(t, "rubbish") {
		tail = rapid.SliceOfN(rapid.Byte(), 0, 100).Draw(t, "tail")
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = f.Write(tail)
	require.NoError(t, err)
	require.NoError(t, f.Close())
}

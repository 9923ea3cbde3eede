package spool

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOrderAndRestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	q := open(t, dir, realDisk{}, 1<<30, 4<<10)
	var want []string
	for i := range 500 {
		want = append(want, fmt.Sprintf("payload %d %s", i, strings.Repeat("x", i%100)))
		require.NoError(t, q.append(background, []byte(want[i]), 2))
	}
	_, records := q.state()
	require.EqualValues(t, 1000, records)
	require.NoError(t, q.close())

	q = open(t, dir, realDisk{}, 1<<30, 4<<10)
	_, records = q.state()
	require.EqualValues(t, 1000, records)
	b, err := q.read(1000, 20)
	require.NoError(t, err)
	require.NotEmpty(t, b.payloads)
	require.LessOrEqual(t, b.records, int64(20))
	q.ack(b.end, b.records)
	require.NoError(t, q.close()) // the rest is unread, and what was acknowledged does not come again
	q = open(t, dir, realDisk{}, 1<<30, 4<<10)
	require.Equal(t, want[len(b.payloads):], rest(t, q))
	used, records := q.state()
	require.Zero(t, records)
	require.Less(t, used, int64(8<<10), "space of sent entries is freed")
	require.NoError(t, q.close())
	files, err := filepath.Glob(filepath.Join(dir, "*.segment"))
	require.NoError(t, err)
	require.Empty(t, files)
}

func TestOneDirectoryOneProcess(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	q := open(t, dir, realDisk{}, 1<<30, 1<<20)
	_, err := openQueue(dir, 1<<30, 1<<20, realDisk{}, nil, newTestMetrics(t))
	require.ErrorContains(t, err, "another process")
	require.NoError(t, q.close())
	require.ErrorIs(t, q.append(background, []byte("x"), 1), errClosed)
	require.NoError(t, open(t, dir, realDisk{}, 1<<30, 1<<20).close())
}

func TestBounded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const limit = 64 << 10
	q := open(t, dir, realDisk{}, limit, 8<<10)
	payload := make([]byte, 1000)
	n := 0
	for ; ; n++ {
		if err := q.append(background, payload, 1); err != nil {
			require.ErrorIs(t, err, ErrFull)
			break
		}
	}
	require.Greater(t, n, 55)
	require.LessOrEqual(t, diskUsage(t, dir), int64(limit))
	b, err := q.read(20<<10, 1000)
	require.NoError(t, err)
	q.ack(b.end, b.records)
	b, err = q.read(20<<10, 1000)
	require.NoError(t, err)
	q.ack(b.end, b.records)
	require.NoError(t, q.append(background, payload, 1), "space is freed while it is drained")
	rest(t, q)
	require.NoError(t, q.close())
}

func diskUsage(t fataler, dir string) (size int64) {
	files, err := filepath.Glob(filepath.Join(dir, "*.segment"))
	require.NoError(t, err)
	for _, f := range files {
		info, err := os.Stat(f)
		require.NoError(t, err)
		size += info.Size()
	}
	return size
}

func TestManyWritersShareOneSync(t *testing.T) {
	t.Parallel()
	d := &brokenDisk{slow: true}
	q := open(t, t.TempDir(), d, 1<<30, 1<<30)
	const writers, each = 64, 20
	var wg sync.WaitGroup
	errs := make(chan error, writers*each)
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				errs <- q.append(background, fmt.Appendf(nil, "%d %d", w, i), 1)
			}
		})
	}
	wg.Wait()
	close(errs)
	for err := range errs {
		require.NoError(t, err)
	}
	require.Less(t, d.syncs, writers*each/2)
	next := map[string]int{}
	for _, p := range rest(t, q) {
		writer, number, _ := strings.Cut(p, " ")
		require.Equal(t, fmt.Sprint(next[writer]), number, "order of one writer")
		next[writer]++
	}
	require.Len(t, next, writers)
	require.NoError(t, q.close())
}

// A disk that is full, or fails, refuses; nothing half-written is read, now or after a restart.
func TestDiskRefuses(t *testing.T) {
	t.Parallel()
	for name, broken := range map[string]func(*brokenDisk){
		"no space":                 func(d *brokenDisk) { d.write, d.partial = errNoSpace, 20 },
		"no space, not cut either": func(d *brokenDisk) { d.write, d.partial, d.truncate = errNoSpace, 20, errNoSpace },
		"sync fails":               func(d *brokenDisk) { d.sync = errNoSpace },
		"no new file":              func(d *brokenDisk) { d.write, d.creation = errNoSpace, errNoSpace },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, dir := &brokenDisk{}, t.TempDir()
			q := open(t, dir, d, 1<<30, 1<<20)
			require.NoError(t, q.append(background, []byte("before"), 1))
			used, _ := q.state()
			d.set(broken)
			for range 3 {
				err := q.append(background, []byte("refused, whatever it is"), 1)
				require.ErrorIs(t, err, ErrUnwritable)
				require.ErrorIs(t, err, errNoSpace)
			}
			now, records := q.state()
			require.Equal(t, used, now)
			require.EqualValues(t, 1, records)
			d.set(func(d *brokenDisk) { d.creation, d.write, d.sync, d.truncate = nil, nil, nil, nil })
			require.NoError(t, q.append(background, []byte("after"), 1))
			require.NoError(t, q.close())
			q = open(t, dir, realDisk{}, 1<<30, 1<<20)
			require.Equal(t, []string{"before", "after"}, rest(t, q))
			require.NoError(t, q.close())
		})
	}
}

func TestRetriesEndWithTheContext(t *testing.T) {
	t.Parallel()
	q := open(t, t.TempDir(), realDisk{}, 1<<30, 1<<20)
	ctx, cancel := context.WithCancel(background)
	cancel()
	if err := q.append(ctx, []byte("x"), 1); err != nil {
		require.ErrorIs(t, err, context.Canceled)
	}
	require.NoError(t, q.close())
}

func TestDamageInTheMiddleCostsWhatItHit(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	q := open(t, dir, realDisk{}, 1<<30, 200)
	for i := range 30 {
		require.NoError(t, q.append(background, fmt.Appendf(nil, "payload %02d", i), 1))
	}
	require.NoError(t, q.close())
	files, err := filepath.Glob(filepath.Join(dir, "*.segment"))
	require.NoError(t, err)
	require.Greater(t, len(files), 2)
	data, err := os.ReadFile(files[0])
	require.NoError(t, err)
	at := strings.Index(string(data), "payload 02")
	data[at] ^= 1
	require.NoError(t, os.WriteFile(files[0], data, 0o600))
	q = open(t, dir, realDisk{}, 1<<30, 200)
	got := rest(t, q)
	require.Len(t, got, 29)
	require.NotContains(t, got, "payload 02")
	require.Equal(t, 1, int(value(t, q.metrics.drops)))
	require.True(t, slices.IsSorted(got))
	require.NoError(t, q.close())
	moved, err := os.ReadFile(filepath.Join(dir, damagedDir, filepath.Base(files[0])))
	require.NoError(t, err)
	require.Equal(t, data, moved)
}

// A segment that holds nothing but rubbish is set aside, and counted.
func TestRubbishIsCounted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	q := open(t, dir, realDisk{}, 1<<30, 200)
	for i := range 30 {
		require.NoError(t, q.append(background, fmt.Appendf(nil, "payload %02d", i), 1))
	}
	require.NoError(t, q.close())
	files, err := filepath.Glob(filepath.Join(dir, "*.segment"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(files[1], bytes.Repeat([]byte("x"), 200), 0o600))
	q = open(t, dir, realDisk{}, 1<<30, 200)
	got := rest(t, q)
	require.Less(t, len(got), 30)
	require.Contains(t, got, "payload 00")
	require.Contains(t, got, "payload 29")
	require.Equal(t, 1, int(value(t, q.metrics.drops)))
	require.Equal(t, 1, int(q.aside.Load()))
	require.NoError(t, q.close())
}

// Damage that happens while the process runs is found when it is read.
func TestDamageWhileRunning(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	q := open(t, dir, realDisk{}, 1<<30, 1<<20)
	for i := range 5 {
		require.NoError(t, q.append(background, fmt.Appendf(nil, "payload %d", i), 1))
	}
	path := q.path(1)
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = f.WriteAt([]byte("!"), int64(strings.Index(string(data), "payload 3")))
	require.NoError(t, err)
	require.NoError(t, f.Close())
	require.Equal(t, []string{"payload 0", "payload 1", "payload 2", "payload 4"}, rest(t, q))
	require.Equal(t, 1, int(value(t, q.metrics.drops)))
	_, records := q.state()
	require.Zero(t, records)
	require.NoError(t, q.close())
	require.FileExists(t, filepath.Join(dir, damagedDir, filepath.Base(path)))
}

func TestLaterFormatIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, segmentName(1)), []byte("LODSPL\x00\x02...."), 0o600))
	_, err := openQueue(dir, 1<<30, 1<<20, realDisk{}, nil, newTestMetrics(t))
	require.ErrorContains(t, err, "later release")
	require.FileExists(t, filepath.Join(dir, segmentName(1)))
}

// Every place that a crash can cut the newest file at: complete entries before it stay.
func TestCutAtEveryByte(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	q := open(t, dir, realDisk{}, 1<<30, 1<<20)
	ends := []int64{segmentHeader}
	const entries = 2
	for i := range entries {
		require.NoError(t, q.append(background, fmt.Appendf(nil, "p%d", i), 1))
		ends = append(ends, q.segments[0].size)
	}
	data, err := os.ReadFile(q.path(1))
	require.NoError(t, err)
	require.NoError(t, q.close())
	for cut := range len(data) + 1 {
		complete := 0
		for complete < entries && ends[complete+1] <= int64(cut) {
			complete++
		}
		for _, tail := range []string{"", "\x00\x00\x00"} {
			copied := t.TempDir()
			require.NoError(t, os.WriteFile(filepath.Join(copied, segmentName(1)), append(data[:cut:cut], tail...), 0o600))
			q := open(t, copied, realDisk{}, 1<<30, 1<<20)
			require.NoError(t, q.append(background, []byte("new"), 1))
			got := rest(t, q)
			require.Len(t, got, complete+1, cut)
			require.Equal(t, "new", got[complete])
			require.NoError(t, q.close())
		}
	}
}

// FuzzRecovery: any bytes are recovered from, and what is read was an entry of the file.
func FuzzRecovery(f *testing.F) {
	sound := newSegmentHeader(1)
	for _, p := range []string{"one", "", "three"} {
		entry := appendEntry(nil, []byte(p), 1)
		seal(entry, 1, int64(len(sound)))
		sound = append(sound, entry...)
	}
	f.Add(sound, true)
	f.Add(sound[:len(sound)-1], true)
	f.Add(append(slices.Clone(sound), sound...), false)
	f.Add([]byte{}, false)
	f.Add([]byte(magic), true)
	f.Fuzz(func(t *testing.T, data []byte, newest bool) {
		entries, damage := scan(data, 1)
		covered := int64(0)
		if len(damage) == 0 || damage[0].from > 0 {
			covered = int64(min(segmentHeader, len(data))) // of a sound header
		}
		for _, s := range slices.Concat(entries, damage) {
			covered += s.to - s.from
		}
		require.Equal(t, int64(len(data)), covered, "every byte belongs somewhere")
		if laterFormat(data) {
			return
		}
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, segmentName(1)), data, 0o600))
		if !newest {
			require.NoError(t, os.WriteFile(filepath.Join(dir, segmentName(2)), newSegmentHeader(2), 0o600))
		}
		q := open(t, dir, &brokenDisk{fast: true}, 1<<40, 1<<20)
		require.NoError(t, q.append(background, []byte("new"), 1))
		got := rest(t, q)
		require.Len(t, got, len(entries)+1)
		for i, e := range entries {
			require.Equal(t, string(data[e.from+entryHeader:e.to]), got[i])
		}
		require.NoError(t, q.close())
	})
}

func TestPositionSurvivesATornSlot(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), positionFile)
	b, p, err := openBookmark(path)
	require.NoError(t, err)
	require.Zero(t, p)
	require.NoError(t, b.write(position{1, 100}))
	require.NoError(t, b.write(position{2, 200}))
	require.NoError(t, b.close())
	for slot, want := range map[int64]position{0: {1, 100}, 1: {2, 200}} { // the second write went to slot 0
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		damaged := slices.Clone(data)
		damaged[slot*slotBytes+9] ^= 1
		require.NoError(t, os.WriteFile(path, damaged, 0o600))
		b, p, err := openBookmark(path)
		require.NoError(t, err)
		require.Equal(t, want, p)
		require.NoError(t, b.close())
		require.NoError(t, os.WriteFile(path, data, 0o600))
	}
}

// BenchmarkAppend shows what sharing an fsync gives: time an append, by number of writers.
func BenchmarkAppend(b *testing.B) {
	payload := make([]byte, 330)
	for _, writers := range []int{1, 8, 64, 512} {
		b.Run(fmt.Sprintf("writers=%d", writers), func(b *testing.B) {
			d := &brokenDisk{}
			q := open(b, b.TempDir(), d, 1<<40, 64<<20)
			b.SetParallelism(writers / 2) // times the number of processors
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if err := q.append(background, payload, 1); err != nil {
						b.Error(err)
					}
				}
			})
			b.StopTimer()
			b.ReportMetric(float64(b.N)/float64(d.syncs), "appends/fsync")
			if err := q.close(); err != nil {
				b.Error(err)
			}
		})
	}
}

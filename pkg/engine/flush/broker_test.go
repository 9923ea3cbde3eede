package flush

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
)

func startBroker(t *testing.T, dir string, options ...kfake.Opt) *kfake.Cluster {
	t.Helper()
	c, err := kfake.NewCluster(append(options, kfake.NumBrokers(1), kfake.DataDir(dir), kfake.SeedTopics(4, "events"),
		kfake.BrokerConfigs(map[string]string{"log.segment.bytes": "20000"}))...)
	require.NoError(t, err)
	return c
}

func client(t *testing.T, c *kfake.Cluster, options ...kgo.Opt) *kgo.Client {
	t.Helper()
	k, err := kgo.NewClient(append(options, kgo.SeedBrokers(c.ListenAddrs()...))...)
	require.NoError(t, err)
	t.Cleanup(k.Close)
	return k
}

// place is where a record is in the log.
type place struct {
	partition int32
	offset    int64
}

// heard holds the records that clients received.
type heard struct {
	mu      sync.Mutex
	records map[place]string
}

func (h *heard) add(r *kgo.Record) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.records[place{r.Partition, r.Offset}] = string(r.Value)
}

// TestPowerLossTakesNothingThatClientsHeardOf takes away, again and again while records are written
// and read, all that was never synced, and looks at what is left.
func TestPowerLossTakesNothingThatClientsHeardOf(t *testing.T) {
	t.Parallel()
	f, d, dir := newFlusher(t)
	c := startBroker(t, dir, kfake.ListenFn(f.Listen))
	defer c.Close()
	ctx, cancel := context.WithCancel(t.Context())
	seen := &heard{records: map[place]string{}}
	acknowledged := make(chan struct{})
	var all sync.WaitGroup
	for writer := range 4 {
		k := client(t, c, kgo.DefaultProduceTopic("events"), kgo.ProducerBatchCompression(kgo.NoCompression()))
		all.Go(func() {
			for n := 0; ; n++ {
				value := fmt.Appendf(make([]byte, 0, 300), "%d of %d %0200d", n, writer, n)
				r := &kgo.Record{Key: fmt.Append(nil, n), Value: value}
				if k.ProduceSync(ctx, r).FirstErr() != nil {
					return
				}
				seen.add(r)
				select {
				case acknowledged <- struct{}{}:
				case <-ctx.Done():
					return
				}
			}
		})
	}
	reader := client(t, c, kgo.ConsumeTopics("events"), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	all.Go(func() {
		for ctx.Err() == nil {
			reader.PollFetches(ctx).EachRecord(seen.add)
		}
	})
	for range 3 {
		for range 100 {
			<-acknowledged
		}
		seen.mu.Lock()
		before := maps.Clone(seen.records)
		seen.mu.Unlock()
		left := d.afterPowerLoss(t, dir)
		require.Equal(t, len(before), found(t, left, before))
	}
	cancel()
	all.Wait()
}

// afterPowerLoss returns a copy of the directory with what was synced.
func (d *disk) afterPowerLoss(t *testing.T, dir string) string {
	t.Helper()
	d.mu.Lock()
	defer d.mu.Unlock()
	left := t.TempDir()
	require.NoError(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if kind := filepath.Ext(path); kind != ".json" { // those the broker syncs itself
			size, ok := d.safe[path]
			if !ok {
				return nil
			}
			text = text[:size]
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		if err := os.MkdirAll(filepath.Dir(filepath.Join(left, name)), 0o700); err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(left, name), text, 0o600)
	}))
	return left
}

// found returns how many of the records are in the log of a directory, each in its place.
func found(t *testing.T, dir string, want map[place]string) int {
	t.Helper()
	c := startBroker(t, dir)
	defer c.Close()
	k := client(t, c, kgo.ConsumeTopics("events"), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	left := map[int32]int64{} // where each partition has to be read to
	for at := range want {
		left[at.partition] = max(left[at.partition], at.offset+1)
	}
	for p, end := range left {
		require.GreaterOrEqual(t, c.PartitionInfo("events", p).HighWatermark, end, "partition %d", p)
	}
	n := 0
	for len(left) > 0 {
		fetches := k.PollFetches(t.Context())
		require.NoError(t, fetches.Err())
		fetches.EachRecord(func(r *kgo.Record) {
			at := place{r.Partition, r.Offset}
			if value, ok := want[at]; ok {
				require.Equal(t, value, string(r.Value), "%v", at)
				n++
			}
			if r.Offset+1 >= left[r.Partition] {
				delete(left, r.Partition)
			}
		})
	}
	return n
}

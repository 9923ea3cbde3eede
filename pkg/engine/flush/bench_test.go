package flush

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
)

// BenchmarkFlush measures a round after some of a log's 24 partitions have grown, on the machine's
// own disk. With none it measures the look at the files alone.
func BenchmarkFlush(b *testing.B) {
	const partitions = 24
	for _, grown := range []int{0, 1, 6, partitions} {
		b.Run(fmt.Sprintf("grown=%d", grown), func(b *testing.B) {
			dir := b.TempDir()
			f := New(dir)
			defer func() { require.NoError(b, f.Close()) }()
			files := make([]*os.File, partitions)
			for i := range files {
				folder := filepath.Join(dir, "partitions", fmt.Sprintf("events-%d", i))
				require.NoError(b, os.MkdirAll(folder, 0o700))
				var err error
				files[i], err = os.OpenFile(filepath.Join(folder, "0.dat"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
				require.NoError(b, err)
				defer func() { require.NoError(b, files[i].Close()) }()
			}
			records := make([]byte, 4<<10)
			require.NoError(b, f.Flush())
			b.ReportAllocs()
			for b.Loop() {
				for _, file := range files[:grown] {
					_, err := file.Write(records)
					require.NoError(b, err)
				}
				require.NoError(b, f.Flush())
			}
		})
	}
}

// BenchmarkProduce compares the two ways to sync the embedded broker before it answers: the rate at
// which 64 senders of one producer get 100 records each acknowledged, on four partitions.
func BenchmarkProduce(b *testing.B) {
	const senders, records = 64, 100
	for _, way := range []string{"flush", "SyncWrites"} {
		b.Run(way, func(b *testing.B) {
			dir := filepath.Join(b.TempDir(), "log")
			f := New(dir)
			defer func() { require.NoError(b, f.Close()) }()
			option := kfake.ListenFn(f.Listen)
			if way == "SyncWrites" {
				option = kfake.SyncWrites()
			}
			c, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.DataDir(dir), kfake.SeedTopics(4, "events"), option)
			require.NoError(b, err)
			defer c.Close()
			k, err := kgo.NewClient(kgo.SeedBrokers(c.ListenAddrs()...), kgo.DefaultProduceTopic("events"))
			require.NoError(b, err)
			defer k.Close()
			var left atomic.Int64
			left.Store(int64(b.N))
			var all sync.WaitGroup
			b.ResetTimer()
			for range senders {
				all.Go(func() {
					for left.Add(-records) > -records {
						batch := make([]*kgo.Record, records)
						for i := range batch {
							batch[i] = &kgo.Record{Key: fmt.Append(nil, i), Value: make([]byte, 180)}
						}
						if err := k.ProduceSync(context.Background(), batch...).FirstErr(); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			all.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "records/s")
		})
	}
}

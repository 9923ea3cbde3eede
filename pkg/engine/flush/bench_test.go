package flush

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// BenchmarkFlush is a round in which so many of a log's 24 partitions have grown, on the machine's own disk. With none it
// is what looking at the files takes.
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

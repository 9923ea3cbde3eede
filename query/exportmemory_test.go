//go:build long

package query_test

import (
	"io"
	"runtime"
	"runtime/metrics"
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/query/querytest"
)

// liveHeap returns how many bytes of the heap of this process are in use.
func liveHeap() int64 {
	runtime.GC()
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	return int64(live[0].Value.Uint64())
}

// An export passes through the process: while a slow client reads a file, little of it is in
// memory.
func TestExportTakesLittleMemoryOfTheProcess(t *testing.T) {
	const (
		rows   = 1_000_000
		mebi   = 1 << 20
		bound  = 8 * mebi
		chunk  = 64 << 10
		sample = 4 * mebi // read between two measurements
	)
	s := serveExports(t)
	account := querytest.ID(t)
	querytest.Fill(t, querytest.Conn(t), account, 1000, rows)
	for format, size := range map[string]int64{"csv": 100 * mebi, "ndjson": 200 * mebi, "parquet": 20 * mebi} {
		rest := liveHeap()
		got := s.stalled(account, format)
		var read, next, highest int64
		var err error
		for buffer := make([]byte, chunk); err == nil; {
			var n int
			n, err = got.Body.Read(buffer)
			if read += int64(n); read >= next {
				highest, next = max(highest, liveHeap()-rest), read+sample
			}
		}
		require.ErrorIs(t, err, io.EOF, format)
		require.Greater(t, read, size, format)
		require.Less(t, highest, int64(bound), format)
	}
}

package collector_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/ingest/collector"
)

// Every visitor of others' pages loads it: it has to fit into one packet.
func TestBudget(t *testing.T) {
	t.Parallel()
	script, err := collector.LoadBeacon()
	require.NoError(t, err)
	plain, coding := script.Encode("")
	require.Empty(t, coding)
	for _, coding := range []string{"gzip", "br"} {
		packed, got := script.Encode(coding)
		require.Equal(t, coding, got)
		require.Less(t, len(packed), 1000, "bytes, compressed")
	}

	packed, _ := script.Encode("gzip")
	r, err := gzip.NewReader(bytes.NewReader(packed))
	require.NoError(t, err)
	unpacked, err := io.ReadAll(r)
	require.NoError(t, err)
	require.Equal(t, string(plain), string(unpacked))
}

// What it must not use cannot be in it.
func TestStoresNothing(t *testing.T) {
	t.Parallel()
	script, err := collector.LoadBeacon()
	require.NoError(t, err)
	plain, _ := script.Encode("")
	for _, word := range []string{"cookie", "localStorage", "sessionStorage", "indexedDB", "caches", "eval", "innerHTML"} {
		require.NotContains(t, string(plain), word)
	}
}

package beacon_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/ingest/beacon"
)

// Every visitor of others' pages loads it: it has to fit into one packet.
func TestBudget(t *testing.T) {
	t.Parallel()
	script, err := beacon.Load()
	require.NoError(t, err)
	require.Less(t, len(script.Gzipped), 1000, "bytes, compressed")

	r, err := gzip.NewReader(bytes.NewReader(script.Gzipped))
	require.NoError(t, err)
	plain, err := io.ReadAll(r)
	require.NoError(t, err)
	require.Equal(t, script.Plain, plain)
	require.Regexp(t, `^W/"[A-Za-z0-9_-]{16}"$`, script.ETag)
}

// What it must not use cannot be in it.
func TestStoresNothing(t *testing.T) {
	t.Parallel()
	script, err := beacon.Load()
	require.NoError(t, err)
	for _, word := range []string{"cookie", "localStorage", "sessionStorage", "indexedDB", "caches", "eval", "innerHTML"} {
		require.NotContains(t, string(script.Plain), word)
	}
}

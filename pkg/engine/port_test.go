package engine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/engine"
)

func TestNoPortIsGivenTwice(t *testing.T) {
	t.Parallel()
	given := map[int]bool{}
	for range 100 {
		port, err := engine.FreePort()
		require.NoError(t, err)
		require.False(t, given[port], port)
		given[port] = true
	}
}

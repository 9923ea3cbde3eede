package consumer

import (
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"
)

// Each partition has a window of repeats, so a limit of memory for few of them would be met by what
// lives.
func TestTheMemoryLimitFollowsThePartitions(t *testing.T) {
	none := debug.SetMemoryLimit(-1)
	defer debug.SetMemoryLimit(none)
	c := Config{BufferBytes: 96 << 20}
	followMemory(c, 0, 300)
	require.Equal(t, none, debug.SetMemoryLimit(-1), "the limit of another is left alone")
	debug.SetMemoryLimit(memoryLimit(c, 0))
	followMemory(c, 0, 24)
	require.EqualValues(t, 208<<20, debug.SetMemoryLimit(-1))
	followMemory(c, 24, 324)
	require.EqualValues(t, 958<<20, debug.SetMemoryLimit(-1))
	followMemory(c, 324, 0)
	require.EqualValues(t, 208<<20, debug.SetMemoryLimit(-1))
}

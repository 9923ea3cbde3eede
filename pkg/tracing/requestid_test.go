package tracing_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/tracing"
)

func TestValid(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"a", "abc-1.2_3", "hello-123", strings.Repeat("Z", tracing.MaxRequestID)} {
		require.True(t, tracing.ValidRequestID(id), id)
		require.True(t, tracing.ValidRequestID([]byte(id)), id)
	}
	for _, id := range []string{"", "with space", "ü", "quote\"", "line\nbreak",
		strings.Repeat("x", tracing.MaxRequestID+1)} {
		require.False(t, tracing.ValidRequestID(id), id)
	}
}

package requestid_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/requestid"
)

func TestValid(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"a", "abc-1.2_3", "hello-123", strings.Repeat("Z", requestid.MaxLength)} {
		require.True(t, requestid.Valid(id), id)
		require.True(t, requestid.Valid([]byte(id)), id)
	}
	for _, id := range []string{"", "with space", "ü", "quote\"", "line\nbreak", strings.Repeat("x", requestid.MaxLength+1)} {
		require.False(t, requestid.Valid(id), id)
	}
}

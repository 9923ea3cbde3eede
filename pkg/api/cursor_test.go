package api_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/api"
	"lodestone/pkg/problem"
)

func TestCursor(t *testing.T) {
	t.Parallel()
	type position struct {
		At int64  `json:"a"`
		ID string `json:"i"`
	}
	c, err := api.EncodeCursor(position{5, "x"})
	require.NoError(t, err)
	var p position
	require.NoError(t, api.DecodeCursor(c, &p))
	require.Equal(t, position{5, "x"}, p)
	for _, bad := range []string{"x", c + "=", c[:len(c)-2], "e30K", "!!!", "eyJiIjoxfQ"} {
		if err := api.DecodeCursor(bad, &position{}); bad != "e30K" {
			require.True(t, problem.Is(err, problem.InvalidParameter), bad)
		}
	}
}

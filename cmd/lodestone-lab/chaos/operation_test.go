package chaos

import (
	"os/exec"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// The first upgrade has to have something to apply; after it and a rollback, the schema is there.
func TestAnUpgradeHasSomethingToApply(t *testing.T) {
	t.Parallel()
	ended := func(code int) error {
		return exec.CommandContext(t.Context(), "sh", "-c", "exit "+strconv.Itoa(code)).Run()
	}
	first, later := &operations{}, &operations{migrated: true}
	require.NoError(t, first.checked(ended(3)))
	require.ErrorContains(t, first.checked(ended(0)), "has the schema of this one")
	require.NoError(t, later.checked(ended(0)))
	for _, code := range []int{1, 2, 4} {
		require.ErrorContains(t, first.checked(ended(code)), "would have to stop")
		require.ErrorContains(t, later.checked(ended(code)), "would have to stop")
	}
}

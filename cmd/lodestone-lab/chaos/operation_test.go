package chaos

import (
	"os/exec"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// The first upgrade has to apply what the release before lacks, and nothing else. After it and a rollback, the schema is there.
func TestAnUpgradeAppliesWhatIsLacking(t *testing.T) {
	t.Parallel()
	ended := func(code int) error {
		return exec.CommandContext(t.Context(), "sh", "-c", "exit "+strconv.Itoa(code)).Run()
	}
	first, equal, later := &operations{migrates: true}, &operations{}, &operations{migrates: true, migrated: true}
	require.NoError(t, first.checked(ended(3)))
	require.ErrorContains(t, first.checked(ended(0)), "reports nothing")
	require.NoError(t, equal.checked(ended(0)))
	require.ErrorContains(t, equal.checked(ended(3)), "reports migrations")
	require.NoError(t, later.checked(ended(0)))
	for _, code := range []int{1, 2, 4} {
		for _, o := range []*operations{first, equal, later} {
			require.ErrorContains(t, o.checked(ended(code)), "would have to stop")
		}
	}
}

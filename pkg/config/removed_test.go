package config_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/config"
)

func TestARemovedSettingIsNamedWithARemedy(t *testing.T) {
	t.Parallel()
	nothing := func(string) string { return "" }
	require.Empty(t, config.Removed([]string{"query", "--postgres-read-urls"}, nothing))
	for _, args := range [][]string{{"query", "--postgres-read-url", "x"}, {"query", "--postgres-read-url=x"}} {
		problems := config.Removed(args, nothing)
		require.Len(t, problems, 1)
		require.EqualError(t, problems[0],
			"--postgres-read-url (LODESTONE_POSTGRES_READ_URL) was removed: leave it out: Postgres at --postgres-url answers every read")
	}
	for _, variable := range []string{"LODESTONE_CONSUMER_BLOCK_AGE", "LODESTONE_POSTGRES_READ_URL_FILE"} {
		require.Len(t, config.Removed(nil, func(name string) string {
			if name == variable {
				return "x"
			}
			return ""
		}), 1, variable)
	}
}

func TestARemovedCommandIsNamedWithARemedy(t *testing.T) {
	t.Parallel()
	require.NoError(t, config.RemovedCommand([]string{"export", "daily", "--erase"}))
	require.EqualError(t, config.RemovedCommand([]string{"erase", "ada@example.com"}),
		"lodestone erase was removed: ask the API for POST /api/v1/people/erase (docs/privacy.md)")
}

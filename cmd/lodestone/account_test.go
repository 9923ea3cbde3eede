package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/test/enginetest"
)

func TestAccountAndKeyCommands(t *testing.T) {
	t.Parallel()
	url := enginetest.MigratedPostgresURL(t)
	dir := t.TempDir()
	run := func(code int, args ...string) string {
		t.Helper()
		p := launch(t, dir, []string{"LODESTONE_POSTGRES_URL=" + url}, args...)
		require.Equal(t, code, p.wait(), "%s", p.out)
		return p.out.String()
	}

	id := strings.TrimSpace(run(0, "account", "create", "--name", "Ada & Co", "--plan", "pro"))
	run(0, "account", "create", "--name", "evil \x1b[2J\tname")
	list := strings.Split(strings.TrimSpace(run(0, "account", "list")), "\n")
	require.Len(t, list, 3)
	require.Regexp(t, `^ID +PLAN +CREATED +NAME$`, list[0])
	require.Regexp(t, `^`+id+`  pro   20\d\d-\d\d-\d\dT\S+Z  Ada & Co$`, list[1])
	require.Contains(t, list[2], `  free  `)
	require.Contains(t, list[2], `"evil \x1b[2J\tname"`)

	run(0, "account", "change", id, "--plan", "team")
	require.Contains(t, run(0, "account", "list"), "  team  ")
	run(0, "account", "change", id, "--plan", "free", "--name", " Ada Ltd ")
	require.Regexp(t, id+`  free  20\d\d-\d\d-\d\dT\S+Z  Ada Ltd\n`, run(0, "account", "list"))
	run(exitSettings, "account", "change", id)
	run(exitSettings, "account", "change", id, "--name", " ")
	run(exitSettings, "account", "change", id, "--plan", "gold")
	require.Contains(t, run(exitFailed, "account", "change", "01a1fe16-8650-7402-b125-897c852647cf", "--plan", "pro"),
		"account list")

	printed := run(0, "key", "create", "--account", id, "--scopes", "read,leads", "--expires", "720h", "--name", "report")
	parts := regexp.MustCompile(`(?s)^id: +([0-9a-f-]{36})\nkey: (lsk_\w{38})\n$`).FindStringSubmatch(printed)
	require.NotNil(t, parts, printed)
	keys := strings.Split(strings.TrimSpace(run(0, "key", "list", "--account", id)), "\n")
	require.Len(t, keys, 2)
	require.Regexp(t, `^`+parts[1]+`  `+parts[2][:12]+`…  read,leads +20\S+Z  - +20\S+Z  - +report$`, keys[1])
	require.NotContains(t, keys[1], parts[2])
	run(0, "key", "revoke", parts[1])
	run(0, "key", "revoke", parts[1])
	require.Regexp(t, `20\S+Z  - +20\S+Z  20\S+Z  report`, run(0, "key", "list", "--account", id))

	const unknown = "01a1fe16-8650-7402-b125-897c852647cf"
	require.Contains(t, run(exitFailed, "key", "list", "--account", unknown), "account list")
	require.Contains(t, run(exitFailed, "key", "create", "--account", unknown), "account create")
	require.Contains(t, run(exitFailed, "key", "revoke", unknown), "key list")
	run(exitSettings, "account", "create", "--name", "x", "--plan", "gold")
	run(exitSettings, "key", "create", "--account", id, "--scope", "admin")
	run(exitSettings, "key", "create", "--account", id, "--expires", "tomorrow")
	run(exitSettings, "key", "create", "--account", id, "--expires", "2020-01-01")
	run(exitSettings, "key", "list", "--account", "nonsense")
}

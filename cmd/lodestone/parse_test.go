package main

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/config"
	"lodestone/pkg/test/enginetest"
	"lodestone/pkg/token"
)

// Every setting that cannot be used is named, each once, whatever is wrong with it.
func TestEveryProblemOfTheSettingsIsNamedAtOnce(t *testing.T) {
	t.Parallel()
	p := launch(t, t.TempDir(), []string{"LODESTONE_TOKEN_KEYS=1:x", "LODESTONE_TOKEN_KEYS_FILE=keys",
		"LODESTONE_POSTGRES_READ_URL=x"},
		"collector", "--log-level", "LOUD", "--collector-ack-timeout=5", "--kafka-brokers", "127.0.0.1:1")
	require.Equal(t, exitSettings, p.wait())
	out := p.out.String()
	for _, want := range []string{
		"--log-level (LODESTONE_LOG_LEVEL) cannot be read: give DEBUG, INFO, WARN or ERROR",
		"--collector-ack-timeout (LODESTONE_COLLECTOR_ACK_TIMEOUT) cannot be read: write a duration with its unit",
		"--token-keys (LODESTONE_TOKEN_KEYS) is given twice",
		"--postgres-read-url (LODESTONE_POSTGRES_READ_URL) was removed",
		"--postgres-url (LODESTONE_POSTGRES_URL) is missing",
	} {
		require.Contains(t, out, want)
	}
	require.NotContains(t, out, "--kafka-brokers (", "it was given")
	require.NotContains(t, out, "slog:")
}

// Of a process' settings without a default, those that it needs are missing; nothing is wrong with
// the others.
func TestDefaultsAreValid(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"collector", "consumer", "query", "crud", "up"} {
		_, err := parse([]string{name})
		for _, p := range config.Problems(err) {
			require.Equal(t, "is missing", p.Wrong, "%v", p)
		}
	}
}

func TestNoCommandHasARemovedSetting(t *testing.T) {
	t.Parallel()
	nothing := func(string) string { return "" }
	parser, err := newParser(&commands{}, &config.Files{Getenv: nothing})
	require.NoError(t, err)
	require.NoError(t, kong.Visit(parser.Model, func(n kong.Visitable, next kong.Next) error {
		if f, ok := n.(*kong.Flag); ok {
			require.Empty(t, config.Removed([]string{"--" + f.Name}, nothing))
		}
		return next(nil)
	}))
}

func TestWaysToAskForHelpAndVersion(t *testing.T) {
	t.Parallel()
	for args, says := range map[[2]string]string{
		{"--version"}: "lodestone devel", {"-v"}: "lodestone devel", {"version"}: "lodestone devel",
		{"help"}: "Run it:", {"help", "verify"}: "--consumer-group", {"up", "--help"}: "Site and API:",
	} {
		given := []string{args[0]}
		if args[1] != "" {
			given = append(given, args[1])
		}
		p := launch(t, t.TempDir(), nil, given...)
		require.Zero(t, p.wait(), args)
		require.Contains(t, p.out.String(), says, args)
		require.NotContains(t, p.out.String(), ",...,...", args)
	}
}

// What `lodestone up` tells to try next works where its data are elsewhere.
func TestHintsNameTheDataDirectory(t *testing.T) {
	t.Parallel()
	for env, want := range map[string]string{
		"data/lodestone.env":         "",
		"../data/lodestone.env":      " --data ../data",
		"/srv/my data/lodestone.env": " --data '/srv/my data'",
	} {
		require.Equal(t, want, dataFlag(env))
	}
}

// A misspelt variable is named, since a setting that was meant to have an effect has none.
func TestUnknownVariablesAreNamed(t *testing.T) {
	t.Parallel()
	p := launch(t, t.TempDir(), []string{"LODESTONE_RETENTION_MONTH=3", "LODESTONE_API_KEY=x",
		"LODESTONE_POSTGRES_URL_FILE=x"}, "version")
	require.Zero(t, p.wait())
	require.Contains(t, p.out.String(), "LODESTONE_RETENTION_MONTH\n")
}

// What confirms a command, or widens what it destroys or writes, is given to that command: a
// variable may be there for another one.
func TestWhatConfirmsIsNotTakenFromTheEnvironment(t *testing.T) {
	t.Parallel()
	const id = "0192f0c1-2b7e-7cc3-98c4-dc0c0c07398f"
	file := filepath.Join(t.TempDir(), "true")
	require.NoError(t, os.WriteFile(file, []byte("true"), 0o600))
	for _, c := range []struct{ variable, flag, command string }{
		{"NAME", "name", "account delete " + id},
		{"ALL", "all", "dead-letters replay"},
		{"WHY", "why", "dead-letters discard lodestone.events/0/1"},
		{"SEND_WAITING", "send-waiting", "restore resume"},
		{"ACCOUNT", "account", "demo --api-key x"},
	} {
		data := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(data, envFile), []byte("LODESTONE_"+c.variable+"='"+id+"'\n"), 0o600))
		parsed := func(variables map[string]string, args ...string) (value any, err error) {
			parser, err := newParser(&commands{}, &config.Files{Getenv: func(name string) string { return variables[name] }})
			require.NoError(t, err)
			context, err := parser.Parse(append(strings.Fields(c.command), args...))
			if err != nil {
				return nil, err
			}
			for _, f := range context.Flags() {
				if f.Name == c.flag {
					require.Empty(t, f.Envs)
					return context.FlagValue(f), nil
				}
			}
			t.Fatalf("%s has no flag --%s", c.command, c.flag)
			return nil, nil
		}
		without, wrong := parsed(nil)
		for name, variables := range map[string]map[string]string{"file": {"LODESTONE_" + c.variable + "_FILE": file},
			"data": {}} {
			value, err := parsed(variables, "--data", data)
			require.Equal(t, without, value, "%s, %s", c.command, name)
			if wrong != nil {
				require.EqualError(t, err, wrong.Error())
			}
		}
	}
	p := launch(t, t.TempDir(), []string{"LODESTONE_NAME=Test", "LODESTONE_POSTGRES_URL=postgres://127.0.0.1:1/none"},
		"account", "delete", id)
	require.Equal(t, exitSettings, p.wait())
	require.Contains(t, p.out.String(), "missing flags: --name")
	p = launch(t, t.TempDir(), []string{"LODESTONE_ALL=true"}, "dead-letters", "replay")
	require.Equal(t, exitSettings, p.wait())
	require.Contains(t, p.out.String(), "--all is not clear: give either origins or --all")
}

// Commands for operators take the addresses of a running `lodestone up` from its data directory.
func TestCommandsFindARunningUp(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, envFile),
		[]byte("LODESTONE_POSTGRES_URL='"+enginetest.Postgres(t)+"'\n"), 0o600))
	p := launch(t, t.TempDir(), nil, "account", "list", "--data", dir)
	require.Equal(t, exitFailed, p.wait())
	require.Contains(t, p.out.String(), "run `lodestone migrate`", "the database of the file was asked")
	p = launch(t, t.TempDir(), []string{"LODESTONE_DATA=" + dir, "LODESTONE_POSTGRES_URL=postgres://u@127.0.0.1:1/x"},
		"account", "list")
	require.Equal(t, exitFailed, p.wait())
	require.Contains(t, p.out.String(), "127.0.0.1:1", "what is given goes first")
	p = launch(t, t.TempDir(), []string{"LODESTONE_POSTGRES_URL=postgres://u@127.0.0.1:1/x"},
		"account", "list", "--data", dir)
	require.Equal(t, exitSettings, p.wait())
	require.Contains(t, p.out.String(),
		"--postgres-url (LODESTONE_POSTGRES_URL) comes from the variable LODESTONE_POSTGRES_URL, and names another installation than --data "+dir)
	p = launch(t, t.TempDir(), nil, "account", "list", "--data", t.TempDir())
	require.Equal(t, exitSettings, p.wait())
}

// Variables of one installation and the --data of another are not mixed: the command would work on
// either, or on both.
func TestDataAndVariablesOfTwoInstallations(t *testing.T) {
	t.Parallel()
	here, empty := t.TempDir(), t.TempDir()
	own := map[string]string{
		"POSTGRES_URL": "postgres://here/x", "CLICKHOUSE_URL": "clickhouse://here/x", "KAFKA_BROKERS": "here:9092",
		"SQL_URL": "clickhouse://sql@here/x",
		"URL":     "http://here", "COLLECTOR_URL": "http://here:81", "ERASURE_LOG": "/here/erasures",
		"BACKUP_CLICKHOUSE_DIR": "/here/backups",
		"API_KEY":               "ls_here",
	}
	var lines strings.Builder
	for name, value := range own {
		lines.WriteString("LODESTONE_" + name + "=" + shellQuote(value) + "\n")
	}
	require.NoError(t, os.WriteFile(filepath.Join(here, envFile), []byte(lines.String()), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(here, tokenKeysFile), []byte("1:here\n"), 0o600))
	secret := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(secret, []byte(own["POSTGRES_URL"]+"\n"), 0o600))
	for command, settings := range map[string][]string{
		"account list": {"POSTGRES_URL"},
		"account delete " + uuid.Nil.String() + " --name x": {"POSTGRES_URL", "ERASURE_LOG"},
		"sql 1":               {"SQL_URL"},
		"retention show":      {"POSTGRES_URL"},
		"verify":              {"POSTGRES_URL", "CLICKHOUSE_URL", "KAFKA_BROKERS", "CLICKHOUSE_SHARDS"},
		"backup create place": {"POSTGRES_URL", "CLICKHOUSE_URL", "KAFKA_BROKERS", "BACKUP_CLICKHOUSE_DIR"},
		"restore place":       {"POSTGRES_URL", "CLICKHOUSE_URL", "KAFKA_BROKERS"},
		"restore align":       {"POSTGRES_URL", "CLICKHOUSE_URL", "KAFKA_BROKERS"},
		"restore resume":      {"POSTGRES_URL"},
		"token-keys":          {"POSTGRES_URL", "TOKEN_KEYS"},
		"mcp":                 {"URL"},
		"demo":                {"URL", "COLLECTOR_URL"},
		"doctor":              {"POSTGRES_URL", "CLICKHOUSE_URL", "CLICKHOUSE_HTTP_URL", "SQL_URL", "KAFKA_BROKERS"},
	} {
		for _, setting := range settings {
			name := "LODESTONE_" + setting
			refused := func(variables map[string]string, args ...string) bool {
				given := &config.Files{Getenv: func(name string) string { return variables[name] }}
				parser, err := newParser(&commands{}, given)
				require.NoError(t, err)
				_, _ = parser.Parse(append(strings.Fields(command), args...)) // what else is missing does not matter here
				return slices.ContainsFunc(given.Problems,
					func(p *config.Problem) bool { return config.EnvName(p.Setting) == name })
			}
			other := map[string]string{name: "elsewhere"}
			flag := "--" + strings.ToLower(strings.ReplaceAll(setting, "_", "-"))
			require.True(t, refused(other, "--data", here), "%s %s", command, setting)
			require.True(t, refused(other, "--data="+empty), "%s %s", command, setting)
			require.True(t, refused(map[string]string{name + "_FILE": secret}, "--data", empty), "%s %s", command, setting)
			require.False(t, refused(other), "%s %s: without --data, the variables say where", command, setting)
			require.False(t, refused(nil, "--data", here), "%s %s", command, setting)
			require.False(t, refused(other, "--data", here, flag, "given"),
				"%s %s: both are on the command line", command, setting)
		}
	}
	for variable, value := range map[string]string{
		"LODESTONE_POSTGRES_URL": own["POSTGRES_URL"], "LODESTONE_POSTGRES_URL_FILE": secret,
		"LODESTONE_TOKEN_KEYS": "1:here", "LODESTONE_API_KEY": "ls_another",
	} {
		given := &config.Files{Getenv: func(name string) string { return map[string]string{variable: value}[name] }}
		parser, err := newParser(&commands{}, given)
		require.NoError(t, err)
		for _, command := range []string{"doctor", "mcp"} {
			_, _ = parser.Parse(append(strings.Fields(command), "--data", here))
			require.Empty(t, given.Problems, "%s: the same installation", variable)
		}
	}
}

// A directory in which nothing can be written is named by its setting, once, and the process is not
// started again: exit code 2.
func TestADirectoryThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	gone := "127.0.0.1:1"
	env := []string{
		"LODESTONE_POSTGRES_URL=postgres://u@" + gone + "/x", "LODESTONE_CLICKHOUSE_URL=clickhouse://" + gone + "/lodestone",
		"LODESTONE_KAFKA_BROKERS=" + gone,
		"LODESTONE_CLICKHOUSE_HTTP_URL=http://" + gone, "LODESTONE_TOKEN_KEYS=" + token.NewKeys(1).Keys,
		"LODESTONE_ADMIN_LISTEN=127.0.0.1:0",
		"LODESTONE_PUBLIC_URL=https://links.example.com", "LODESTONE_COLLECTOR_URL=https://events.example.com",
		"LODESTONE_LISTEN=127.0.0.1:0",
		"LODESTONE_COLLECTOR_LISTEN=127.0.0.1:0",
	}
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	for command, setting := range map[string]string{
		"collector": "--spool-dir", "crud": "--erasure-log", "export daily": "--export-to", "up": "--data",
	} {
		for _, dir := range []string{"/proc/here", file} {
			args := append(strings.Fields(command), setting, dir)
			given := env
			if command == "up" {
				given = nil
			}
			p := launch(t, t.TempDir(), given, args...)
			require.Equal(t, exitSettings, p.wait(), "%s: %s", command, p.out)
			require.Equal(t, 1, strings.Count(p.out.String(), dir), "%s: %s", command, p.out)
			require.Contains(t, p.out.String(), setting+" ("+config.EnvName(setting)+") is "+dir+
				", where no files can be written", command)
		}
	}
}

func TestLogsHaveOneForm(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	log := slog.New(slog.NewJSONHandler(&out, &slog.HandlerOptions{ReplaceAttr: uniform}))
	log.Info("x", "took", 29*time.Millisecond)
	var line map[string]any
	require.NoError(t, json.Unmarshal(out.Bytes(), &line))
	require.Equal(t, "29ms", line["took"])
}

package main

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/test/enginetest"
)

// schemathesis sends what the API's description allows, and what it does not, and checks that every
// answer is as described. `make contract` sends much more of it than `make test` does.
func TestContract(t *testing.T) {
	t.Parallel()
	root, err := enginetest.Root()
	require.NoError(t, err)
	tool := filepath.Join(root, ".cache", "contract", "bin", "schemathesis")
	if _, err := os.Stat(tool); err != nil {
		require.Fail(t, "schemathesis is not installed: `make contract-tools` does it", err.Error())
	}
	u := sharedUp(t)
	// The answers must not depend on what is there already; one campaign gives the lists something to
	// show.
	demo := launch(t, u.dir, nil, "demo", "--visitors", "5")
	require.Zero(t, demo.wait(), "%s", demo.out)

	dir := t.TempDir()
	for _, name := range []string{"hooks.py", "schemathesis.toml"} {
		text, err := os.ReadFile(filepath.Join("testdata", "contract", name))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), text, 0o600))
	}
	// The short form asks the same each time, and leaves out the phase that walks every limit of every
	// parameter, in 7,000 requests; `make contract` asks something new, and prints the seed.
	examples, phases, limit, seed := "3", "examples,fuzzing,stateful", 30*time.Minute, "1"
	if full := os.Getenv("CONTRACT_EXAMPLES"); full != "" {
		examples, phases, limit, seed = full, "examples,coverage,fuzzing,stateful", 2*time.Hour, ""
	}
	if given := os.Getenv("CONTRACT_SEED"); given != "" {
		seed = given
	}
	cmd := exec.CommandContext(t.Context(), tool, "run", u.env["LODESTONE_URL"]+"/api/v1/openapi.json",
		"--header", "Authorization: Bearer "+u.env["LODESTONE_API_KEY"],
		"--checks", "all", "--max-examples", examples, "--phases", phases)
	if seed != "" {
		cmd.Args = append(cmd.Args, "--seed", seed)
	}
	cmd.Dir, cmd.Env = dir, os.Environ() // its output is no terminal, and so has no colours
	out := &enginetest.Log{}
	cmd.Stdout, cmd.Stderr = out, out
	require.NoError(t, cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err = <-ended:
	case <-time.After(limit):
		_ = cmd.Process.Kill()
		<-ended
		require.Fail(t, "schemathesis does not end", "%s", out)
	}
	require.NoError(t, err, "%s", out)
	_, summary, found := strings.Cut(out.String(), " SUMMARY ")
	require.True(t, found, "%s", out)
	t.Log(summary)

	status, body := get(t, u.env["LODESTONE_URL"]+"/api/v1/generic-links", u.env["LODESTONE_API_KEY"])
	require.Equal(t, http.StatusOK, status, body)
}

package main

import (
	"context"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/engine/enginetest"
)

// The pages in a real browser, against the real program. The tests are JavaScript, in the folder
// browser; screenshots, weights and timings stay in .cache/browser. BROWSER_ONLY="landing viewer"
// runs the files of these names alone.
func TestBrowser(t *testing.T) {
	t.Parallel()
	root, err := enginetest.Root()
	require.NoError(t, err)
	if _, err := os.Stat(filepath.Join("browser", "node_modules", ".package-lock.json")); err != nil {
		require.Fail(t, "playwright is not installed: `make browser-tools` does it", err.Error())
	}
	u := newUp(t)
	u.more = []string{"--trusted-proxies=127.0.0.1"} // tries to sign in are limited by address, and visitors of signin.test.js have one each
	u.start()

	artefacts := filepath.Join(root, ".cache", "browser")
	require.NoError(t, os.RemoveAll(artefacts))
	// The limit of go test ends this process alone, so node, Chromium and the program would stay. They end before it.
	ctx := t.Context()
	if limit, ok := t.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, limit.Add(-time.Minute))
		defer cancel()
	}
	cmd := exec.CommandContext(ctx, "node",
		append([]string{"--test-reporter=spec", "main.js"}, strings.Fields(os.Getenv("BROWSER_ONLY"))...)...)
	cmd.Dir = "browser"
	cmd.Env = append(os.Environ(), "CHROMIUM="+chromium(t), "BROWSER_ARTEFACTS="+artefacts)
	for name, value := range u.env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	cmd.Env = append(cmd.Env, "LODESTONE_SECOND_API_KEY="+u.secondKey(`Evil & <img src=x onerror="document.title=1">`), "LODESTONE_PAST_API_KEY="+u.pastKey("Northwind Research"), "LODESTONE_HOSTILE_API_KEY="+u.secondKey("Hostile"))
	out := &output{}
	cmd.Stdout, cmd.Stderr = out, out
	// On this signal playwright closes Chromium, which holds the output. It ends too when its pipe to a killed node breaks.
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	err = cmd.Run()
	require.NoError(t, ctx.Err(), "the limit of go test is too short. So far:\n%s", out)
	require.NoError(t, err, "%s", out)
	t.Logf("%s\nscreenshots and measurements are in %s", out, artefacts)
}

// pastKey returns a key of a new account with the demo's weeks.
func (u *up) pastKey(name string) string {
	u.t.Helper()
	v := &owner{t: u.t, site: u.env["LODESTONE_URL"], key: u.secondKey(name), http: http.DefaultClient}
	var account struct{ ID string }
	v.call(http.MethodGet, "/api/v1/account", "", &account)
	past := launch(u.t, u.dir, []string{"LODESTONE_API_KEY=" + v.key}, "demo", "--days", "60", "--seed", "7", "--account", account.ID)
	require.Zero(u.t, past.wait(), "%s", past.out)
	return v.key
}

// secondKey returns a key of a new account.
func (u *up) secondKey(name string) string {
	u.t.Helper()
	run := func(args ...string) string {
		p := launch(u.t, u.dir, []string{"LODESTONE_POSTGRES_URL=" + u.env["LODESTONE_POSTGRES_URL"]}, args...)
		require.Zero(u.t, p.wait(), "%s", p.out)
		return strings.TrimSpace(p.out.String())
	}
	account := run("account", "create", "--name", name, "--plan", "team")
	_, key, found := strings.Cut(run("key", "create", "--account", account), "key: ")
	require.True(u.t, found)
	return key
}

// chromium returns the browser: $CHROMIUM, or the one that is installed.
func chromium(t *testing.T) string {
	t.Helper()
	if path := os.Getenv("CHROMIUM"); path != "" {
		return path
	}
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	require.Fail(t, "there is no Chromium: `make setup` tells how to get it, or $CHROMIUM names one")
	return ""
}

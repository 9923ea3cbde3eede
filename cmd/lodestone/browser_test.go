package main

import (
	"context"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/test/enginetest"
)

// The pages in a real browser, against the real program. The tests are JavaScript, in the folder
// browser. `make test` looks at each page once on a phone and once at a desktop; with
// BROWSER_LOOKS=all, as in `make browser`, every file runs, and screenshots, weights and timings
// stay in .cache/browser. BROWSER_ONLY="landing viewer" runs the files of these names alone.
func TestBrowser(t *testing.T) {
	t.Parallel()
	root, err := enginetest.Root()
	require.NoError(t, err)
	u := newUp(t)
	// tries to sign in are limited by address, and visitors of signin.test.js have one each
	u.more = []string{"--trusted-proxies=127.0.0.1"}
	var env []string
	if everyLook() {
		issuer := u.startProvider()
		u.more = append(u.more, "--openid-issuer="+issuer, "--openid-client-id=lodestone",
			"--openid-client-secret=secret", "--openid-name=Example ID")
		env = append(env, "BROWSER_OPENID_ISSUER="+issuer)
	}
	// tests ask for reports again until they have everything
	u.more = append(u.more, "--query-processor-seconds-per-minute=1000000")
	begin := time.Now()
	u.start()
	started := time.Since(begin)

	artefacts := filepath.Join(root, ".cache", "browser")
	require.NoError(t, os.RemoveAll(artefacts))
	ctx := beforeTheLimit(t)
	b := newBrowserTest(u, artefacts, append(env, "BROWSER_UP_MS="+strconv.FormatInt(started.Milliseconds(), 10))...)

	b.run(ctx, "publish") // on an installation that no one has used
	b.run(ctx, "day")     // before others read, who would be called as well
	b.env = append(b.env, "LODESTONE_SECOND_API_KEY="+u.secondKey(`Evil & <img src=x onerror="document.title=1">`),
		"LODESTONE_PAST_API_KEY="+u.pastKey("Northwind Research"), "LODESTONE_EMPTY_API_KEY="+u.secondKey("Empty"),
		"LODESTONE_HOSTILE_API_KEY="+u.secondKey("Hostile"))
	b.run(ctx)
	b.run(ctx, "weight") // without other tests at the same time
	if b.wants("outage") {
		servers := u.children("lodestone-clickhouse")
		require.Len(t, servers, 1)
		require.NoError(t, syscall.Kill(servers[0], syscall.SIGSTOP))
		t.Cleanup(func() { _ = syscall.Kill(servers[0], syscall.SIGCONT) }) // it may have been ended as hung
		b.run(ctx, "outage")
	}
	t.Logf("screenshots and measurements are in %s", artefacts)
}

// browserTest runs files of the folder browser.
type browserTest struct {
	*up
	only, env []string
}

// newBrowserTest returns what tests a program that runs, with more variables of the environment.
func newBrowserTest(u *up, artefacts string, env ...string) *browserTest {
	u.t.Helper()
	if _, err := os.Stat(filepath.Join("browser", "node_modules", ".package-lock.json")); err != nil {
		require.Fail(u.t, "playwright is not installed: `make browser-tools` does it", err.Error())
	}
	b := &browserTest{u, browserOnly(), append(os.Environ(), "CHROMIUM="+chromium(u.t), "BROWSER_ARTEFACTS="+artefacts)}
	for name, value := range u.env {
		b.env = append(b.env, name+"="+value)
	}
	b.env = append(b.env, env...)
	return b
}

// beforeTheLimit ends before the limit of go test, which ends this process alone, so that node,
// Chromium and the program would stay.
func beforeTheLimit(t *testing.T) context.Context {
	t.Helper()
	limit, ok := t.Deadline()
	if !ok {
		return t.Context()
	}
	ctx, cancel := context.WithDeadline(t.Context(), limit.Add(-time.Minute))
	t.Cleanup(cancel)
	return ctx
}

// browserOnly are the files to run; none: all.
func browserOnly() []string { return strings.Fields(os.Getenv("BROWSER_ONLY")) }

// everyLook says whether every page is looked at in every way.
func everyLook() bool { return os.Getenv("BROWSER_LOOKS") == "all" }

// apart are the files that run by themselves.
var apart = []string{"publish", "day", "weight", "outage", "tls", "passkey"}

func (b *browserTest) wants(file string) bool {
	if len(b.only) == 0 {
		return everyLook() || file == "publish" || file == "day" || file == "passkey"
	}
	return slices.Contains(b.only, file)
}

// run runs a file that runs by itself, or all others, as far as they are wanted.
func (b *browserTest) run(ctx context.Context, file ...string) {
	b.t.Helper()
	if len(file) == 0 {
		file = slices.DeleteFunc(slices.Clone(b.only), func(f string) bool { return slices.Contains(apart, f) })
		if len(b.only) > 0 && len(file) == 0 {
			return
		}
	} else if !b.wants(file[0]) {
		return
	}
	cmd := exec.CommandContext(ctx, "node", append([]string{"--test-reporter=spec", "main.js"}, file...)...)
	cmd.Dir, cmd.Env = "browser", b.env
	out := &enginetest.Log{}
	cmd.Stdout, cmd.Stderr = out, out
	// On this signal playwright closes Chromium, which holds the output. It ends too when its pipe to
	// a killed node breaks.
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	err := cmd.Run()
	require.NoError(b.t, ctx.Err(), "the limit of go test is too short. So far:\n%s", out)
	require.NoError(b.t, err, "%s", out)
	b.t.Logf("%s", out)
}

// startProvider starts an OpenID provider, on another site than the program's, and returns its
// issuer.
func (u *up) startProvider() (issuer string) {
	u.t.Helper()
	file := filepath.Join(u.dir, "provider")
	build := exec.Command("go", "build", "-o", file, "./openidcheck/provider")
	build.Dir = filepath.Join("..", "lodestone-lab") // the product does not know the provider
	out, err := build.CombinedOutput()
	require.NoError(u.t, err, "%s", out)
	port := strconv.Itoa(enginetest.FreePort(u.t))
	issuer = "http://localhost:" + port
	launchFile(u.t, file, u.dir, nil, "--listen", "127.0.0.1:"+port, "--issuer", issuer,
		"--redirect", "http://127.0.0.1:"+strconv.Itoa(u.ports[0])+"/dashboard/sign-in/openid/callback")
	require.Eventually(u.t, func() bool {
		status, _ := get(u.t, issuer+"/.well-known/openid-configuration", "")
		return status == http.StatusOK
	}, enginetest.Timeout, interval)
	return issuer
}

// pastKey returns a key of a new account with the demo's weeks.
func (u *up) pastKey(name string) string {
	u.t.Helper()
	v := &owner{t: u.t, site: u.env["LODESTONE_URL"], key: u.secondKey(name), http: http.DefaultClient}
	var account struct{ ID string }
	v.call(http.MethodGet, "/api/v1/account", "", &account)
	past := launch(u.t, u.dir, []string{"LODESTONE_API_KEY=" + v.key}, "demo", "--days", "60", "--seed",
		"7", "--account", account.ID)
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
	for _, name := range []string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	require.Fail(t, "there is no Chromium: `make setup` tells how to get it, or $CHROMIUM names one")
	return ""
}

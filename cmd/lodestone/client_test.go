//go:build long

package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/test/enginetest"
)

// The clients in other languages, as their generators make them of the API's description, do what
// they promise against a real installation.
func TestClients(t *testing.T) {
	t.Parallel()
	root, err := enginetest.Root()
	require.NoError(t, err)
	python := filepath.Join(root, ".cache", "clients", "bin", "python")
	typescript, pythonClient := filepath.Join(root, "pkg", "client", "typescript"),
		filepath.Join(root, "pkg", "client", "python")
	u := newUp(t)
	u.start()
	runTool(t, root, nil, "make", "clients")

	proxy := newBadProxy(t, u.env["LODESTONE_URL"])
	env := []string{
		"LODESTONE_URL=" + u.env["LODESTONE_URL"], "LODESTONE_COLLECTOR_URL=" + u.env["LODESTONE_COLLECTOR_URL"],
		"LODESTONE_API_KEY=" + u.env["LODESTONE_API_KEY"], "PROXY_URL=" + proxy,
		"GUIDE=" + filepath.Join(root, "cmd", "lodestone", "demo", "guide.pdf"), "PYTHONDONTWRITEBYTECODE=1",
	}
	runTool(t, typescript, env, "npm", "--silent", "test")
	readme := filepath.Join(t.TempDir(), "readme.py")
	require.NoError(t, os.WriteFile(readme, firstBlock(t, filepath.Join(pythonClient, "README.md"), "python"), 0o600))
	runTool(t, pythonClient, nil, python, "-m", "mypy", "--cache-dir", t.TempDir(), "lodestone_client",
		"tests", "generate.py", readme)
	runTool(t, pythonClient, env, python, "-m", "unittest", "discover", "--start-directory", "tests",
		"--top-level-directory", ".")

	// What the READMEs show first does what it says. The script is in the package, whose name leads to
	// it from there.
	script := filepath.Join(typescript, "dist", "readme.mjs")
	require.NoError(t, os.WriteFile(script, firstBlock(t, filepath.Join(typescript, "README.md"), "ts"), 0o600))
	checked := filepath.Join(typescript, "dist", "readme.mts")
	require.NoError(t, os.WriteFile(checked, firstBlock(t, filepath.Join(typescript, "README.md"), "ts"), 0o600))
	runTool(t, typescript, nil, "npx", "--no-install", "tsc", "--strict", "--noEmit", "--skipLibCheck", "false",
		"--module", "nodenext", "--target", "es2022", "--types", "node", checked)
	for _, out := range []string{
		runTool(t, typescript, env, "node", script),
		runTool(t, pythonClient, append(env, "PYTHONPATH="+pythonClient), python, readme),
	} {
		require.Contains(t, out, "validation_error title ")
	}
}

// firstBlock returns the first code of a language in a document.
func firstBlock(t *testing.T, document, language string) []byte {
	t.Helper()
	text, err := os.ReadFile(document)
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(text), "```"+language+"\n")
	require.True(t, found, "%s has no code in %s", document, language)
	code, _, _ := strings.Cut(rest, "```")
	return []byte(code)
}

// runTool runs a program, which must succeed, and returns what it printed.
func runTool(t *testing.T, dir string, env []string, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	cmd.WaitDelay = 5 * time.Second
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s %v\n%s", name, args, out)
	return string(out)
}

// newBadProxy returns the address of a proxy that treats the first request of each kind badly, by
// the beginning of its path: /lost passes it on and breaks the connection in place of the answer,
// /busy refuses it with 429. A second request is passed on only if it is the first one again.
// /foreign never answers as Lodestone does.
func newBadProxy(t *testing.T, target string) string {
	t.Helper()
	to, err := url.Parse(target)
	require.NoError(t, err)
	pass := httputil.NewSingleHostReverseProxy(to)
	var mu sync.Mutex
	seen := map[string]bool{}
	first := func(r *http.Request) bool {
		mu.Lock()
		defer mu.Unlock()
		request := r.Method + r.URL.Path + r.Header.Get("Idempotency-Key")
		defer func() { seen[request] = true }()
		return !seen[request]
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		way, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		r.URL.Path, r.URL.RawPath = "/"+rest, ""
		switch {
		case way == "foreign":
			http.Error(w, "<h1>Bad gateway</h1>", http.StatusBadGateway)
		case way == "lost" && first(r):
			pass.ServeHTTP(httptest.NewRecorder(), r)
			panic(http.ErrAbortHandler)
		case way == "busy" && first(r):
			_, _ = io.Copy(io.Discard, r.Body) // else the client may not see the answer
			w.Header().Set("Retry-After", "7")
			w.Header().Set("Content-Type", "application/problem+json")
			w.WriteHeader(http.StatusTooManyRequests)
			_, _ = io.WriteString(w,
				`{"type":"/api/v1/problems/rate_limited","title":"Too many requests","status":429,"detail":"Wait.","code":"rate_limited"}`)
		default:
			pass.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(server.Close)
	return server.URL
}

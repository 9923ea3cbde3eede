package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Budgets, compressed: what frames a page together with the style, and the script.
const (
	maxFrame  = 15 << 10
	maxScript = 30 << 10
)

var ours = struct {
	once sync.Once
	dir  string
	err  error
}{}

func root(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("../..")
	require.NoError(t, err)
	return dir
}

// ourSite returns the site of this checkout, built once.
func ourSite(t *testing.T) string {
	t.Helper()
	ours.once.Do(func() {
		ours.dir, ours.err = os.MkdirTemp("", "lodestone-site-test-")
		if ours.err == nil {
			ours.err = site{root: root(t), version: "0.0.0-test"}.build(context.Background(), ours.dir)
		}
	})
	require.NoError(t, ours.err)
	return ours.dir
}

func TestMain(m *testing.M) {
	code := m.Run()
	if ours.dir != "" {
		_ = os.RemoveAll(ours.dir)
	}
	os.Exit(code)
}

func TestEveryPageIsInTheNavigationOnce(t *testing.T) {
	t.Parallel()
	sections, err := navigation(root(t))
	require.NoError(t, err)
	var titles []string
	for _, s := range sections {
		titles = append(titles, s.Title)
		require.NotEmpty(t, s.Pages, s.Title)
	}
	require.Equal(t, []string{"Start", "Concepts", "Guides", "API", "Deploy", "Operate", "Reference", "Inside"}, titles)

	dir := ourSite(t)
	read, err := readSite(dir, root(t))
	require.NoError(t, err)
	all := pages(sections)
	require.Len(t, read.documents, len(all)+1+len(copied(read)), "a page for each file, and the first one")
	for _, p := range all {
		name := strings.TrimPrefix(p.URL, "/")
		d, exists := read.documents[name]
		require.True(t, exists, name)
		times := 0
		for n := range d.root.Descendants() {
			if n.DataAtom == atom.A && attribute(n, "aria-current") == "page" {
				times++
			}
		}
		require.Equal(t, 1, times, "%s in its own navigation", name)
	}
}

// copied are files of the repository that are HTML.
func copied(b *built) (names []string) {
	for name := range b.documents {
		if strings.HasPrefix(name, "ingest/") || strings.HasPrefix(name, "cmd/") {
			names = append(names, name)
		}
	}
	return names
}

// Whoever adds a page learns what else there is to do.
func TestNavigationSaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put := func(name, text string) {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	table := "| You want to | Read |\n|---|---|\n| **Start** | |\n| begin | [Quickstart](start.md) |\n"
	put("docs/README.md", table)
	put("docs/start.md", "# Quickstart\n")
	sections, err := navigation(dir)
	require.NoError(t, err)
	require.Equal(t, []*page{{File: "docs/start.md", URL: "/start.html", Label: "Quickstart", Title: "Quickstart", Purpose: "begin", Section: "Start"}}, pages(sections))

	put("docs/tls.md", "# TLS\n")
	_, err = navigation(dir)
	require.ErrorContains(t, err, "docs/tls.md is on no page of the site: add a row to the section of docs/README.md")
	require.ErrorContains(t, err, "| what a reader wants | [Its title](tls.md) |")

	put("docs/README.md", table+"| encrypt | [tls.md](tls.md) |\n| encrypt again | [TLS](tls.md) |\n")
	_, err = navigation(dir)
	require.ErrorContains(t, err, "docs/tls.md is linked twice")

	put("docs/README.md", table+"| encrypt | [tls.md](tls.md) |\n")
	put("docs/tls.md", "Without a title.\n")
	_, err = navigation(dir)
	require.ErrorContains(t, err, "docs/tls.md has no title")

	put("docs/tls.md", "# TLS for `crud`\n")
	sections, err = navigation(dir)
	require.NoError(t, err)
	require.Equal(t, "TLS for crud", pages(sections)[1].Label, "a link by the file's name has the title of the page")
}

func TestLinksThatLeadNowhereAreFound(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put := func(name, text string) {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	put("a.html", `<h2 id="here"></h2><a href="b/c.html#there"></a><a href="#here"></a><a href="https://example.com/x"></a><img src="x.png">`)
	put("b/c.html", `<h2 id="there"></h2><a href="../a.html#here"></a>`)
	put("x.png", "")
	read, err := readSite(dir, "/src/lodestone")
	require.NoError(t, err)
	require.Empty(t, read.check())

	put("b/c.html", `<a href="a.html"></a><a href="../a.html#gone"></a><img src="/x.png"><p id="x">/src/lodestone/docs</p><p id="x"></p>`)
	read, err = readSite(dir, "/src/lodestone")
	require.NoError(t, err)
	var found []string
	for _, err := range read.check() {
		found = append(found, err.Error())
	}
	require.Equal(t, []string{
		"b/c.html names a path of the machine that built it",
		"b/c.html#x is there twice: give one of the headings another text",
		`a.html links to b/c.html#there: b/c.html has no heading with the anchor "there"`,
		"b/c.html refers to a.html, which is not on the site",
		`b/c.html links to ../a.html#gone: a.html has no heading with the anchor "gone"`,
		"b/c.html refers to /x.png: a site in a folder of a server would not find it",
	}, found)
}

func TestTheSameCommitGivesTheSameBytes(t *testing.T) {
	t.Parallel()
	again := filepath.Join(t.TempDir(), "site")
	require.NoError(t, site{root: root(t), version: "0.0.0-test"}.build(t.Context(), again))
	require.Equal(t, sums(t, ourSite(t)), sums(t, again))
}

func sums(t *testing.T, dir string) map[string][32]byte {
	t.Helper()
	all := map[string][32]byte{}
	require.NoError(t, filepath.WalkDir(dir, func(name string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(name)
		all[strings.TrimPrefix(name, dir)] = sha256.Sum256(content)
		return err
	}))
	return all
}

// A page is its text, and little around it.
func TestPagesAreLight(t *testing.T) {
	t.Parallel()
	dir := ourSite(t)
	read, err := readSite(dir, root(t))
	require.NoError(t, err)
	var style, script []byte
	for name := range read.files {
		content, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		switch {
		case strings.HasSuffix(name, ".css"):
			style = append(style, content...)
		case strings.HasSuffix(name, ".js") && name != indexFile:
			script = append(script, content...)
		}
	}
	require.NotEmpty(t, style)
	require.NotEmpty(t, script)
	require.Less(t, compressed(t, script), maxScript)
	for name, d := range read.documents {
		for n := range d.root.Descendants() {
			require.Empty(t, attribute(n, "style"), "%s: the policy forbids styles in HTML", name)
			require.False(t, n.DataAtom == atom.Style || n.DataAtom == atom.Script && attribute(n, "src") == "", "%s: the policy forbids scripts and styles in HTML", name)
			if n.DataAtom == atom.Article {
				for n.FirstChild != nil {
					n.RemoveChild(n.FirstChild)
				}
			}
		}
		var frame bytes.Buffer
		require.NoError(t, html.Render(&frame, d.root))
		require.Less(t, compressed(t, append(frame.Bytes(), style...)), maxFrame, name)
	}
}

func compressed(t *testing.T, content []byte) int {
	t.Helper()
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	require.NoError(t, err)
	_, err = w.Write(content)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return out.Len()
}

// The index has every page, and leads to each setting, metric and error.
func TestTheIndexHasEverything(t *testing.T) {
	t.Parallel()
	dir := ourSite(t)
	read, err := readSite(dir, root(t))
	require.NoError(t, err)
	found := map[string]entry{}
	for _, e := range index(t, dir) {
		require.NoError(t, read.leads("index.html", e.URL))
		require.NotContains(t, found, e.URL)
		found[e.URL] = e
	}
	sections, err := navigation(root(t))
	require.NoError(t, err)
	for _, p := range pages(sections) {
		require.True(t, func() bool {
			for url := range found {
				if strings.HasPrefix(url, strings.TrimPrefix(p.URL, "/")) {
					return true
				}
			}
			return false
		}(), p.URL)
	}
	require.Contains(t, found["configuration.html#kafka-sasl-user"].Text, "User to log in to Kafka with")
	require.Contains(t, found["metrics.html#lodestone_build_info"].Text, "with the version")
	require.Contains(t, found["errors.html#slug_taken"].Text, "Choose another slug")
	require.Contains(t, found, "cli.html#lodestone-up")
}

// The pages in a real browser: on phones and desktops, light and dark, with the search, without scripts, and from a disk.
func TestBrowser(t *testing.T) {
	t.Parallel()
	tools, err := filepath.Abs("../lodestone/browser/node_modules")
	require.NoError(t, err)
	require.DirExists(t, filepath.Join(tools, "playwright-core"), "`make browser-tools` installs it")
	browser := os.Getenv("CHROMIUM")
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil && browser == "" {
			browser = found
		}
	}
	require.NotEmpty(t, browser, "no Chromium was found: install it, or name it in CHROMIUM")

	dir := ourSite(t)
	ctx, stop := context.WithCancel(t.Context())
	addresses, ended := make(chan string, 1), make(chan error, 1)
	go func() { ended <- serve(ctx, dir, "127.0.0.1:0", func(url string) { addresses <- url }) }()
	url := <-addresses
	answer, err := http.Get(url)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	require.Equal(t, policy, answer.Header.Get("Content-Security-Policy"))

	artefacts := filepath.Join(root(t), ".cache", "browser-site")
	require.NoError(t, os.RemoveAll(artefacts))
	cmd := exec.CommandContext(t.Context(), "node", "web/browser.mjs")
	cmd.Env = append(os.Environ(), "CHROMIUM="+browser, "TOOLS="+tools, "SITE="+url, "FILES=file://"+dir+"/", "ARTEFACTS="+artefacts)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	stop()
	require.NoError(t, <-ended)
	t.Logf("screenshots are in %s", artefacts)
}

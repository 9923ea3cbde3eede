package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/test/enginetest"
)

const apiDocument = "../../docs/api.md"

// varying are the parts of an answer that differ each time, and what stands for them in a
// comparison.
var varying = []struct {
	form *regexp.Regexp
	as   string
}{
	{regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`), "UUID"},
	{regexp.MustCompile(`20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?Z`), "TIME"},
	{regexp.MustCompile(`lsk_\w+`), "KEY"},
	{regexp.MustCompile(`whsec_[\w+/=]+`), "SECRET"},
	{regexp.MustCompile(`"latency_ms": \d+`), "LATENCY"},
	{regexp.MustCompile(`"tracking_token": "[^"]+"`), "TOKEN"},
	{regexp.MustCompile(`(data-token=\\"|\?t=)[\w-]+`), "TOKEN"},
	{regexp.MustCompile(`(\?preview=)[\w.-]+`), "PREVIEW"},
	{regexp.MustCompile(`\bp/[0-9a-f]{32}\.`), "PICTURE"},
	{regexp.MustCompile(`/s/[a-z2-7]{26}`), "/SHARE"},
	{regexp.MustCompile(`"(ip_hash|user_agent)": "[^"]+"`), "VISITOR"},
	{regexp.MustCompile(`http://[0-9.]+:\d+/?(a/\w+)?`), "ADDRESS"},
}

// levelled returns a text without what varies.
func levelled(text string) string {
	for _, v := range varying {
		text = v.form.ReplaceAllString(text, v.as)
	}
	return text
}

// Each command of docs/api.md does what the page says, in a shell, against `lodestone up`. With
// -update, the answers are written into the page.
func TestAPIDocument(t *testing.T) {
	t.Parallel()
	root, err := enginetest.Root()
	require.NoError(t, err)
	text, err := os.ReadFile(apiDocument)
	require.NoError(t, err)
	app := newUp(t)
	app.more = []string{"--no-sample", "--quota-interval=1h"} // the answers show the account's content at one time
	require.NoError(t, os.Symlink(filepath.Join(root, "cmd"), filepath.Join(app.dir, "cmd")))
	app.start()
	require.Eventually(t, func() bool { // the page shows when a key was last used, which is written some seconds later
		_, keys := get(t, app.env["LODESTONE_URL"]+"/api/v1/keys", app.env["LODESTONE_API_KEY"])
		return strings.Contains(keys, `"last_used_at":"`)
	}, enginetest.Timeout, interval)

	parts := strings.Split(string(text), "```")
	require.Equal(t, 1, len(parts)%2, "every block is closed")
	state := filepath.Join(app.dir, "state")
	require.NoError(t, os.WriteFile(state, nil, 0o600))
	var prelude string
	assigned := regexp.MustCompile(`(?m)^([a-z]+)=`)
	run := func(block string) string {
		names := []string{"declare -p"}
		for _, m := range assigned.FindAllStringSubmatch(block, -1) {
			names = append(names, m[1])
		}
		save := ""
		if len(names) > 1 {
			save = strings.Join(names, " ") + " >>" + state + "\n"
		}
		cmd := script(t, prelude+"source "+state+"\n"+block+save)
		cmd.Dir = app.dir
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s\n%s", block, out)
		return strings.TrimSpace(string(out))
	}
	operations := 0
	for i := 1; i < len(parts); i += 2 {
		block, isShell := strings.CutPrefix(parts[i], "sh\n")
		if !isShell {
			continue
		}
		operations++
		if prelude == "" {
			prelude = block
			continue
		}
		wanted, hasAnswer := "", false
		if i+2 < len(parts) && strings.TrimSpace(parts[i+1]) == "" {
			wanted, hasAnswer = strings.CutPrefix(parts[i+2], "json\n")
		}
		if !hasAnswer {
			require.Contains(t, []string{"204", ""}, run(block), block)
			continue
		}
		got := ""
		asked := func() bool {
			got = pretty(t, run(block))
			switch {
			case *update && strings.Contains(block, "?access_link_id"):
				return strings.Contains(got, "page_viewed")
			case *update && strings.Contains(block,
				"/analytics/funnel"): // it joins access links, which are copied a little later
				return strings.Contains(got, `"count": 1`)
			case *update || !strings.Contains(block, "/api/v1/analytics"):
				return true
			}
			return levelled(got) == levelled(wanted)
		}
		if !asked() { // events become visible a little after the collector's answer
			require.Eventually(t, asked, enginetest.Timeout, seldom, "%s\n%s\nIf that is right, `make generate` writes it.",
				block, got)
		}
		if *update {
			parts[i+2] = "json\n" + got
			continue
		}
		require.Equal(t, levelled(wanted), levelled(got), "%s\nIf that is right, `make generate` writes it.", block)
	}
	require.Greater(t, operations, 20)
	if *update {
		require.NoError(t, os.WriteFile(apiDocument, []byte(strings.Join(parts, "```")), 0o600))
	}

	// Every operation is on the page.
	_, spec := get(t, app.env["LODESTONE_URL"]+"/api/v1/openapi.json", "")
	var d struct {
		Paths map[string]map[string]any
	}
	require.NoError(t, json.Unmarshal([]byte(spec), &d))
	shell := strings.Join(parts, "")
	for path, methods := range d.Paths {
		pattern := regexp.MustCompile(`LODESTONE_URL` +
			regexp.MustCompile(`\\\{\w+\\\}`).ReplaceAllString(regexp.QuoteMeta(path), `\$\w+`) + `["?]`)
		for method := range methods {
			found := false
			for block := range strings.SplitSeq(shell, "\nsh\n") {
				for command := range strings.SplitSeq(strings.ReplaceAll(block, "\\\n", " "), "\n") {
					verb := "get"
					if m := regexp.MustCompile(`-X (\w+)`).FindStringSubmatch(command); m != nil {
						verb = strings.ToLower(m[1])
					} else if strings.Contains(command, " -d ") {
						verb = "post"
					}
					found = found || verb == method && pattern.MatchString(command)
				}
			}
			require.True(t, found, "docs/api.md shows no %s of %s", method, path)
		}
	}
}

func pretty(t *testing.T, text string) string {
	t.Helper()
	out := &bytes.Buffer{}
	require.NoError(t, json.Indent(out, []byte(text), "", "  "), text)
	return strings.TrimSpace(out.String()) + "\n"
}

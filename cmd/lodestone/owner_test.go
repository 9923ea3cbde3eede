package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/client"
	"lodestone/pkg/engine/enginetest"
)

// An owner makes a link in the terminal, sees who asked for the document, and gets the numbers.
func TestOwnersCommands(t *testing.T) {
	t.Parallel()
	u := sharedUp(t)
	data := filepath.Join(u.dir, "data")
	require.Zero(t, launch(t, u.dir, nil, "demo", "--data", data, "--visitors", "8").wait())
	run := func(args ...string) string {
		t.Helper()
		p := launch(t, u.dir, nil, append(args, "--data", data)...)
		require.Zero(t, p.wait(), p.out.String())
		return p.out.String()
	}
	api := client.New(client.Config{URL: u.env["LODESTONE_URL"], Key: u.env["LODESTONE_API_KEY"]})
	magnets, err := api.LeadMagnets(t.Context(), client.Paging{})
	require.NoError(t, err)

	url := strings.TrimSpace(run("link", "create", magnets.Data[0].ID, "--slug", "by-hand"))
	require.True(t, strings.HasSuffix(url, "/l/by-hand"), url)
	require.Contains(t, run("link", "list"), url)
	require.Contains(t, run("leads", "by-hand"), "SUBMITTED")
	var busy client.GenericLink
	var submissions int64
	for line := range strings.Lines(run("link", "list", "--json")) {
		var l client.GenericLink
		require.NoError(t, json.Unmarshal([]byte(line), &l))
		submissions += l.SubmissionCount
		if l.SubmissionCount > busy.SubmissionCount {
			busy = l
		}
	}
	require.Positive(t, busy.SubmissionCount)
	lines := strings.Split(strings.TrimSpace(run("leads", busy.ID, "--json")), "\n")
	require.Len(t, lines, int(busy.SubmissionCount))
	var lead client.Submission
	require.NoError(t, json.Unmarshal([]byte(lines[0]), &lead))
	require.Contains(t, run("leads", busy.Slug), lead.Email)

	require.Eventually(t, func() bool { // submissions are copied for reports a little later
		var answer struct {
			Data []questionAnswer `json:"data"`
		}
		require.NoError(t, json.Unmarshal([]byte(run("report", "--metrics", "submissions,readers", "--json")), &answer))
		return answer.Data[0].Totals["submissions"] == float64(submissions)
	}, enginetest.Timeout, interval)
	text := run("report", "--metrics", "submissions,readers", "--by", "generic_link_id", "--interval", "week")
	require.Contains(t, text, "TIME")
	require.NotNil(t, busy.Title)
	require.Contains(t, text, *busy.Title, "ids are shown by their titles")
	require.Contains(t, text, "total")
	require.Contains(t, text, "events of bots")

	refused := launch(t, u.dir, nil, "report", "--metrics", "evnts", "--data", data)
	require.Equal(t, exitFailed, refused.wait())
	require.Contains(t, refused.out.String(), "metrics")
	require.NotContains(t, refused.out.String(), u.env["LODESTONE_API_KEY"])
}

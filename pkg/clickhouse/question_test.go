package clickhouse_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/clickhouse"
	"lodestone/pkg/test"
	"lodestone/pkg/test/enginetest"
)

// answers to the questions of docs/sql.md on the data of test.WriteCampaign, by their
// headings.
var answers = map[string]string{
	"Which page loses readers?": `Checklist 1 1 1 0 0
Checklist 1 2 1 1 100
Guide 1 1 3 1 33
Guide 1 2 2 1 50
Guide 1 3 1 0 0
Guide 1 4 1 1 100
Guide 2 1 1 0 0
Guide 2 2 1 0 0
Guide 2 3 1 1 100`,
	"Which link converts?": `newsletter 3 2 66.7
blog 2 1 50
ads 9 4 44.4`,
	"Who came back?": `Guide 00000000-0000-0000-0000-000000000101 ada@acme.example 2 2 2026-03-04`,
	"How long is each page read?": `Checklist 1 30
Checklist 2 30
Guide 1 5.8
Guide 2 11.3
Guide 3 6.5
Guide 4 10`,
	"How many sessions and readers a day?": `2026-03-02 2 2
2026-03-03 2 2
2026-03-04 1 1
2026-03-10 1 1`,
	"How far do visitors get, from the landing page to the download?": `Guide 12 6 4 1
Checklist 2 1 1 0`,
	"On what devices do they read?": `desktop 4 66.7
mobile 2 33.3`,
	"How much comes from bots?": `link views 1 15 6.7
sessions 1 7 14.3`,
	"Which events are of suspected scanners?": "delivery Guide 1 1",
	"How long does it take until a link is first read?": `Checklist 1 0.5
Guide 4 12.5`,
	"At what hour do they read?": `9 3
10 1
11 1
20 1`,
	"Which lead magnets are read best?": `Guide 4 5 1.6 50 50
Checklist 1 1 1 100 100`,
	"Do new readers return?": `2026-03-02 4 1 25
2026-03-09 1 0 0`,
	"Where do visitors come from?": `direct 8
news.example 6`,
	"Which links were never opened?": `Checklist 2 1
Guide 5 1`,
	"Which campaign brings readers who finish?": `2 1 1 1 100
newsletter march issue 3 2 1 1 100
google spring 9 4 3 1 33`,
	"Who is worth a call?": `ada@acme.example 2 2 2 3 2 1 2026-03-04
dora@beta.example 1 1 1 1 0.4 0 2026-03-10
bob@acme.example 1 0 0 1 0.2 0 2026-03-02
cy@mail.example 1 0 0 1 0 0 2026-03-03`,
	"What changed this week?": `2026-03-09 1 -3 0.4 -1.8
2026-03-02 4 4 2.2 2.2`,
	"How do the versions of a document compare?": `Checklist 1 2 1 1 100 30
Guide 1 4 3 1 33 8.1
Guide 2 3 1 1 100 8`,
	"How many of each week's readers come back?": `2026-03-02 0 4
2026-03-09 0 1`,
	"How far are the submissions?": `ads ready 1 0
ads viewed 3 1
blog viewed 1 1
newsletter awaiting_verification 1 0
newsletter viewed 1 0`,
}

var question = regexp.MustCompile("(?s)\n### ([^\n]+\\?)\n.*?```sql\n(.*?)```")

// The queries of docs/sql.md answer its questions when run as the user that it describes.
func TestQuestionsOfTheDocumentation(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/sql.md")
	require.NoError(t, err)
	server := enginetest.NewMigratedClickHouse(t, t.TempDir())
	enginetest.Run(t, server)
	_, err = clickhouse.Migrate(t.Context(), clickhouse.Config{URL: server.URL()})
	require.NoError(t, err)
	a := &analytics{t: t, own: server.HTTPURL(), all: server.SQLURL()}
	test.WriteCampaign(func(sql string) { a.must(a.own, sql) })

	asked := 0
	for _, q := range question.FindAllStringSubmatch(string(text), -1) {
		want, known := answers[q[1]]
		require.True(t, known, q[1])
		asked++
		status, got := a.ask(a.all+"&default_format=TSV", q[2])
		if got = strings.ReplaceAll(got, "\t", " "); status != 200 || got != want {
			t.Errorf("%s\ngot:\n%s\nwant:\n%s", q[1], got, want)
		}
	}
	require.Equal(t, len(answers), asked)
	// The document lists every column of every view.
	for _, view := range clickhouse.Views() {
		for column := range strings.Lines(a.must(a.all,
			"SELECT name FROM system.columns WHERE database = 'analytics' AND table = '"+view+"'")) {
			require.Contains(t, string(text), "`"+strings.TrimSpace(column)+"`", view)
		}
	}
}

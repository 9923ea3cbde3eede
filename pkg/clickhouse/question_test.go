package clickhouse_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/clickhouse"
	"lodestone/pkg/engine/enginetest"
)

// answers to the questions of docs/sql.md on the data of campaign, by their headings.
var answers = map[string]string{
	"Which page loses readers?": `Checklist 1 1 0 0
Checklist 2 1 1 100
Guide 1 5 1 20
Guide 2 4 1 25
Guide 3 3 1 33
Guide 4 2 2 100`,
	"Which link converts?": `newsletter 3 2 66.7
blog 2 1 50
ads 9 4 44.4`,
	"Who came back?": `Guide 00000000-0000-0000-0000-000000000101 \N 2 2 2026-03-04`,
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
	"How long does it take until a link is first read?": `Checklist 1 0.5
Guide 4 12.5`,
	"At what hour do they read?": `9 3
10 1
11 1
20 1`,
	"Which lead magnets are read best?": `Guide 4 5 1.6 25
Checklist 1 1 1 100`,
	"Do new readers return?": `2026-03-02 4 1 25
2026-03-09 1 0 0`,
	"Where do visitors come from?": `direct 8
news.example 6`,
	"Which links were never opened?": `Checklist 2 1
Guide 5 1`,
}

var question = regexp.MustCompile("(?s)\n### ([^\n]+\\?)\n.*?```sql\n(.*?)```")

// The queries of docs/sql.md answer its questions, asked by the user whom it tells about.
func TestQuestionsOfTheDocumentation(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/sql.md")
	require.NoError(t, err)
	server := enginetest.NewClickHouse(t, t.TempDir())
	enginetest.Run(t, server)
	_, err = clickhouse.Migrate(t.Context(), clickhouse.Config{URL: server.URL()})
	require.NoError(t, err)
	a := &analytics{t: t, own: server.HTTPURL(), all: server.SQLURL()}
	campaign(a)

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
		for column := range strings.Lines(a.must(a.all, "SELECT name FROM system.columns WHERE database = 'analytics' AND table = '"+view+"'")) {
			require.Contains(t, string(text), "`"+strings.TrimSpace(column)+"`", view)
		}
	}
}

// campaign stores two lead magnets, three generic links, seven access links, and what happened on
// them: six sessions of people and one of a bot.
func campaign(a *analytics) {
	id := func(n int) string { return fmt.Sprintf("00000000-0000-0000-0000-%012d", n) }
	const (
		guide, checklist      = 1, 2
		ads, newsletter, blog = 11, 12, 13
		desktop               = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) Firefox/140.0"
		iphone                = "Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) Mobile/15E148 Safari/604.1"
		android               = "Mozilla/5.0 (Linux; Android 16) Chrome/140.0 Mobile Safari/537.36"
	)
	for n, m := range map[int]string{guide: "'Guide', 4", checklist: "'Checklist', 2"} {
		a.must(a.own, fmt.Sprintf("INSERT INTO lodestone.lead_magnets (id, account_id, title, page_count, version) VALUES ('%s', '%s', %s, 1)", id(n), id(999), m))
	}
	for _, g := range []struct {
		link, magnet, submissions, views, bots, referred int
		slug                                             string
	}{{ads, guide, 4, 10, 1, 6, "ads"}, {newsletter, guide, 2, 3, 0, 0, "newsletter"}, {blog, checklist, 1, 2, 0, 0, "blog"}} {
		a.must(a.own, fmt.Sprintf("INSERT INTO lodestone.generic_links (id, account_id, lead_magnet_id, slug, submission_count, version) VALUES ('%s', '%s', '%s', '%s', %d, 1)",
			id(g.link), id(999), id(g.magnet), g.slug, g.submissions))
		a.must(a.own, fmt.Sprintf(`INSERT INTO lodestone.link_views (account_id, lead_magnet_id, generic_link_id, event_id, referrer, bot, created_at)
			SELECT '%s', '%s', '%s', generateUUIDv4(), if(number < %d, 'https://news.example/x?y=1', ''), if(number >= %d, 'scanner', ''), '2026-03-02 07:00:00' FROM numbers(%d)`,
			id(999), id(g.magnet), id(g.link), g.referred, g.views-g.bots, g.views))
	}
	for _, l := range []struct {
		link, magnet, generic int
		created               string
	}{
		{101, guide, ads, "2026-03-02 08:00:00"}, {102, guide, ads, "2026-03-02 08:00:00"}, {103, guide, ads, "2026-03-02 09:50:00"},
		{104, guide, ads, "2026-03-02 09:10:00"}, {105, guide, newsletter, "2026-03-09 20:00:00"},
		{106, checklist, 0, "2026-03-03 11:00:00"}, {107, checklist, blog, "2026-03-03 10:30:00"},
	} {
		a.must(a.own, fmt.Sprintf("INSERT INTO lodestone.access_links (id, account_id, lead_magnet_id, generic_link_id, created_at, version) VALUES ('%s', '%s', '%s', nullIf('%s', '%s')::Nullable(UUID), '%s', 1)",
			id(l.link), id(999), id(l.magnet), id(l.generic), id(0), l.created))
	}
	event := 1000
	for n, s := range []struct {
		link, magnet, generic int
		started, agent, bot   string
		events                []string // type, page, seconds
	}{
		{101, guide, ads, "2026-03-02 09:00:00", desktop, "", []string{"'page_viewed', 1, 10", "'page_viewed', 2, 20", "'page_viewed', 3, 5", "'page_viewed', 4, 5", "'download_started', 0, 0", "'download_completed', 0, 0"}},
		{101, guide, ads, "2026-03-04 09:30:00", iphone, "", []string{"'page_viewed', 1, 5", "'page_viewed', 4, 15"}},
		{103, guide, ads, "2026-03-02 10:00:00", desktop, "", []string{"'page_viewed', 1, 4", "'page_viewed', 2, 6"}},
		{104, guide, ads, "2026-03-03 09:10:00", android, "", []string{"'page_viewed', 1, 2"}},
		{105, guide, newsletter, "2026-03-10 20:00:00", desktop, "", []string{"'page_viewed', 1, 8", "'page_viewed', 2, 8", "'page_viewed', 3, 8"}},
		{106, checklist, 0, "2026-03-03 12:00:00", "scan/1", "scanner", []string{"'page_viewed', 1, 0"}},
		{107, checklist, blog, "2026-03-03 11:00:00", desktop, "", []string{"'page_viewed', 1, 30", "'page_viewed', 2, 30"}},
	} {
		for i, e := range s.events {
			event++
			a.must(a.own, fmt.Sprintf(`INSERT INTO lodestone.events (account_id, lead_magnet_id, access_link_id, generic_link_id, session_id, event_id, user_agent, bot, created_at, event_type, page, duration_ms)
				SELECT '%s', '%s', '%s', '%s', '%s', '%s', '%s', '%s', toDateTime64('%s', 3, 'UTC') + %d, e.1, e.2, e.3 * 1000 FROM (SELECT (%s) AS e)`,
				id(999), id(s.magnet), id(s.link), id(s.generic), id(200+n), id(event), s.agent, s.bot, s.started, i, e))
		}
	}
}

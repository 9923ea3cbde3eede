package test

import "fmt"

// CampaignAccount is the account of the campaign.
const CampaignAccount = "00000000-0000-0000-0000-000000000999"

const (
	guide, checklist      = 1, 2
	ads, newsletter, blog = 11, 12, 13

	desktop = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) Firefox/140.0"
	iphone  = "Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) Mobile/15E148 Safari/604.1"
	android = "Mozilla/5.0 (Linux; Android 16) Chrome/140.0 Mobile Safari/537.36"
)

// CampaignID is the id that ends in a number: those of lead magnets, links, sessions and events are
// far apart.
func CampaignID(n int) string { return fmt.Sprintf("00000000-0000-0000-0000-%012d", n) }

// WriteCampaign stores two lead magnets, one of them in two versions, three generic links with
// their views and seven submissions, seven access links of five people, and what happened on them:
// six sessions of people and one of a bot. Addresses are copied, as by --sql-emails. run executes a
// statement as a user who may insert, and fails the test.
func WriteCampaign(run func(sql string)) {
	documents(run)
	genericLinks(run)
	submissions(run)
	accessLinks(run)
	sessions(run)
}

func documents(run func(sql string)) {
	for _, m := range []struct {
		id, version, pages int
		title              string
	}{{guide, 2, 3, "Guide"}, {checklist, 1, 2, "Checklist"}} {
		run(fmt.Sprintf("INSERT INTO lodestone.lead_magnets (id, account_id, title, is_active, file_version, page_count, created_at, version) VALUES ('%s', '%s', '%s', true, %d, %d, '2026-03-01 12:00:00', 1)",
			CampaignID(m.id), CampaignAccount, m.title, m.version, m.pages))
	}
	for _, v := range [][3]int{{guide, 1, 4}, {guide, 2, 3}, {checklist, 1, 2}} {
		run(fmt.Sprintf("INSERT INTO lodestone.magnet_versions VALUES ('%s', '%s', %d, %d, 1)",
			CampaignAccount, CampaignID(v[0]), v[1], v[2]))
	}
}

func genericLinks(run func(sql string)) {
	for _, g := range []struct {
		link, magnet, submissions, views, bots, referred int
		slug, query                                      string
	}{
		{ads, guide, 4, 10, 1, 6, "ads", "?utm_source=google&utm_medium=cpc&utm_campaign=spring"},
		{newsletter, guide, 2, 3, 0, 0, "newsletter", "?utm_source=newsletter&utm_campaign=march+issue"},
		{blog, checklist, 1, 2, 0, 0, "blog", ""},
	} {
		run(fmt.Sprintf("INSERT INTO lodestone.generic_links (id, account_id, lead_magnet_id, slug, active, submission_count, created_at, version) VALUES ('%s', '%s', '%s', '%s', true, %d, '2026-03-01 12:00:00', 1)",
			CampaignID(g.link), CampaignAccount, CampaignID(g.magnet), g.slug, g.submissions))
		run(fmt.Sprintf(`INSERT INTO lodestone.link_views (account_id, lead_magnet_id, generic_link_id, event_id, referrer, url, bot, created_at)
			SELECT '%s', '%s', '%s', generateUUIDv4(), if(number < %d, 'https://News.example/x?y=1', ''), '%s', if(number >= %d, 'scanner', ''), '2026-03-02 07:00:00' FROM numbers(%d)`,
			CampaignAccount, CampaignID(g.magnet), CampaignID(g.link), g.referred,
			"https://docs.example/l/"+g.slug+g.query, g.views-g.bots, g.views))
	}
}

// Columns of the sources of a submission: utm_source, utm_medium, utm_campaign, referrer.
const (
	ofAds        = "'google', 'cpc', 'spring', 'https://news.example/x'"
	ofNewsletter = "'newsletter', '', 'march issue', ''"
	ofBlog       = "'', '', '', 'https://blog.example/post'"
	ofNone       = "'', '', '', ''"
)

func submissions(run func(sql string)) {
	for _, s := range []struct {
		id, generic, magnet, person      int
		email, source                    string
		required, verified               bool
		submitted, verifiedAt, consented string
	}{
		{301, ads, guide, 901, "ada@acme.example", ofAds, false, false, "'2026-03-02 08:00:00'",
			"NULL", "'2026-03-02 08:00:00'"},
		{302, ads, guide, 902, "eve@mail.example", ofAds, false, false, "'2026-03-02 08:00:00'", "NULL", "NULL"},
		{303, ads, guide, 903, "bob@acme.example", ofAds, false, false, "'2026-03-02 09:50:00'", "NULL", "NULL"},
		{304, ads, guide, 904, "cy@mail.example", ofAds, false, false, "'2026-03-02 09:10:00'", "NULL", "NULL"},
		{305, newsletter, guide, 905, "dora@beta.example", ofNewsletter, true, true, "'2026-03-09 19:00:00'",
			"'2026-03-09 20:00:00'", "NULL"},
		{306, newsletter, guide, 906, "fay@beta.example", ofNewsletter, true, false, "'2026-03-09 19:30:00'", "NULL", "NULL"},
		{307, blog, checklist, 901, "ada@acme.example", ofBlog, false, false, "'2026-03-03 10:30:00'",
			"NULL", "'2026-03-03 10:30:00'"},
	} {
		run(fmt.Sprintf(`INSERT INTO lodestone.submissions (id, account_id, lead_magnet_id, generic_link_id, email, email_domain, person_id, verification_required, verified,
			utm_source, utm_medium, utm_campaign, referrer, submitted_at, verified_at, consented_at, version)
			VALUES ('%s', '%s', '%s', '%s', '%s', substringIndex('%[5]s', '@', -1), '%s', %t, %t, %s, %s, %s, %s, 1)`,
			CampaignID(s.id), CampaignAccount, CampaignID(s.magnet), CampaignID(s.generic),
			s.email, CampaignID(s.person), s.required, s.verified, s.source,
			s.submitted, s.verifiedAt, s.consented))
	}
}

func accessLinks(run func(sql string)) {
	for _, l := range []struct {
		link, magnet, generic, submission, person int
		email, source, created                    string
	}{
		{101, guide, ads, 301, 901, "ada@acme.example", ofAds, "2026-03-02 08:00:00"},
		{102, guide, ads, 302, 902, "eve@mail.example", ofAds, "2026-03-02 08:00:00"},
		{103, guide, ads, 303, 903, "bob@acme.example", ofAds, "2026-03-02 09:50:00"},
		{104, guide, ads, 304, 904, "cy@mail.example", ofAds, "2026-03-02 09:10:00"},
		{105, guide, newsletter, 305, 905, "dora@beta.example", ofNewsletter, "2026-03-09 20:00:00"},
		{106, checklist, 0, 0, 903, "bob@acme.example", ofNone, "2026-03-03 11:00:00"},
		{107, checklist, blog, 307, 901, "ada@acme.example", ofBlog, "2026-03-03 10:30:00"},
	} {
		run(fmt.Sprintf(`INSERT INTO lodestone.access_links (id, account_id, lead_magnet_id, generic_link_id, submission_id, email, email_domain, person_id,
			utm_source, utm_medium, utm_campaign, referrer, source, is_active, created_at, version)
			VALUES ('%s', '%s', '%s', nullIf('%s', '%[11]s'), nullIf('%[5]s', '%[11]s'), '%[6]s', substringIndex('%[6]s', '@', -1), '%[7]s', %[8]s, '%[9]s', true, '%[10]s', 1)`,
			CampaignID(l.link), CampaignAccount, CampaignID(l.magnet), CampaignID(l.generic),
			CampaignID(l.submission), l.email, CampaignID(l.person), l.source,
			map[bool]string{true: "form", false: "api"}[l.generic > 0], l.created, CampaignID(0)))
	}
}

func sessions(run func(sql string)) {
	event := 1000
	for n, s := range []struct {
		link, magnet, version, generic int
		started, agent, bot            string
		events                         []string // type, page, seconds
	}{
		{101, guide, 1, ads, "2026-03-02 09:00:00", desktop, "", []string{"'page_viewed', 1, 10", "'page_viewed', 2, 20",
			"'page_viewed', 3, 5", "'page_viewed', 4, 5", "'download_started', 0, 0", "'download_completed', 0, 0"}},
		{101, guide, 1, ads, "2026-03-04 09:30:00", iphone, "", []string{"'page_viewed', 1, 5", "'page_viewed', 4, 15"}},
		{103, guide, 1, ads, "2026-03-02 10:00:00", desktop, "", []string{"'page_viewed', 1, 4", "'page_viewed', 2, 6"}},
		{104, guide, 1, ads, "2026-03-03 09:10:00", android, "", []string{"'page_viewed', 1, 2"}},
		{105, guide, 2, newsletter, "2026-03-10 20:00:00", desktop, "",
			[]string{"'page_viewed', 1, 8", "'page_viewed', 2, 8", "'page_viewed', 3, 8"}},
		{106, checklist, 1, 0, "2026-03-03 12:00:00", "scan/1", "scanner", []string{"'page_viewed', 1, 0"}},
		{107, checklist, 1, blog, "2026-03-03 11:00:00", desktop, "",
			[]string{"'page_viewed', 1, 30", "'page_viewed', 2, 30"}},
	} {
		for i, e := range s.events {
			event++
			run(fmt.Sprintf(`INSERT INTO lodestone.events (account_id, lead_magnet_id, magnet_version, access_link_id, generic_link_id, session_id, event_id, user_agent, bot, created_at, event_type, page, duration_ms)
				SELECT '%s', '%s', %d, '%s', '%s', '%s', '%s', '%s', '%s', toDateTime64('%s', 3, 'UTC') + %d, e.1, e.2, e.3 * 1000 FROM (SELECT (%s) AS e)`,
				CampaignAccount, CampaignID(s.magnet), s.version, CampaignID(s.link), CampaignID(s.generic),
				CampaignID(200+n), CampaignID(event), s.agent, s.bot, s.started, i, e))
		}
	}
	run(fmt.Sprintf("INSERT INTO lodestone.suspects (id, account_id, access_link_id, rule, started_at, version) VALUES ('%s', '%s', '%s', 'delivery', '2026-03-03 09:10:00', 1)",
		CampaignID(203), CampaignAccount, CampaignID(104)))
}

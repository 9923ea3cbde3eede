package report_test

import (
	"context"
	"encoding/hex"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	native "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/event"
	"lodestone/pkg/timezone"
	"lodestone/query/querytest"
	"lodestone/query/report"
)

// model is an account whose events, views, submissions and links are in ClickHouse, and as records
// in memory.
type model struct {
	t       *testing.T
	random  *rand.Rand
	account uuid.UUID
	zone    *time.Location
	from    time.Time
	days    int

	magnets  []uuid.UUID
	generics []uuid.UUID
	links    []accessLink
	pages    map[uuid.UUID][]int // of each version from 1 on; 0: not known
	records  []record
	stored   []querytest.StoredEvent
	rows     map[string][]any // what is to be inserted, by its statement
}

type accessLink struct {
	id, person, submission uuid.UUID
	source                 map[string]any
	deleted                bool
	api                    bool // the API made it, and it was not deleted
}

var agents = map[string]string{
	"": "unknown",
	"Mozilla/5.0 (Windows NT 10.0) Chrome/120":              "desktop",
	"Mozilla/5.0 (iPhone; CPU iPhone OS 17)":                "mobile",
	"Mozilla/5.0 (iPad; CPU OS 17)":                         "tablet",
	"curl/8.0":                                              "other",
	"Mozilla/5.0 (Web0S; Linux/SmartTV)":                    "other",
	"Mozilla/4.0 (MSIE 8.0; Windows NT 6.1; Tablet PC 2.0)": "desktop",
}

// names are the browser and the operating system of each of the agents, as the consumer stores
// them.
var names = map[string][2]string{
	"": {},
	"Mozilla/5.0 (Windows NT 10.0) Chrome/120":              {"Chrome", "Windows"},
	"Mozilla/5.0 (iPhone; CPU iPhone OS 17)":                {"Safari", "iOS"},
	"Mozilla/5.0 (iPad; CPU OS 17)":                         {"Safari", "iOS"},
	"curl/8.0":                                              {"Other", "Other"},
	"Mozilla/5.0 (Web0S; Linux/SmartTV)":                    {"Other", "webOS"},
	"Mozilla/4.0 (MSIE 8.0; Windows NT 6.1; Tablet PC 2.0)": {"Internet Explorer", "Windows"},
}

// stored are both names in one column.
func stored(agent string) string { return strings.Trim(names[agent][0]+"/"+names[agent][1], "/") }

// visitor makes up where a visitor is from, and adds that and the names of the agent to the
// properties of a record.
func (m *model) visitor(agent string, dims map[string]any) event.Origin {
	language, country := m.pick("", "de", "gsw", "en"), m.pick("", "DE", "CH")
	dims["browser"], dims["os"] = orNil(names[agent][0]), orNil(names[agent][1])
	dims["language"], dims["country"] = orNil(language), orNil(country)
	l, _ := event.ParseLanguage([]byte(language))
	c, _ := event.ParseCountry(country)
	return event.Origin{Language: l, Country: c}
}

var noSource = map[string]any{"utm_source": nil, "utm_medium": nil, "utm_campaign": nil, "utm_content": nil,
	"utm_term": nil, "referrer_host": nil, "email_domain": nil}

func newModel(t *testing.T, random *rand.Rand, zone *time.Location, from time.Time, days int) *model {
	t.Helper()
	m := &model{t: t, random: random, account: querytest.ID(t), zone: zone, from: from, days: days,
		pages: map[uuid.UUID][]int{}, rows: map[string][]any{}}
	for range 2 {
		m.magnets = append(m.magnets, querytest.ID(t))
		m.generics = append(m.generics, querytest.ID(t))
	}
	for i, magnet := range m.magnets {
		m.add("INSERT INTO lodestone.lead_magnets (id, account_id, title, version) VALUES (?, ?, ?, 1)", magnet,
			m.account, fmt.Sprint("Magnet ", i))
		m.pages[magnet] = []int{3 + random.IntN(3), 2, 0}
		for version, count := range m.pages[magnet] {
			if count > 0 {
				m.add("INSERT INTO lodestone.magnet_versions VALUES (?, ?, ?, ?, 1)", m.account, magnet, version+1, count)
			}
		}
	}
	for range 4 + random.IntN(8) {
		m.addLink()
	}
	for range 30 + random.IntN(200) {
		m.addEvent()
	}
	for range random.IntN(60) {
		m.addView()
	}
	m.insert()
	querytest.Store(t, querytest.Conn(t), m.stored...)
	m.markOpened()
	return m
}

// add keeps a row for insert, of a statement that ends with the values of one row.
func (m *model) add(sql string, row ...any) { m.rows[sql] = append(m.rows[sql], row...) }

// insert stores all rows, those of a statement as one block.
func (m *model) insert() {
	m.t.Helper()
	for sql, args := range m.rows {
		values := sql[strings.LastIndex(sql, "VALUES")+len("VALUES"):]
		m.exec(sql+strings.Repeat(","+values, len(args)/strings.Count(values, "?")-1), args...)
	}
}

func (m *model) exec(sql string, args ...any) {
	m.t.Helper()
	ctx := native.Context(context.Background(), native.WithSettings(native.Settings{"async_insert": 0}))
	require.NoError(m.t, querytest.Conn(m.t).Exec(ctx, sql, args...))
}

// moment returns a time in the range or near it, now and then at its edge or that of an hour.
func (m *model) moment() time.Time {
	at := m.from.AddDate(0, 0,
		-m.days-1).Add(time.Duration(m.random.Int64N(int64((2*m.days+3)*24*3600*1000))) * time.Millisecond)
	switch m.random.IntN(6) {
	case 0:
		at = at.Truncate(time.Hour)
	case 1:
		at = at.Truncate(time.Hour).Add(-time.Millisecond)
	case 2:
		at = at.Truncate(24 * time.Hour)
	}
	return at.UTC()
}

func (m *model) pick(values ...string) string { return values[m.random.IntN(len(values))] }

func orNil(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// timed adds what is read off the time to the properties of a record.
func (m *model) timed(at time.Time, dims map[string]any) map[string]any {
	local := at.In(m.zone)
	dims["weekday"], dims["hour_of_day"] = int64((local.Weekday()+6)%7+1), int64(local.Hour())
	return dims
}

// addLink adds an access link, most with a submission, some deleted.
func (m *model) addLink() {
	l := accessLink{id: querytest.ID(m.t), source: map[string]any{}}
	domain := m.pick("example.com", "acme.test")
	l.person = uuid.NewSHA1(m.account, []byte(m.pick("ann", "bob", "cara", "dan")+domain))
	generic := m.random.IntN(2)
	source, campaign := m.pick("", "newsletter", "it's", `back\slash`), m.pick("", "spring")
	referrer := m.pick("", "https://Search.Example/?q=1", "https://blog.example:8443/a")
	for name, value := range map[string]string{
		"utm_source": source, "utm_medium": "", "utm_campaign": campaign, "utm_content": "", "utm_term": "",
		"referrer_host": map[string]string{"": "", "https://Search.Example/?q=1": "search.example",
			"https://blog.example:8443/a": "blog.example"}[referrer],
		"email_domain": domain,
	} {
		l.source[name] = orNil(value)
	}
	if m.random.IntN(4) > 0 {
		l.submission = querytest.ID(m.t)
		m.addSubmission(l, generic, source, campaign, referrer, domain)
	}
	l.deleted = m.random.IntN(6) == 0
	var submission any
	origin := "api"
	if l.submission != uuid.Nil {
		submission, origin = l.submission, m.pick("form", "mail")
	}
	l.api = origin == "api" && !l.deleted
	m.add(`INSERT INTO lodestone.access_links (id, account_id, lead_magnet_id, generic_link_id, submission_id, source, email_domain, person_id, utm_source, utm_campaign, referrer, version)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1)`, l.id, m.account, m.magnets[generic], m.generics[generic], submission, origin, domain, l.person, source, campaign, referrer)
	if l.deleted {
		m.add("INSERT INTO lodestone.access_links (id, account_id, version, deleted) VALUES (?, ?, 2, 1)", l.id, m.account)
		l.source, l.person = noSource, l.id
	}
	m.links = append(m.links, l)
}

func (m *model) addSubmission(l accessLink, generic int, source, campaign, referrer, domain string) {
	at := m.moment()
	required, verified := m.random.IntN(2) == 0, m.random.IntN(2) == 0
	var verifiedAt any
	confirmed := at
	if required && verified {
		confirmed = at.Add(time.Duration(m.random.IntN(100)) * time.Hour)
		verifiedAt = confirmed
	}
	m.add(`INSERT INTO lodestone.submissions (id, account_id, lead_magnet_id, generic_link_id, email_domain, person_id, verification_required, verified,
		utm_source, utm_campaign, referrer, submitted_at, verified_at, version) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, fromUnixTimestamp64Milli(toInt64(?), 'UTC'), ?, 1)`,
		l.submission, m.account, m.magnets[generic], m.generics[generic], domain, l.person, required, required && verified,
		source, campaign, referrer, at.UnixMilli(),
		verifiedTime(verifiedAt))
	dims := func(at time.Time) map[string]any {
		d := m.timed(at, map[string]any{"lead_magnet_id": m.magnets[generic].String(),
			"generic_link_id": m.generics[generic].String()})
		maps.Copy(d, l.source)
		return d
	}
	m.records = append(m.records, record{source: "submission", at: at, dims: dims(at), link: l.submission})
	if !required || verified {
		m.records = append(m.records, record{source: "confirmation", at: confirmed,
			dims: dims(confirmed), verified: required})
	}
}

// verifiedTime is a time with its milliseconds, which the driver would leave out.
func verifiedTime(at any) any {
	if t, ok := at.(time.Time); ok {
		return native.DateNamed("", t, native.MilliSeconds).Value
	}
	return nil
}

func (m *model) addEvent() {
	l := m.links[m.random.IntN(len(m.links))]
	magnet := m.magnets[m.random.IntN(2)]
	version := m.random.IntN(4)
	r := record{
		source: "event", at: m.moment(), kind: m.pick("page_viewed", "page_viewed", "page_viewed",
			"download_started", "download_completed"),
		link: l.id, person: l.person, api: l.api, magnet: magnet, version: version,
	}
	if version > 0 {
		r.pages = m.pages[magnet][version-1]
	}
	id := querytest.ID(m.t)
	session := uuid.NewSHA1(l.id, []byte(m.pick("1", "2", "3")))
	if m.random.IntN(8) == 0 {
		session = uuid.Nil
	}
	if r.session = session; session == uuid.Nil {
		r.session = id
	}
	var kind event.Type
	switch r.kind {
	case "page_viewed":
		kind, r.page, r.ms = event.PageViewed, m.random.IntN(6), m.random.IntN(2)*m.random.IntN(9000)
		if m.random.IntN(30) == 0 {
			r.ms = 5_000_000
		}
	case "download_started":
		kind = event.DownloadStarted
	default:
		kind = event.DownloadCompleted
	}
	bot := m.pick("", "", "", "", "", "scanner")
	r.bot = bot != ""
	agent := m.pick("", "Mozilla/5.0 (Windows NT 10.0) Chrome/120", "Mozilla/5.0 (iPhone; CPU iPhone OS 17)",
		"Mozilla/5.0 (iPad; CPU OS 17)", "curl/8.0")
	generic := m.random.IntN(3)
	genericID := uuid.Nil
	if generic < 2 {
		genericID = m.generics[generic]
	}
	r.dims = m.timed(r.at, map[string]any{
		"lead_magnet_id": magnet.String(), "generic_link_id": nil, "access_link_id": l.id.String(),
		"magnet_version": int64(version),
		"page":           nil, "device": agents[agent], "event_type": r.kind, "bot": r.bot,
	})
	if generic < 2 {
		r.dims["generic_link_id"] = genericID.String()
	}
	if r.page > 0 {
		r.dims["page"] = int64(r.page)
	}
	if r.bot {
		r.dims["device"] = "bot"
	}
	maps.Copy(r.dims, l.source)
	origin := m.visitor(agent, r.dims)
	m.records = append(m.records, r)
	m.stored = append(m.stored, querytest.StoredEvent{Event: event.Event{
		AccountID: m.account, LeadMagnetID: magnet, GenericLinkID: genericID, AccessLinkID: l.id,
		SessionID: session, EventID: id, Type: kind,
		MagnetVersion: uint32(version), Page: uint32(r.page), DurationMS: uint32(r.ms),
		UserAgent: []byte(agent), Bot: bot, Origin: origin,
		CreatedAt: r.at.UnixMilli(), ReceivedAt: r.at.UnixMilli(),
	}, AgentNames: stored(agent), TopicID: m.account, Offset: int64(len(m.stored))})
}

func (m *model) addView() {
	r := record{source: "view", at: m.moment(), hash: m.pick("", "00112233445566778899aabbccddeeff",
		"ffeeddccbbaa99887766554433221100")}
	generic := m.random.IntN(2)
	source, bot := m.pick("", "newsletter", "a b&c"), m.pick("", "", "", "", "crawler")
	agent := m.pick("", "Mozilla/5.0 (iPhone; CPU iPhone OS 17)")
	r.bot = bot != ""
	r.dims = m.timed(r.at, map[string]any{
		"lead_magnet_id":  m.magnets[generic].String(),
		"generic_link_id": m.generics[generic].String(), "device": agents[agent],
		"utm_source": orNil(source), "utm_medium": nil, "utm_campaign": nil, "utm_content": nil,
		"utm_term": nil, "referrer_host": nil,
	})
	if r.bot {
		r.dims["device"] = "bot"
	}
	url := m.pick("https://pages.example/l/x?a=1", "https://Acme.Example:8443/pricing.html?a=1", "/nowhere?a=1")
	r.dims["page_url"] = map[byte]any{'p': "pages.example/l/x", 'A': "acme.example/pricing.html"}[url[len("https://")]]
	if source != "" {
		url += "&utm_source=" + map[string]string{"newsletter": "newsletter", "a b&c": "a+b%26c"}[source]
	}
	hash := r.hash
	if hash == "" {
		hash = strings.Repeat("00", 16)
	}
	_, err := hex.DecodeString(hash)
	require.NoError(m.t, err)
	origin := m.visitor(agent, r.dims)
	m.records = append(m.records, r)
	m.add(`INSERT INTO lodestone.link_views (account_id, lead_magnet_id, generic_link_id, event_id, url, referrer, ip_hash, user_agent, agent_names, origin,
		bot, created_at) VALUES (?, ?, ?, ?, ?, '', unhex(?), ?, ?, ?, ?, fromUnixTimestamp64Milli(toInt64(?), 'UTC'))`,
		m.account, m.magnets[generic], m.generics[generic], querytest.ID(m.t), url, hash, agent, stored(agent),
		origin.String(), bot, r.at.UnixMilli())
}

// markOpened marks the submissions with an access link, not deleted, by which a person viewed a
// page, and by which anyone did.
func (m *model) markOpened() {
	opened, visited := map[uuid.UUID]bool{}, map[uuid.UUID]bool{}
	for _, l := range m.links {
		for _, r := range m.records {
			if !l.deleted && r.source == "event" && r.kind == "page_viewed" && r.link == l.id {
				visited[l.submission] = true
				opened[l.submission] = opened[l.submission] || !r.bot
			}
		}
	}
	for i, r := range m.records {
		m.records[i].opened = r.source == "submission" && opened[r.link]
		m.records[i].visited = r.source == "submission" && visited[r.link]
	}
}

// label names the interval that a moment lies in.
func label(at time.Time, unit report.Interval) string {
	switch unit {
	case report.Hour:
		return at.Format("2006-01-02 15 -07:00")
	case report.Day:
		return at.Format("2006-01-02")
	case report.Week:
		year, week := at.ISOWeek()
		return fmt.Sprint(year, week)
	case report.Month:
		return at.Format("2006-01")
	case report.Whole:
	}
	return ""
}

// windows walks through a range minute by minute, and begins a window wherever the label changes.
func windows(from, to time.Time, zone *time.Location, unit report.Interval) (list []window) {
	last := ""
	for at := from.In(zone); at.Before(to); at = at.Add(time.Minute) {
		if l := label(at, unit); len(list) == 0 || l != last {
			last = l
			begin := at
			for unit != report.Whole && label(begin.Add(-time.Minute), unit) == l {
				begin = begin.Add(-time.Minute)
			}
			list = append(list, window{from: at, label: begin.Format(time.RFC3339)})
		}
	}
	for i := range list {
		if list[i].to = to; i+1 < len(list) {
			list[i].to = list[i+1].from
		}
		if unit == report.Whole {
			list[i].label = ""
		}
	}
	return list
}

// firstMoment returns when a day begins, found minute by minute.
func firstMoment(zone *time.Location, year int, month time.Month, day int) time.Time {
	date := time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
	for at := date.Add(-16 * time.Hour); ; at = at.Add(time.Minute) {
		if l := at.In(zone); l.Format("2006-01-02") >= date.Format("2006-01-02") {
			return l
		}
	}
}

// ask makes up a question about the model, with the windows that the reference needs.
func (m *model) ask() (q report.Question, now, before []window) {
	r := m.random
	q = report.Question{Timezone: m.zone.String(), IncludeBots: r.IntN(4) == 0, Compare: r.IntN(2) == 0, Limit: r.IntN(4)}
	q.Interval = []report.Interval{report.Whole, report.Hour, report.Day, report.Week, report.Month}[r.IntN(5)]
	year, month, day := m.from.Date()
	shift, length := r.IntN(m.days/2), 1+r.IntN(m.days/2)
	if q.Interval == report.Hour {
		length = min(length, 4)
	}
	from, to := firstMoment(m.zone, year, month, day+shift), firstMoment(m.zone, year, month, day+shift+length)
	earlier := firstMoment(m.zone, year, month, day+shift-length)
	q.From, q.To = from.Format("2006-01-02"), to.Format("2006-01-02")
	switch r.IntN(4) {
	case 0: // whole months
		months := 1 + r.IntN(2)
		from, to, earlier = firstMoment(m.zone, year, month, 1), firstMoment(m.zone, year, month+time.Month(months), 1),
			firstMoment(m.zone, year, month-time.Month(months), 1)
		q.From, q.To = from.Format("2006-01-02"), to.Format("2006-01-02")
		if q.Interval == report.Hour {
			q.Interval = report.Day
		}
	case 1: // any times
		from = from.Add(time.Duration(1+r.IntN(600)) * time.Minute)
		to = to.Add(time.Duration(1+r.IntN(500)) * time.Minute)
		if !from.Before(to) {
			to = from.Add(time.Hour)
		}
		earlier = from.Add(-to.Sub(from))
		q.From, q.To = from.UTC().Format(time.RFC3339), to.Format(time.RFC3339)
	}
	now, before = windows(from, to, m.zone, q.Interval), windows(earlier, from, m.zone, q.Interval)
	if !q.Compare {
		before = nil
	}

	names := report.Metrics()
	for range 1 + r.IntN(3) {
		name := names[r.IntN(len(names))]
		if !strings.Contains(strings.Join(q.Metrics, " ")+" ", name+" ") {
			q.Metrics = append(q.Metrics, name)
		}
	}
	fits := func(dimension string) bool {
		return report.Combines(q.Metrics, dimension) && (dimension != "bot" || q.IncludeBots)
	}
	all := report.Dimensions()
	for range r.IntN(3) {
		d := all[r.IntN(len(all))]
		if fits(d) && (len(q.Dimensions) == 0 || q.Dimensions[0] != d) {
			q.Dimensions = append(q.Dimensions, d)
		}
	}
	for i, into := range []*[]report.Condition{&q.Filters, &q.Exclude} {
		if r.IntN(3) > 0 {
			continue
		}
		d := all[r.IntN(len(all))]
		if !fits(d) {
			continue
		}
		c := report.Condition{Dimension: d}
		for range 1 + r.IntN(3) {
			if one := m.records[r.IntN(len(m.records))]; i == 0 || r.IntN(2) == 0 {
				if value, ok := one.dims[d]; ok {
					c.Values = append(c.Values, value)
				}
			}
		}
		if len(c.Values) > 0 {
			*into = append(*into, c)
		}
	}
	if r.IntN(2) == 0 {
		q.OrderBy = m.pick("", "-") + q.Metrics[r.IntN(len(q.Metrics))]
	}
	return q, now, before
}

// shown is an answer as the reference writes it.
func shown(q report.Question, a report.Answer) reference {
	text := func(n report.Numbers) string {
		s := show(n.Now)
		if q.Compare {
			was := "none"
			if n.Previous != nil {
				was = show(n.Previous)
			}
			s += " was " + was
		}
		return s
	}
	ref := reference{totals: text(a.Totals), bots: a.ExcludedBots}
	for _, row := range a.Rows {
		var values []string
		for _, v := range row.Values {
			values = append(values, fmt.Sprint(v))
		}
		name, at := strings.Join(values, "/"), ""
		if row.Other {
			name = "other"
		}
		if q.Interval != report.Whole {
			at = row.Time.Format(time.RFC3339)
		}
		ref.rows = append(ref.rows, fmt.Sprintf("%s %q: %s", at, name, text(row.Numbers)))
	}
	return ref
}

// Every answer is that of the reference, in zones with days of 23, 25 and 23.5 hours, days that do
// not begin at midnight, and a leap day; for two accounts beside each other. Neither sees the
// other.
func TestAnswersAgainstTheReference(t *testing.T) {
	t.Parallel()
	places := []struct {
		zone string
		from string
	}{
		{"UTC", "2024-02-20"}, {"Europe/Berlin", "2026-03-20"}, {"Europe/Berlin", "2026-10-15"},
		{"Australia/Lord_Howe", "2026-03-25"},
		{"America/Havana", "2026-03-01"}, {"America/Havana", "2026-10-20"}, {"Asia/Kolkata", "2026-06-01"},
		{"Asia/Beirut", "2026-03-20"},
	}
	reporter := report.New(querytest.Scoped(t))
	for seed, place := range places {
		t.Run(fmt.Sprint(seed, " ", place.zone, " ", place.from), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(uint64(seed), 19))
			zone, err := timezone.Load(place.zone)
			require.NoError(t, err)
			from, err := time.Parse(time.DateOnly, place.from)
			require.NoError(t, err)
			models := []*model{newModel(t, random, zone, from, 20), newModel(t, random, zone, from, 20)}
			for batch := range 4 {
				m := models[batch%2]
				var questions []report.Question
				var want []reference
				var paths []string
				for range 1 + random.IntN(5) {
					q, now, before := m.ask()
					questions, paths, want = append(questions, q), append(paths, ""), append(want, m.answer(q, now, before))
				}
				answers, err := reporter.Answer(t.Context(), m.account, questions, paths)
				require.NoError(t, err, "%+v", questions)
				for i, q := range questions {
					got := shown(q, answers[i])
					require.Equal(t, want[i].rows, got.rows, "%+v", q)
					require.Equal(t, want[i].totals, got.totals, "%+v", q)
					require.Equal(t, want[i].bots, got.bots, "%+v", q)
				}
			}
		})
	}
}

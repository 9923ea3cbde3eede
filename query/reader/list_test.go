package reader_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/event"
	"lodestone/pkg/test/enginetest"
	"lodestone/query/querytest"
	"lodestone/query/reader"
)

// filter makes up what is asked for.
func (m *model) filter() (f reader.Filter) {
	r := m.random
	maybe := func() bool { return r.IntN(3) == 0 }
	if maybe() {
		f.Text = m.pick("ANN", "@example.com", "acme.TEST", "a", "%", "_@", "'", "n@e", "none")
	}
	if maybe() {
		f.LeadMagnetID = &m.magnets[r.IntN(2)]
	}
	if maybe() {
		f.GenericLinkID = &m.generics[r.IntN(2)]
	}
	if maybe() {
		f.MinPages = r.IntN(8)
	}
	if maybe() {
		f.Finished = new(r.IntN(2) == 0)
	}
	if maybe() {
		f.Downloaded = new(r.IntN(2) == 0)
	}
	if maybe() {
		f.FromForm = new(r.IntN(2) == 0)
	}
	if maybe() {
		f.Reached = r.IntN(6)
	}
	if maybe() {
		f.StoppedAt = r.IntN(6)
	}
	if maybe() {
		f.UTMSource = new(m.pick("newsletter", "none"))
	}
	if maybe() {
		f.UTMCampaign = new(m.pick("it's", "none"))
	}
	if maybe() {
		f.ReferrerHost = new(m.pick("search.example", "blog.example"))
	}
	if maybe() {
		sources, first := []string{"utm_source", "utm_campaign", "referrer_host"}, r.IntN(3)
		f.Without = sources[first : first+1+r.IntN(3-first)]
	}
	if maybe() {
		f.Device = new(m.pick("desktop", "mobile", "unknown", "tablet"))
	}
	if maybe() {
		f.MagnetVersion = new(r.IntN(4))
	}
	bound := func() *time.Time {
		at := m.moment()
		if r.IntN(2) == 0 { // at an event, or just behind it
			at = time.UnixMilli(m.events[r.IntN(len(m.events))].CreatedAt).Add(time.Duration(r.IntN(2)))
		}
		return &at
	}
	if maybe() {
		f.From = bound()
	}
	if maybe() {
		f.To = bound()
	}
	if !maybe() {
		f.Order = reader.Order(m.pick(reader.Orders()...))
	}
	return f
}

// walk reads a list from its first page on.
func (m *model) walk(f reader.Filter, limit int64) (people []reader.Person, pages []reader.Page) {
	m.t.Helper()
	page, err := m.readers.Page(m.t.Context(), m.account, f, 0, limit)
	for {
		require.NoError(m.t, err, "%+v", f)
		people, pages = append(people, page.People...), append(pages, page)
		if page.Next == nil {
			return people, pages
		}
		require.Len(m.t, page.People, int(limit))
		require.NoError(m.t, f.Check(m.account, *page.Next))
		page, err = m.readers.After(m.t.Context(), m.account, f, *page.Next, limit)
	}
}

// Every list is that of the reference, page by page, for two accounts beside each other.
func TestListsAgainstTheReference(t *testing.T) {
	t.Parallel()
	pool := enginetest.SharedPostgres(t)
	for seed := range uint64(3) {
		models := []*model{newModel(t, pool, seed), newModel(t, pool, seed+100)}
		models[0].fill()
		models[1].fill()
		for n := range 8 {
			m := models[n%2]
			f := m.filter()
			got, pages := m.walk(f, int64(2+m.random.IntN(6)))
			want, bots := m.list(f, pages[0].AsOf)
			require.Equal(t, want, got, "seed %d: %+v", seed, f)
			for _, page := range pages {
				require.EqualValues(t, len(want), page.Total, "seed %d: %+v", seed, f)
				require.Equal(t, bots, page.ExcludedBots, "seed %d: %+v", seed, f)
				require.Equal(t, pages[0].AsOf, page.AsOf)
			}
			offset := m.random.IntN(len(want) + 3)
			page, err := m.readers.Page(t.Context(), m.account, f, int64(offset), 2)
			require.NoError(t, err)
			want, _ = m.list(f, page.AsOf)
			require.Len(t, page.People, len(want[min(offset, len(want)):min(offset+2, len(want))]))
			for i := range page.People {
				require.Equal(t, want[offset+i], page.People[i])
			}
			require.EqualValues(t, len(want), page.Total)
			var all []reader.Person
			end, err := m.readers.All(t.Context(), m.account, f, func(people []reader.Person) error {
				all = append(all, people...)
				return nil
			})
			require.NoError(t, err)
			want, _ = m.list(f, end.AsOf)
			require.Equal(t, want, all)
			require.Equal(t, int64(len(want)), end.Total)
		}
	}
}

// view is a page view of a link without a session.
func (m *model) view(l link, page uint32, at time.Time, spent time.Duration) event.Event {
	return event.Event{
		LeadMagnetID: l.magnet, AccessLinkID: l.id, Type: event.PageViewed, MagnetVersion: 1, Page: page,
		DurationMS: uint32(spent.Milliseconds()), CreatedAt: at.UnixMilli(),
	}
}

func (m *model) recipient(email string) link {
	l := link{id: querytest.ID(m.t), person: m.person(email), magnet: m.magnets[0], email: email,
		origin: "api", created: ago(time.Hour)}
	m.addLink(l, m.generics[0], "")
	return l
}

// An address that changes while all people are read is still the one of the beginning.
func TestAllAddressesAreOfOneState(t *testing.T) {
	t.Parallel()
	m := newModel(t, enginetest.SharedPostgres(t), 2)
	const readers = 1500
	var ids []uuid.UUID
	for range readers {
		id := querytest.ID(t)
		ids = append(ids, id)
		m.add(m.view(link{id: id, magnet: m.magnets[0]}, 1, ago(time.Hour), time.Second))
	}
	m.store()
	m.postgres(`INSERT INTO access_links (id, account_id, lead_magnet_id, generic_link_id, email, email_key, token_hash, token_sealed, token_key, source)
		SELECT id, $2, $3, $4, 'before@example.com', 'before@example.com', sha256(id::text::bytea), '', 0, 'api' FROM unnest($1::uuid[]) AS id`, ids, m.account, m.magnets[0], m.generics[0])
	read := 0
	_, err := m.readers.All(t.Context(), m.account, reader.Filter{Text: "example"}, func(people []reader.Person) error {
		for _, p := range people {
			require.NotNil(t, p.Email)
			require.Equal(t, "before@example.com", *p.Email)
		}
		if read += len(people); read < readers {
			m.postgres("UPDATE access_links SET email = 'after@example.com' WHERE account_id = $1", m.account)
		}
		return nil
	})
	require.NoError(t, err)
	require.Equal(t, readers, read)
}

// A walk through the pages shows each person once, although people read meanwhile, and would move
// to its front.
func TestAWalkIsOfOneState(t *testing.T) {
	t.Parallel()
	m := newModel(t, enginetest.SharedPostgres(t), 1)
	var links []link
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g"} {
		l := m.recipient(name + "@example.com")
		m.add(m.view(l, 1, ago(time.Duration(len(links)+1)*time.Hour), time.Second))
		links = append(links, l)
	}
	m.store()
	first, err := m.readers.Page(t.Context(), m.account, reader.Filter{}, 0, 2)
	require.NoError(t, err)
	want, _ := m.list(reader.Filter{}, first.AsOf)
	got := first.People
	for next := first.Next; next != nil; {
		// The last one reads, one who was shown reads again, and one comes for the first time.
		m.add(m.view(links[6], 2, ago(0), time.Second))
		m.add(m.view(links[0], 3, ago(10*time.Hour), time.Second))
		m.add(m.view(m.recipient(uuid.NewString()+"@example.com"), 1, ago(0), time.Second))
		m.store()
		page, err := m.readers.After(t.Context(), m.account, reader.Filter{}, *next, 2)
		require.NoError(t, err)
		require.EqualValues(t, 7, page.Total)
		got, next = append(got, page.People...), page.Next
	}
	require.Equal(t, want, got)
}

// Each part of the score has its steps, and all of them together are 100.
func TestScore(t *testing.T) {
	t.Parallel()
	m := newModel(t, enginetest.SharedPostgres(t), 2)
	day := 24 * time.Hour
	last := m.pages[m.magnets[0]][0]
	for email, events := range map[string]func(l link) []event.Event{
		"glance@example.com": func(l link) []event.Event {
			return []event.Event{m.view(l, 1,
				ago(31*day), 23999*time.Millisecond)}
		},
		"month@example.com": func(l link) []event.Event { return []event.Event{m.view(l, 1, ago(8*day), 24*time.Second)} },
		"idle@example.com":  func(l link) []event.Event { return []event.Event{m.view(l, 1, ago(8*day), time.Hour)} },
		"last@example.com":  func(l link) []event.Event { return []event.Event{m.view(l, last, ago(40*day), 0)} },
		"eager@example.com": func(l link) (list []event.Event) {
			for n := range 20 {
				list = append(list, m.view(l, last, ago(time.Duration(n)*time.Hour), time.Hour))
			}
			download := m.view(l, 0, ago(0), 0)
			download.Type = event.DownloadCompleted
			return append(list, download)
		},
	} {
		l := m.recipient(email)
		for _, e := range events(l) {
			m.add(e)
		}
	}
	m.store()
	people, _ := m.walk(reader.Filter{Order: "-score"}, 10)
	scores := map[string]reader.Score{}
	for i, p := range people {
		scores[*p.Email] = p.Score
		require.True(t, i == 0 || people[i-1].Score.Sum() >= p.Score.Sum())
	}
	require.Equal(t, map[string]reader.Score{
		"glance@example.com": {},
		"month@example.com":  {Attention: 1, Recency: 5},
		"idle@example.com":   {Attention: 2, Recency: 5},
		"last@example.com":   {Finished: 40},
		"eager@example.com":  {Finished: 40, Attention: 25, Returns: 15, Downloads: 10, Recency: 10},
	}, scores)
	require.EqualValues(t, 100, scores["eager@example.com"].Sum())
}

// The links of one address are one person, as long as they are there. A deleted one stands for a
// person without address.
func TestAPersonIsAnAddress(t *testing.T) {
	t.Parallel()
	m := newModel(t, enginetest.SharedPostgres(t), 3)
	one, two := m.recipient("ann@example.com"), m.recipient("Ann@Example.com")
	gone := link{id: querytest.ID(t), person: one.person, magnet: m.magnets[1], email: "ann@example.com", origin: "api",
		created: ago(time.Hour), deleted: true}
	m.addLink(gone, m.generics[1], "")
	m.add(m.view(one, 1, ago(3*time.Hour), time.Second))
	m.add(m.view(two, 1, ago(2*time.Hour), time.Second))
	m.add(m.view(gone, 1, ago(time.Hour), time.Second))
	bot := m.view(m.recipient("scanned@example.com"), 1, ago(time.Hour), time.Second)
	bot.Bot = "scanner"
	m.add(bot)
	m.store()
	people, pages := m.walk(reader.Filter{}, 10)
	require.Len(t, people, 2)
	require.EqualValues(t, 1, pages[0].ExcludedBots)
	require.Equal(t, gone.id, people[0].ID)
	require.Nil(t, people[0].Email)
	require.Equal(t, one.person, people[1].ID)
	require.Equal(t, "Ann@Example.com", *people[1].Email)
	require.Equal(t, []uuid.UUID{one.id, two.id}, people[1].AccessLinks)
	require.EqualValues(t, 1, people[1].Pages, "the same page by two links is one page")
	require.EqualValues(t, 2, people[1].Sessions)

	people, _ = m.walk(reader.Filter{Text: "ANN@"}, 10)
	require.Len(t, people, 1)
	people, _ = m.walk(reader.Filter{Text: "EXAMPLE.com"}, 10)
	require.Len(t, people, 1)
	people, pages = m.walk(reader.Filter{Text: "unknown"}, 10)
	require.Empty(t, people)
	require.False(t, pages[0].AsOf.IsZero())
	other := newModel(t, m.pool, rand.Uint64())
	people, _ = other.walk(reader.Filter{Text: "ann"}, 10)
	require.Empty(t, people, "another account")
}

// A filter is the text itself, whatever signs it has: none of them is an escape or a pattern.
func TestFiltersAreExact(t *testing.T) {
	t.Parallel()
	m := newModel(t, enginetest.SharedPostgres(t), 8)
	texts := []string{
		`\`, `mail\`, `mail\\`, `mail\new`, `mail\\new`, "mail\new", "mail\tnew", `\N`,
		"%", "mail%", "_", "mai_", "mail", "'", `"`,
	}
	for i, text := range texts {
		email := fmt.Sprintf("reader%d@example.com", i)
		l := link{
			id: querytest.ID(t), person: m.person(email), magnet: m.magnets[0], email: email, origin: "mail",
			created: ago(2 * time.Hour),
			source:  reader.Source{UTMSource: text},
		}
		m.addLink(l, m.generics[0], "https://"+text)
		m.add(m.view(l, 1, ago(time.Hour), time.Second))
	}
	m.store()
	for i, text := range texts {
		people, _ := m.walk(reader.Filter{UTMSource: &text}, 10)
		require.Len(t, people, 1, "%q", text)
		require.Equal(t, fmt.Sprintf("reader%d@example.com", i), *people[0].Email, "%q", text)
	}
	for i, text := range append(texts, `none\`, "none%", "none_") {
		f := reader.Filter{ReferrerHost: new("none" + text)}
		if i%2 == 1 {
			f = reader.Filter{Device: new("none" + text)}
		}
		people, _ := m.walk(f, 10)
		require.Empty(t, people, "%q", text)
	}

	// The same holds for a part of an address.
	for _, email := range []string{`a\b@example.com`, "a%b@example.com", "a_b@example.com", "axb@example.com"} {
		m.add(m.view(m.recipient(email), 1, ago(time.Hour), time.Second))
	}
	m.store()
	for _, text := range []string{`a\b`, `a\`, "a%b", "a%", "a_b", "a_"} {
		people, _ := m.walk(reader.Filter{Text: text}, 10)
		require.Len(t, people, 1, "%q", text)
		require.Contains(t, *people[0].Email, text)
	}
	people, _ := m.walk(reader.Filter{Text: `example.com\`}, 10)
	require.Empty(t, people)
}

// Who got a link and opened nothing is listed by when they got it, whatever bots did, and whatever
// they opened before.
func TestWhoOpenedNothing(t *testing.T) {
	t.Parallel()
	m := newModel(t, enginetest.SharedPostgres(t), 9)
	day := 24 * time.Hour
	give := func(name string, n int, before time.Duration, source string) link {
		l := link{id: querytest.ID(t), person: m.person(name + "@example.com"), magnet: m.magnets[n],
			email: name + "@example.com", origin: "mail", created: ago(before), source: reader.Source{UTMSource: source}}
		m.addLink(l, m.generics[n], "")
		return l
	}
	read := func(l link, n int, at time.Time) event.Event {
		e := m.view(l, 1, at, time.Second)
		e.GenericLinkID = m.generics[n]
		return e
	}
	give("old", 0, 40*day, "news")
	give("first", 0, 20*day, "news")
	give("second", 0, 10*day, "")
	m.add(read(give("reader", 0, 10*day, "news"), 0, ago(time.Hour)))
	m.add(read(give("before", 1, 50*day, ""), 1, ago(45*day)))
	give("before", 1, 8*day, "")
	scanned := read(give("scanned", 1, 6*day, ""), 1, ago(5*day))
	scanned.Bot = "scanner"
	m.add(scanned)
	m.add(read(give("late", 0, 25*day, ""), 0, ago(2*day)))
	m.store()
	names := func(f reader.Filter) (names []string) {
		f.Unopened = true
		people, pages := m.walk(f, 1)
		for _, p := range people {
			name, _, _ := strings.Cut(*p.Email, "@")
			names = append(names, name)
			require.NotEmpty(t, p.AccessLinks)
			require.Len(t, p.Magnets, 1)
			require.Zero(t, p.PageViews)
		}
		require.Len(t, people, int(pages[0].Total))
		return names
	}
	require.Equal(t, []string{"scanned", "before", "second", "first"}, names(reader.Filter{From: new(ago(30 * day))}))
	require.Equal(t, []string{"first"}, names(reader.Filter{From: new(ago(30 * day)), To: new(ago(15 * day))}),
		"who opened after the time has opened")
	require.Equal(t, []string{"scanned", "before"}, names(reader.Filter{From: new(ago(30 * day)), LeadMagnetID: &m.magnets[1]}))
	require.Equal(t, []string{"second", "first"}, names(reader.Filter{From: new(ago(30 * day)), GenericLinkID: &m.generics[0]}))
	require.Equal(t, []string{"first", "old"}, names(reader.Filter{UTMSource: new("news")}))
	require.Equal(t, []string{"scanned", "second"}, names(reader.Filter{Without: []string{"utm_source"}}))
	require.Equal(t, []string{"second"}, names(reader.Filter{Text: "second"}))
	require.Empty(t, names(reader.Filter{Finished: new(true)}))
	require.Equal(t, []string{"old", "first", "second", "scanned"}, names(reader.Filter{Order: "last_seen_at"}))
}

// Postgres knows the status of people and what they answered; who has no status has the first one.
func TestStatusAndAnswers(t *testing.T) {
	t.Parallel()
	m := newModel(t, enginetest.SharedPostgres(t), 10)
	for name, status := range map[string]string{"won": "Won", "new": "New", "none": "", "other": "In touch"} {
		email := name + "@example.com"
		m.add(m.view(m.recipient(email), 1, ago(time.Hour), time.Second))
		if status != "" {
			m.postgres("INSERT INTO profiles (account_id, email_key, status) VALUES ($1, $2, $3)", m.account, email, status)
		}
	}
	m.add(m.view(link{id: querytest.ID(t), magnet: m.magnets[0]}, 1, ago(time.Hour), time.Second)) // deleted
	form := m.recipient("form@example.com")
	m.add(m.view(form, 1, ago(time.Hour), time.Second))
	m.store()
	m.postgres(`WITH s AS (INSERT INTO submissions (id, account_id, generic_link_id, email, email_key, answers)
		VALUES (gen_random_uuid(), $1, $2, 'form@example.com', 'form@example.com', '{"company":"ACME Ltd","size":"50"}') RETURNING id)
		UPDATE access_links SET submission_id = s.id FROM s WHERE access_links.id = $3`, m.account, m.generics[0], form.id)
	names := func(f reader.Filter) (names []string) {
		people, pages := m.walk(f, 2)
		for _, p := range people {
			name, _, _ := strings.Cut(*p.Email, "@")
			names = append(names, name)
		}
		require.Len(t, people, int(pages[0].Total))
		return names
	}
	require.Equal(t, []string{"won"}, names(reader.Filter{Status: new("Won")}))
	require.ElementsMatch(t, []string{"new", "none", "form"}, names(reader.Filter{Status: new("New")}))
	require.Empty(t, names(reader.Filter{Status: new("Lost")}))
	require.Equal(t, []string{"form"}, names(reader.Filter{Answers: []byte(`{"company":"acme ltd"}`)}))
	require.Equal(t, []string{"form"}, names(reader.Filter{Answers: []byte(`{"company":"acme ltd","size":"50"}`), Status: new("New"), Text: "form"}))
	require.Empty(t, names(reader.Filter{Answers: []byte(`{"company":"acme ltd","size":"10"}`)}))
	require.Empty(t, names(reader.Filter{Answers: []byte(`{"company":"acme ltd"}`), Status: new("Won")}))
	page, err := m.readers.Page(t.Context(), m.account, reader.Filter{Status: new("New")}, 0, 1)
	require.NoError(t, err)
	require.Error(t, reader.Filter{Status: new("Won")}.Check(m.account, *page.Next))
	// However many people have other statuses, those of the first are found: by themselves, and by
	// whatever else is asked for.
	for i := range 3 {
		email := fmt.Sprint("more", i, "@example.com")
		m.magnets[0], m.magnets[1] = m.magnets[1], m.magnets[0]
		m.recipient(email)
		m.magnets[0], m.magnets[1] = m.magnets[1], m.magnets[0]
		m.postgres("INSERT INTO profiles (account_id, email_key, status) VALUES ($1, $2, 'Won')", m.account, email)
	}
	m.readers.SetMaxLinks(3)
	require.ElementsMatch(t, []string{"new", "none", "form"}, names(reader.Filter{Status: new("New")}))
	m.readers.SetMaxLinks(2)
	require.ElementsMatch(t, []string{"new", "none"}, names(reader.Filter{Status: new("New"), Text: "n"}))
	require.Equal(t, []string{"new"}, names(reader.Filter{Status: new("New"), Text: "new"}))
	require.Equal(t, []string{"form"}, names(reader.Filter{Status: new("New"), Answers: []byte(`{"company":"acme ltd"}`)}))
	require.ElementsMatch(t, []string{"new", "none", "form"},
		names(reader.Filter{Status: new("New"), LeadMagnetID: &m.magnets[0]}), "of this document two people have others")
	_, err = m.readers.Page(t.Context(), m.account, reader.Filter{Status: new("New")}, 0, 1)
	require.ErrorContains(t, err, "add q or lead_magnet_id")
	_, err = m.readers.Page(t.Context(), m.account, reader.Filter{Status: new("Won")}, 0, 1)
	require.ErrorContains(t, err, "add q or lead_magnet_id")
}

// A text that is part of very many addresses is refused, with what to do.
func TestATextOfTooManyAddresses(t *testing.T) {
	t.Parallel()
	m := newModel(t, enginetest.SharedPostgres(t), 6)
	l := m.recipient("ann@example.com")
	m.add(m.view(l, 1, ago(time.Hour), time.Second))
	m.store()
	more := func(n int) {
		m.postgres(`INSERT INTO access_links (id, account_id, lead_magnet_id, email, email_key, token_hash, token_sealed, token_key)
			SELECT gen_random_uuid(), $1, $2, n || '@example.com', n || '@example.com', sha256(gen_random_uuid()::text::bytea), '', 0 FROM generate_series(1, $3::int) AS n`,
			m.account, m.magnets[0], n)
	}
	m.readers.SetMaxLinks(1000)
	more(999)
	people, _ := m.walk(reader.Filter{Text: "example.com"}, 10)
	require.Len(t, people, 1, "as many access links as there may be are looked up")
	more(1)
	_, err := m.readers.Page(t.Context(), m.account, reader.Filter{Text: "example.com"}, 0, 10)
	require.ErrorAs(t, err, &reader.TooManyError{})
	require.ErrorContains(t, err, "give more of it")
	people, _ = m.walk(reader.Filter{Text: "ann@"}, 10)
	require.Len(t, people, 1)
}

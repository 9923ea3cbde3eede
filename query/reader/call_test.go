package reader_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/test/enginetest"
	"lodestone/pkg/timezone"
	"lodestone/query/querytest"
	"lodestone/query/reader"
)

// Whoever finished, came back or passed the score since the beginning of yesterday in the account's
// time zone is called, unless the account has closed them.
func TestCalls(t *testing.T) {
	t.Parallel()
	m := newModel(t, enginetest.SharedPostgres(t), 7)
	m.postgres("UPDATE accounts SET timezone = 'Asia/Kolkata' WHERE id = $1", m.account)
	zone := timezone.OrUTC("Asia/Kolkata")
	now := time.Now()
	year, month, day := now.In(zone).Date()
	yesterday := timezone.Midnight(zone, year, month, day-1).UTC()
	last := m.pages[m.magnets[0]][0]
	reads := func(name string, page uint32, at time.Time, spent time.Duration) uuid.UUID {
		t.Helper()
		for _, l := range m.links {
			if l.email == name+"@example.com" {
				m.add(m.view(l, page, at, spent))
				return l.id
			}
		}
		l := m.recipient(name + "@example.com")
		m.add(m.view(l, page, at, spent))
		return l.id
	}
	finisher := reads("finisher", last, yesterday, time.Second)
	reads("finished.before", last, yesterday.Add(-time.Millisecond), time.Minute)
	reads("won", last, yesterday, time.Second)
	reads("browser", 1, yesterday.Add(time.Hour), time.Second)
	again := reads("again", last, yesterday.AddDate(0, 0, -3), time.Minute)
	reads("again", last, yesterday, time.Second)
	for n := range 10 {
		reads("keen", 1, yesterday.Add(time.Duration(n)*time.Minute), time.Minute)
	}
	m.store()
	m.postgres(`INSERT INTO profiles (account_id, email_key, name, status) VALUES ($1, 'won@example.com', NULL, 'Won'),
		($1, 'finisher@example.com', 'Fay', 'In touch')`, m.account)

	calls, err := m.readers.Calls(t.Context(), m.account, now, 40, 10)
	require.NoError(t, err)
	require.Equal(t, yesterday, calls.Since.UTC())
	require.Len(t, calls.People, 3)
	// 40 for the end, 2 for a minute, 5 for the return, 10 for the week
	first, keen, finished := calls.People[0], calls.People[1], calls.People[2]
	require.Equal(t, again, first.Link)
	require.Equal(t, []any{int64(57), int64(52), 3, yesterday.AddDate(0, 0, -3)},
		[]any{first.Score, first.WasScore, first.AwayDays, *first.Previous})
	require.False(t, first.PassedMark)
	require.Empty(t, first.Finished)

	require.Equal(t, finisher, finished.Link)
	require.Equal(t, []any{int64(50), int64(0), "Fay", "In touch", "finisher@example.com"},
		[]any{finished.Score, finished.WasScore, *finished.Name, *finished.Status, *finished.Email})
	require.True(t, finished.PassedMark)
	require.Equal(t, []uuid.UUID{m.magnets[0]}, finished.Finished)
	require.Nil(t, finished.Previous)

	// 25 for the time, 15 for ten views without a session, 10 for the week
	require.Equal(t, []any{"keen@example.com", int64(50), true}, []any{*keen.Email, keen.Score, keen.PassedMark})
	calls, err = m.readers.Calls(t.Context(), m.account, now, 60, 1)
	require.NoError(t, err)
	require.Equal(t, again, calls.People[0].Link)
	require.Len(t, calls.People, 1)
}

// People are found by their names and notes, in whatever case and without accents, and have the
// name of their newest form, or of the newest list of recipients, unless the account gave another.
func TestPeopleHaveNames(t *testing.T) {
	t.Parallel()
	m := newModel(t, enginetest.SharedPostgres(t), 8)
	m.postgres("UPDATE generic_links SET collect_name = true WHERE account_id = $1", m.account)
	for i, name := range []string{"Zoë Three", "Zoe 3"} {
		l := link{id: querytest.ID(t), person: m.person("z@example.com"), magnet: m.magnets[i], email: "z@example.com",
			origin: "mail", created: ago(time.Hour)}
		l.submission = querytest.ID(t)
		m.postgres(`INSERT INTO submissions (id, account_id, generic_link_id, email, email_key, name, submitted_at) VALUES ($1, $2, $3, $4, $4, $5, $6)`,
			l.submission, m.account, m.generics[i], l.email, name, ago(time.Duration(i)*time.Hour))
		m.addLink(l, m.generics[i], "")
		m.add(m.view(l, 1, ago(time.Hour), time.Second))
	}
	invited := m.recipient("other@example.com")
	m.postgres(`INSERT INTO recipients (id, account_id, generic_link_id, person_id, name) VALUES ($1, $2, $3, $4, 'Ann Öhrn')`,
		invited.id, m.account, m.generics[0], invited.person)
	m.add(m.view(invited, 1, ago(time.Hour), time.Second))
	m.store()
	found := func(text string) (names []string) {
		t.Helper()
		page, err := m.readers.Page(t.Context(), m.account, reader.Filter{Text: text}, 0, 10)
		require.NoError(t, err)
		for _, p := range page.People {
			names = append(names, *p.Name)
		}
		return names
	}
	for _, text := range []string{"zoe", "ZOË", "e thr", "zoe 3"} {
		require.Equal(t, []string{"Zoë Three"}, found(text), text)
	}
	require.Equal(t, []string{"Ann Öhrn"}, found("ann ohr"), "as in the list of recipients")
	require.Empty(t, found("quote"))
	m.postgres(`INSERT INTO profiles (account_id, email_key, name, note) VALUES ($1, 'z@example.com', 'Dr. Z', 'Wants a Quote')`,
		m.account)
	require.Equal(t, []string{"Dr. Z"}, found("quote"))
	require.Equal(t, []string{"Dr. Z"}, found("dr. z"))
}

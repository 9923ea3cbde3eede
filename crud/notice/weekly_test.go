package notice_test

import (
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lodestone/crud/mail"
)

// reporter writes reports that tell the week.
type reporter struct {
	mu    sync.Mutex
	asked []time.Time
	empty bool
	fails error
}

func (r *reporter) Week(_ context.Context, _ mail.Receiver, first time.Time) (*mail.Weekly, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked = append(r.asked, first)
	if r.empty || r.fails != nil {
		return nil, r.fails
	}
	return &mail.Weekly{Week: first.Format("2006-01-02 MST"), Readers: 3,
		Tiles: []mail.Number{{Label: "Readers", Value: "3"}}}, nil
}

func (f *fixture) weekly(zone, until string) {
	f.t.Helper()
	f.exec("UPDATE accounts SET weekly_report = true, notify_email = 'owner@example.com', notify_confirmed_at = now(), timezone = $2, reported_until = $3 WHERE id = $1", f.account, zone, at(until))
}

// weeks returns the weeks of the reports that were mailed.
func (f *fixture) weeks() (list []string) {
	f.t.Helper()
	for _, m := range f.mails() {
		if m.Kind == mail.KindWeekly {
			list = append(list, m.Weekly.Week)
		}
	}
	return list
}

// A report goes out on Monday at seven in the account's time zone, about the week before, once.
func TestWeeklyReport(t *testing.T) {
	t.Parallel()
	f := start(t)
	f.weekly("America/New_York", "2026-10-26 04:00")
	send := func(now string) []string {
		f.now = at(now)
		require.NoError(t, f.notices.SendWeekly(t.Context()))
		return f.weeks()
	}
	require.Empty(t, send("2026-11-01 23:00"), "it is Sunday")
	require.Empty(t, send("2026-11-02 11:59"), "it is 06:59 there")
	require.Equal(t, []string{"2026-10-26 EDT"}, send("2026-11-02 12:00"), "the clocks were changed that week")
	require.Len(t, send("2026-11-02 12:10"), 1)
	require.Len(t, send("2026-11-08 23:00"), 1)
	require.Equal(t, []string{"2026-10-26 EDT", "2026-11-02 EST"}, send("2026-11-09 12:00"))
	require.Equal(t, "2026-11-30 EST", send("2026-12-08 00:00")[2], "after weeks without a process, only the last one")
	require.Len(t, f.weeks(), 3)
}

// Several processes send it once.
func TestWeeklyReportIsSentOnce(t *testing.T) {
	t.Parallel()
	f := start(t)
	f.weekly("UTC", "2026-10-26 00:00")
	f.now = at("2026-11-02 08:00")
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() { require.NoError(t, f.notices.SendWeekly(t.Context())) })
	}
	all.Wait()
	require.Len(t, f.weeks(), 1)
}

// A week without anything has no mail and is not asked for again; one whose numbers are not to be
// had is.
func TestWeeklyReportOfNothing(t *testing.T) {
	t.Parallel()
	f := start(t)
	f.weekly("UTC", "2026-10-26 00:00")
	f.now = at("2026-11-02 08:00")
	f.reports.fails = errors.New("the query process is away")
	require.ErrorContains(t, f.notices.SendWeekly(t.Context()), "is away")
	f.reports.fails, f.reports.empty = nil, true
	require.NoError(t, f.notices.SendWeekly(t.Context()))
	require.NoError(t, f.notices.SendWeekly(t.Context()))
	require.Len(t, f.reports.asked, 2)
	require.Empty(t, f.weeks())
}

// The mail's own button ends the report, and nothing else; the page switches it on again.
func TestWeeklyReportIsEnded(t *testing.T) {
	t.Parallel()
	f := start(t)
	f.weekly("UTC", "2026-10-26 00:00")
	f.now = at("2026-11-02 08:00")
	require.NoError(t, f.notices.SendWeekly(t.Context()))
	sent := f.mails()
	end := f.url + strings.TrimPrefix(sent[0].Unsubscribe, site)
	post := func(body string) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, end, strings.NewReader(body))
		require.NoError(t, err)
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		res, err := f.client.Do(r)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		require.Equal(t, http.StatusOK, res.StatusCode)
	}
	setting := func() (weekly bool, notify, readings string) {
		require.NoError(t, f.db.Unscoped().QueryRow(t.Context(),
			"SELECT weekly_report, notify, reading_notices FROM accounts WHERE id = $1",
			f.account).Scan(&weekly, &notify, &readings))
		return weekly, notify, readings
	}
	_, notify, readings := setting()
	post("List-Unsubscribe=One-Click")
	weekly, sameNotify, sameReadings := setting()
	require.False(t, weekly)
	require.Equal(t, []string{notify, readings}, []string{sameNotify, sameReadings})
	f.now = at("2026-11-09 08:00")
	require.NoError(t, f.notices.SendWeekly(t.Context()))
	require.Len(t, f.weeks(), 1)
	post("weekly=on")
	weekly, _, _ = setting()
	require.True(t, weekly)
}

// person adds one of the account's people.
func (f *fixture) person(email, role string) {
	f.t.Helper()
	f.exec("WITH u AS (INSERT INTO users (id, email, email_key) VALUES (gen_random_uuid(), $2, $2) RETURNING id) INSERT INTO memberships (account_id, user_id, role) SELECT $1, id, $3 FROM u", f.account, email, role)
}

// reported returns the mails with weekly reports by their receivers.
func (f *fixture) reported() map[string]mail.Message {
	f.t.Helper()
	sent := map[string]mail.Message{}
	for _, m := range f.mails() {
		if m.Kind == mail.KindWeekly {
			require.NotContains(f.t, sent, m.To)
			sent[m.To] = m
		}
	}
	return sent
}

// Each of the account's people has a setting. The address of notices that is one of theirs gets no
// second mail.
func TestWeeklyReportOfPeople(t *testing.T) {
	t.Parallel()
	f := start(t)
	f.weekly("UTC", "2026-10-26 00:00")
	f.person("owner@example.com", "owner")
	f.person("ada@example.com", "owner")
	f.person("bob@example.com", "analyst")
	f.person("eve@example.com", "editor")
	f.exec("UPDATE memberships SET weekly_report = true WHERE user_id = (SELECT id FROM users WHERE email = $1)",
		"bob@example.com")
	f.now = at("2026-11-02 08:00")
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() { require.NoError(t, f.notices.SendWeekly(t.Context())) })
	}
	all.Wait()
	sent := f.reported()
	require.ElementsMatch(t, []string{"owner@example.com", "ada@example.com", "bob@example.com"},
		slices.Collect(maps.Keys(sent)))

	post := func(m mail.Message, body string) (int, string) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, f.url+strings.TrimPrefix(m.Unsubscribe,
			site), strings.NewReader(body))
		require.NoError(t, err)
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		res, err := f.client.Do(r)
		require.NoError(t, err)
		defer func() { require.NoError(t, res.Body.Close()) }()
		text, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		return res.StatusCode, string(text)
	}
	status, text := post(sent["owner@example.com"], "List-Unsubscribe=One-Click")
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, text, "<strong class=\"address\">owner@example.com</strong> gets no weekly report")
	f.now = at("2026-11-09 08:00")
	f.exec("TRUNCATE river_job")
	require.NoError(t, f.notices.SendWeekly(t.Context()))
	sent2 := f.reported()
	require.ElementsMatch(t, []string{"ada@example.com", "bob@example.com"}, slices.Collect(maps.Keys(sent2)),
		"only one person's report ended, and the address of notices is that person's")

	status, _ = post(sent["owner@example.com"], "weekly=on")
	require.Equal(t, http.StatusOK, status)
	f.exec("DELETE FROM memberships WHERE user_id = (SELECT id FROM users WHERE email = $1)", "bob@example.com")
	status, _ = post(sent["bob@example.com"], "weekly=on")
	require.Equal(t, http.StatusNotFound, status, "who left the account")
	f.now = at("2026-11-16 08:00")
	f.exec("TRUNCATE river_job")
	require.NoError(t, f.notices.SendWeekly(t.Context()))
	require.ElementsMatch(t, []string{"ada@example.com", "owner@example.com"}, slices.Collect(maps.Keys(f.reported())))
}

// Who switches the report on in the middle of a week gets that of the week, and none of the weeks
// before.
func TestWeeklyReportIsSwitchedOn(t *testing.T) {
	t.Parallel()
	f := start(t)
	f.exec("UPDATE accounts SET reported_until = '2026-10-26Z' WHERE id = $1", f.account)
	f.person("bob@example.com", "analyst")
	f.now = at("2026-11-02 08:00")
	require.NoError(t, f.notices.SendWeekly(t.Context()))
	require.Empty(t, f.reports.asked, "no one wants it")
	f.exec("UPDATE memberships SET weekly_report = true WHERE account_id = $1", f.account)
	f.now = at("2026-11-04 08:00")
	require.NoError(t, f.notices.SendWeekly(t.Context()))
	require.Empty(t, f.reported())
	f.now = at("2026-11-09 08:00")
	require.NoError(t, f.notices.SendWeekly(t.Context()))
	require.Equal(t, "2026-11-02 UTC", f.reported()["bob@example.com"].Weekly.Week)
}

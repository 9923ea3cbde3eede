package notice_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"lodestone/crud/mail"
	"lodestone/crud/notice"
	"lodestone/crud/queue"
	"lodestone/crud/web"
	"lodestone/pkg/api"
	"lodestone/pkg/bot"
	"lodestone/pkg/postgres"
	"lodestone/pkg/test/enginetest"
	"lodestone/pkg/token"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

const site = "https://links.example.com"

type fixture struct {
	tokens  *token.Ring
	t       *testing.T
	db      *postgres.Pool
	notices *notice.Notices
	now     time.Time
	account uuid.UUID
	link    uuid.UUID
	url     string
	client  *http.Client
	reports *reporter
}

func start(t *testing.T) *fixture {
	t.Helper()
	db := enginetest.MigratedPostgres(t)
	log := slog.New(slog.DiscardHandler)
	jobs, err := queue.New(queue.Config{}, queue.Deps{Postgres: db, Log: log, Registerer: prometheus.NewRegistry()})
	require.NoError(t, err)
	tokens, err := token.NewKeys(1).Ring()
	require.NoError(t, err)
	mails, err := mail.New(mail.Config{}, mail.Deps{Queue: jobs, Tokens: tokens, Site: site, Log: log,
		Registerer: prometheus.NewRegistry()})
	require.NoError(t, err)
	f := &fixture{t: t, db: db, tokens: tokens, now: at("2026-11-03 12:00"), account: uuid.New(),
		link: uuid.New(), reports: &reporter{}}
	pages, err := web.New(web.Deps{Site: site + "/", Log: log})
	require.NoError(t, err)
	bots, err := bot.NewRules()
	require.NoError(t, err)
	f.notices, err = notice.New(notice.Deps{Postgres: db, Bots: bots, Queue: jobs, Mail: mails, Reports: f.reports,
		Tokens: tokens, Pages: pages, Log: log, Now: func() time.Time { return f.now }})
	require.NoError(t, err)
	a := api.New(api.Deps{Log: log})
	f.notices.Register(a)
	server := httptest.NewServer(a)
	t.Cleanup(server.Close)
	f.url, f.client = server.URL, server.Client()
	f.exec("INSERT INTO accounts (id, name, plan, digest_until) VALUES ($1, 'A', 'team', '2026-11-02 08:00Z')", f.account)
	f.exec("WITH m AS (INSERT INTO lead_magnets (id, account_id, title) VALUES (gen_random_uuid(), $1, 'The Guide') RETURNING id) "+
		"INSERT INTO generic_links (id, account_id, lead_magnet_id, slug) SELECT $2, $1, id, 'guide' FROM m", f.account,
		f.link)
	return f
}

func at(text string) time.Time {
	when, err := time.Parse("2006-01-02 15:04", text)
	if err != nil {
		return time.Time{} // the test fails on it
	}
	return when
}

func (f *fixture) exec(sql string, args ...any) {
	f.t.Helper()
	_, err := f.db.Unscoped().Exec(f.t.Context(), sql, args...)
	require.NoError(f.t, err)
}

func (f *fixture) set(notify string, to any) {
	f.t.Helper()
	f.exec("UPDATE accounts SET notify = $2, notify_email = $3, notify_confirmed_at = now() WHERE id = $1", f.account,
		notify, to)
}

// submit adds a submission, which is verified at a time if that is not "".
func (f *fixture) submit(email, submitted string, verification bool, verified string) uuid.UUID {
	f.t.Helper()
	id := uuid.New()
	var when *time.Time
	if verified != "" {
		v := at(verified)
		when = &v
	}
	f.exec(`INSERT INTO submissions (id, account_id, generic_link_id, email, email_key, name, submitted_at, verification_required, verified, verified_at)
		VALUES ($1, $2, $3, $4, lower($4), 'Jo', $5, $6, $7, $8)`, id, f.account, f.link, email, at(submitted), verification, when != nil, when)
	return id
}

// mails returns what is in the queue, the oldest first.
func (f *fixture) mails() (all []mail.Message) {
	f.t.Helper()
	rows, err := f.db.Unscoped().Query(f.t.Context(),
		"SELECT (args ->> 'id')::uuid, decode(args ->> 'sealed', 'base64') FROM river_job WHERE kind = 'sealed_mail' ORDER BY id")
	require.NoError(f.t, err)
	type sealed struct {
		ID   uuid.UUID
		Mail []byte
	}
	jobs, err := pgx.CollectRows(rows, pgx.RowToStructByPos[sealed])
	require.NoError(f.t, err)
	for _, j := range jobs {
		text, err := f.tokens.Open("mails", j.Mail, j.ID[:])
		require.NoError(f.t, err)
		var m mail.Message
		require.NoError(f.t, json.Unmarshal(text, &m))
		all = append(all, m)
	}
	return all
}

func (f *fixture) newLead(submission uuid.UUID) {
	f.t.Helper()
	require.NoError(f.t, f.db.Account(f.t.Context(), f.account, func(tx pgx.Tx) error {
		return f.notices.NewLead(f.t.Context(), tx, submission)
	}))
}

func TestEachLead(t *testing.T) {
	t.Parallel()
	f := start(t)
	lead := f.submit("jo@example.com", "2026-11-02 09:05", true, "2026-11-02 09:10")
	f.newLead(lead) // no one gets a notice
	f.set(notice.Daily, "owner@example.com")
	f.newLead(lead)
	f.set(notice.None, "owner@example.com")
	f.newLead(lead)
	require.Empty(t, f.mails())
	f.set(notice.Each, "owner@example.com")
	f.newLead(uuid.New()) // it is gone
	f.exec(`UPDATE submissions SET utm = '{"utm_source": "news", "utm_medium": "mail", "utm_campaign": "autumn"}' WHERE id = $1`, lead)
	f.exec(`UPDATE generic_links SET fields = '[{"key":"team","label":"Team"},{"key":"company","label":"Company","labels":{"en":"Your company"}}]'`)
	f.exec(`UPDATE submissions SET answers = '{"company":"Acme","former":"x"}' WHERE id = $1`, lead)
	f.exec(`UPDATE accounts SET timezone = 'Europe/Berlin'`)
	link := uuid.New()
	f.exec(`INSERT INTO access_links (id, account_id, lead_magnet_id, generic_link_id, submission_id, email, email_key, token_hash, token_sealed, token_key, source)
		SELECT $1, account_id, lead_magnet_id, id, $2, 'jo@example.com', 'jo@example.com', sha256('x'), '\x01', 1, 'mail' FROM generic_links WHERE id = $3`, link, lead, f.link)
	f.newLead(lead)
	mails := f.mails()
	require.Len(t, mails, 1)
	m := mails[0]
	require.Equal(t, mail.KindLead, m.Kind)
	require.Equal(t, f.account, m.AccountID)
	require.Equal(t, "owner@example.com", m.To)
	require.Equal(t, site+"/dashboard/readers/"+link.String(), m.URL)
	require.Equal(t, "Europe/Berlin", m.Timezone)
	require.True(t, strings.HasPrefix(m.Unsubscribe, site+"/notices/"))
	require.Equal(t, []mail.Lead{{Email: "jo@example.com", Name: "Jo", Link: "The Guide", Source: "news / mail",
		Campaign: "autumn", Answers: []mail.Fact{{Name: "Your company", Value: "Acme"}}, Verified: true,
		SubmittedAt: at("2026-11-02 09:05")}}, m.Leads.List)
}

// Notices go to chat programs as well, also without an address for mails, and not if the
// transaction is rolled back.
func TestNoticesOfChatPrograms(t *testing.T) {
	t.Parallel()
	f := start(t)
	f.exec("INSERT INTO webhook_endpoints (id, account_id, format, url, url_sealed, kinds) VALUES ($1, $2, 'slack', '', '', '{notice.leads}')", uuid.New(), f.account)
	f.set(notice.Each, nil)
	lead := f.submit("jo@example.com", "2026-11-02 09:05", false, "")
	f.exec(`INSERT INTO access_links (id, account_id, lead_magnet_id, generic_link_id, submission_id, email, email_key, token_hash, token_sealed, token_key, source)
		SELECT gen_random_uuid(), account_id, lead_magnet_id, id, $1, 'jo@example.com', 'jo@example.com', sha256('x'), '\x01', 1, 'mail' FROM generic_links WHERE id = $2`, lead, f.link)
	require.ErrorIs(t, f.db.Account(t.Context(), f.account, func(tx pgx.Tx) error {
		return errors.Join(f.notices.NewLead(t.Context(), tx, lead), io.EOF)
	}), io.EOF)
	f.newLead(lead)
	require.Empty(t, f.mails())
	rows, err := f.db.Unscoped().Query(t.Context(),
		"SELECT id, body_sealed FROM webhook_deliveries WHERE kind = 'notice.leads'")
	require.NoError(t, err)
	type message struct {
		ID   uuid.UUID
		Body []byte
	}
	m, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[message])
	require.NoError(t, err)
	text, err := f.tokens.Open("webhook messages", m.Body, m.ID[:])
	require.NoError(t, err)
	require.Contains(t, string(text), "jo@example.com")
	require.Contains(t, string(text), "/dashboard/readers/")
}

// A flood of submissions is no flood of mails, and the last one says so.
func TestManyLeadsWithinAnHour(t *testing.T) {
	t.Parallel()
	f := start(t)
	f.set(notice.Each, "owner@example.com")
	lead := f.submit("jo@example.com", "2026-11-02 09:05", false, "")
	for range notice.HourlyNotices + 5 {
		f.newLead(lead)
	}
	mails := f.mails()
	require.Len(t, mails, notice.HourlyNotices)
	require.True(t, mails[len(mails)-1].Leads.Last)
	require.False(t, mails[len(mails)-2].Leads.Last)
	f.now = f.now.Add(time.Hour)
	f.newLead(lead)
	mails = f.mails()
	require.Len(t, mails, notice.HourlyNotices+1)
	require.False(t, mails[len(mails)-1].Leads.Last)
}

func TestDailyMailIsSentOnce(t *testing.T) {
	t.Parallel()
	f := start(t)
	f.set(notice.Daily, "owner@example.com")
	// before daily mails were switched on
	f.submit("before@example.com", "2026-11-02 07:59", false, "")
	//
	f.submit("plain@example.com", "2026-11-02 09:00", false, "")
	// verified on that day
	f.submit("late@example.com", "2026-11-01 09:00", true, "2026-11-02 10:00")
	// not verified
	f.submit("never@example.com", "2026-11-02 09:00", true, "")
	// verified on the next
	f.submit("tomorrow@example.com", "2026-11-02 09:00", true, "2026-11-03 00:00")
	// verified although it need not be
	f.submit("last@example.com", "2026-11-02 23:59", false, "2026-11-03 07:00")
	// without an address
	f.exec("INSERT INTO accounts (id, name, plan, notify, digest_until) VALUES (gen_random_uuid(), 'B', 'free', 'daily', '2026-01-01')")
	f.now = at("2026-11-03 04:59")
	require.NoError(t, f.notices.SendDigests(t.Context()))
	require.Empty(t, f.mails(), "too early")
	f.now = at("2026-11-03 05:00")
	var wg sync.WaitGroup
	for range 8 { // as many processes
		wg.Go(func() {
			if err := f.notices.SendDigests(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	f.now = at("2026-11-03 23:59")
	require.NoError(t, f.notices.SendDigests(t.Context()))
	mails := f.mails()
	require.Len(t, mails, 1)
	require.Equal(t, mail.KindDigest, mails[0].Kind)
	require.Equal(t, "owner@example.com", mails[0].To)
	require.Equal(t, "Monday, 2 November 2026", mails[0].Leads.Day)
	require.Equal(t, 3, mails[0].Leads.Total)
	var addresses []string
	for _, l := range mails[0].Leads.List {
		addresses = append(addresses, l.Email)
	}
	require.Equal(t, []string{"plain@example.com", "late@example.com", "last@example.com"}, addresses)

	f.now = at("2026-11-04 05:00")
	require.NoError(t, f.notices.SendDigests(t.Context()))
	require.Len(t, f.mails(), 2)
	f.now = at("2026-11-06 05:00") // days without leads, and without a process
	require.NoError(t, f.notices.SendDigests(t.Context()))
	require.Len(t, f.mails(), 2)
	for i := range 60 {
		f.submit(fmt.Sprintf("%d@example.com", i), "2026-11-06 12:00", false, "")
	}
	f.now = at("2026-11-08 12:00")
	require.NoError(t, f.notices.SendDigests(t.Context()))
	mails = f.mails()
	require.Len(t, mails, 3)
	require.Equal(t, "Friday, 6 November to Saturday, 7 November 2026", mails[2].Leads.Day)
	require.Equal(t, 60, mails[2].Leads.Total)
	require.Len(t, mails[2].Leads.List, 50)
}

// If the mail cannot be put in the queue, the day is not marked as sent.
func TestDailyMailThatFailsIsTriedAgain(t *testing.T) {
	t.Parallel()
	f := start(t)
	f.set(notice.Daily, "no address")
	f.submit("jo@example.com", "2026-11-02 09:00", false, "")
	require.Error(t, f.notices.SendDigests(t.Context()))
	f.set(notice.Daily, "owner@example.com")
	require.NoError(t, f.notices.SendDigests(t.Context()))
	require.Len(t, f.mails(), 1)
}

func (f *fixture) send(method, path, body string, header ...string) (int, string) {
	f.t.Helper()
	r, err := http.NewRequestWithContext(f.t.Context(), method, f.url+path, strings.NewReader(body))
	require.NoError(f.t, err)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	res, err := f.client.Do(r)
	require.NoError(f.t, err)
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	require.NoError(f.t, err)
	return res.StatusCode, string(text)
}

func (f *fixture) notify() (value string) {
	f.t.Helper()
	require.NoError(f.t, f.db.Unscoped().QueryRow(context.WithoutCancel(f.t.Context()),
		"SELECT notify FROM accounts WHERE id = $1", f.account).Scan(&value))
	return value
}

func TestEndingNotices(t *testing.T) {
	t.Parallel()
	f := start(t)
	f.set(notice.Each, "owner@example.com")
	f.newLead(f.submit("jo@example.com", "2026-11-02 09:05", false, ""))
	path := strings.TrimPrefix(f.mails()[0].Unsubscribe, site)
	status, body := f.send("GET", path, "")
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, body, "owner@example.com</strong> gets an email for each new lead")
	require.Equal(t, notice.Each, f.notify(), "a look changes nothing")
	status, _ = f.send("POST", path, "", "Sec-Fetch-Site", "cross-site")
	require.Equal(t, http.StatusForbidden, status)
	status, body = f.send("POST", path, "notify=daily")
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, body, "once a day")
	require.Equal(t, notice.Daily, f.notify())
	status, _ = f.send("POST", path, "List-Unsubscribe=One-Click")
	require.Equal(t, http.StatusOK, status)
	require.Equal(t, notice.None, f.notify())

	other := path[:len(path)-1] + "A"
	if other == path {
		other = path[:len(path)-1] + "Q"
	}
	for _, wrong := range []string{other, "/notices/x", "/notices/" + strings.Repeat("A", 43), path + "AAAA"} {
		status, body = f.send("POST", wrong, "notify=each")
		require.Equal(t, http.StatusNotFound, status, wrong)
		require.NotContains(t, body, "owner@")
	}
	f.set(notice.Each, "new@example.com")
	status, _ = f.send("POST", path, "")
	require.Equal(t, http.StatusNotFound, status, "a link of mails to another address")
	require.Equal(t, notice.Each, f.notify())
}

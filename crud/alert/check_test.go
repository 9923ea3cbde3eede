package alert_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"lodestone/crud/alert"
	"lodestone/crud/dashboard/frame"
	"lodestone/crud/mail"
	"lodestone/crud/notice"
	"lodestone/crud/queue"
	"lodestone/crud/web"
	"lodestone/pkg/bot"
	"lodestone/pkg/postgres"
	"lodestone/pkg/test/enginetest"
	"lodestone/pkg/token"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

const site = "https://links.example.com"

// fixture is an account whose numbers a test sets: those of days, and those of the hours of its
// only page.
type fixture struct {
	t             *testing.T
	db            *postgres.Pool
	tokens        *token.Ring
	alerts        *alert.Alerts
	account, page uuid.UUID
	zone          *time.Location
	mu            sync.Mutex
	now           time.Time
	asked         int
	fails         error
	days          map[string]float64
	hours         []alert.Hour
	from          []any    // the pages from which the visits come, as reports give them
	weeks         []string // that reports were last asked for the pages of
}

// Ask answers as the reports do, in the form of their JSON.
func (f *fixture) Ask(_ context.Context, _ uuid.UUID, queries []frame.Query) (frame.Batch, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked++
	if f.fails != nil {
		return frame.Batch{}, f.fails
	}
	var got frame.Answers
	for _, q := range queries {
		a := frame.Answer{ID: q.ID, AsOf: f.now.Add(-time.Second)}
		if slices.Equal(q.Dimensions, []string{"page_url"}) {
			require.Equal(f.t, map[string][]any{"generic_link_id": {f.page}}, q.Filters)
			f.weeks = []string{q.From, q.To}
			for _, page := range f.from {
				a.Rows = append(a.Rows, frame.Row{q.Metrics[0]: 1.0, "page_url": page})
			}
			a.Rows = append(a.Rows, frame.Row{q.Metrics[0]: 9.0, "page_url": nil, "other": true})
			got.Data = append(got.Data, a)
			continue
		}
		row := func(at time.Time, n float64) frame.Row {
			r := frame.Row{q.Metrics[0]: n}
			if q.Interval != "" {
				r["time"] = at.Format(time.RFC3339)
			}
			if slices.Contains(q.Dimensions, "generic_link_id") {
				r["generic_link_id"] = f.page.String()
			}
			return r
		}
		from, err := time.ParseInLocation(time.DateOnly, q.From, f.zone)
		require.NoError(f.t, err)
		to, err := time.ParseInLocation(time.DateOnly, q.To, f.zone)
		require.NoError(f.t, err)
		require.Equal(f.t, f.zone.String(), q.Timezone)
		sum := 0.0
		for _, h := range f.hours {
			if h.Start.Before(f.now) && !h.Start.Before(from) && q.Interval == "hour" {
				a.Rows = append(a.Rows, row(h.Start, h.Count))
			}
			sum += h.Count
		}
		for at := from; at.Before(to) && q.Interval == "day"; at = at.AddDate(0, 0, 1) {
			a.Rows = append(a.Rows, row(at, f.days[at.Format(time.DateOnly)]))
		}
		if q.Interval == "" {
			a.Rows = append(a.Rows, row(from, sum))
		}
		got.Data = append(got.Data, a)
	}
	return frame.BatchOf(got, len(queries))
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
	pages, err := web.New(web.Deps{Site: site + "/", Log: log})
	require.NoError(t, err)
	bots, err := bot.NewRules()
	require.NoError(t, err)
	f := &fixture{t: t, db: db, tokens: tokens, account: uuid.New(), page: uuid.New(), days: map[string]float64{}}
	notices, err := notice.New(notice.Deps{Postgres: db, Bots: bots, Queue: jobs, Mail: mails, Tokens: tokens,
		Pages: pages, Log: log})
	require.NoError(t, err)
	f.alerts, err = alert.New(alert.Deps{Postgres: db, Queue: jobs, Tokens: tokens, Numbers: f, Notifier: notices,
		Now: func() time.Time { return f.now }})
	require.NoError(t, err)
	f.zone, err = time.LoadLocation("Europe/Berlin")
	require.NoError(t, err)
	f.exec(`INSERT INTO accounts (id, name, plan, timezone, notify_email, notify_confirmed_at)
		VALUES ($1, 'A', 'team', 'Europe/Berlin', 'owner@example.com', now())`, f.account)
	f.exec("WITH m AS (INSERT INTO lead_magnets (id, account_id, title) VALUES (gen_random_uuid(), $1, 'Pricing') RETURNING id) "+
		"INSERT INTO generic_links (id, account_id, lead_magnet_id, slug) SELECT $2, $1, id, 'pricing' FROM m", f.account, f.page)
	return f
}

func (f *fixture) exec(sql string, args ...any) {
	f.t.Helper()
	_, err := f.db.Unscoped().Exec(f.t.Context(), sql, args...)
	require.NoError(f.t, err)
}

func (f *fixture) rule(kind, metric string, threshold any) {
	f.t.Helper()
	f.exec(`INSERT INTO alert_rules (id, account_id, kind, metric, threshold, created_at)
		VALUES (gen_random_uuid(), $1, $2, $3, $4, '2026-01-01')`, f.account, kind, metric, threshold)
}

// at is a time of November 2026 in the account's time zone.
func (f *fixture) at(day, hour, minute int) time.Time {
	return time.Date(2026, 11, day, hour, minute, 0, 0, f.zone)
}

// check checks at a time, in several processes at once, and returns the subjects of the mails that
// were queued by then.
func (f *fixture) check(now time.Time) (subjects []string) {
	f.t.Helper()
	f.now = now
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() { require.NoError(f.t, f.alerts.Check(f.t.Context())) })
	}
	all.Wait()
	for _, m := range f.mails() {
		subjects = append(subjects, f.subject(m))
	}
	return subjects
}

// subject says what a mail is about in a form for tests: its alerts, and their values.
func (f *fixture) subject(m mail.Message) string {
	require.Equal(f.t, mail.KindAlerts, m.Kind)
	require.Equal(f.t, "owner@example.com", m.To)
	var list []string
	for _, a := range m.Alerts.List {
		text := a.Direction + " " + a.Metric + " " + a.Since.In(f.zone).Format("2 15:04")
		if a.Ended {
			text += " over"
		}
		list = append(list, text)
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}

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

// hundred gives all days until one of November a hundred visitors.
func (f *fixture) hundred(until int) {
	for at := f.at(until, 0, 0).AddDate(0, 0, -80); !at.After(f.at(until, 0, 0)); at = at.AddDate(0, 0, 1) {
		f.days[at.Format(time.DateOnly)] = 100
	}
}

// A day that is unusual has one notice, however many processes check and how often: once it is over
// and begins again, there is another one.
func TestUnusualDays(t *testing.T) {
	t.Parallel()
	f := start(t)
	f.hundred(20)
	f.rule("range", "visitors", nil)
	require.Empty(t, f.check(f.at(20, 12, 15)))
	f.days["2026-11-20"] = 300 // the day is not over, and has more than usual already
	require.Empty(t, f.check(f.at(20, 12, 50)), "not due in this hour")
	high := []string{"above visitors 20 00:00"}
	require.Equal(t, high, f.check(f.at(20, 13, 15)))
	require.Equal(t, high, f.check(f.at(20, 14, 15)))
	f.days["2026-11-20"], f.days["2026-11-21"] = 310, 90
	require.Equal(t, high, f.check(f.at(21, 9, 15)), "yesterday still is")
	f.days["2026-11-22"] = 10
	require.Equal(t, high, f.check(f.at(22, 23, 15)), "a day that is not over is not too low")
	low := append(slices.Clone(high), "below visitors 22 00:00")
	require.Equal(t, low, f.check(f.at(23, 0, 15)))
	f.days["2026-11-23"], f.days["2026-11-24"] = 100, 400
	require.Equal(t, append(low, "above visitors 24 00:00"), f.check(f.at(24, 10, 15)))
	var over int
	require.NoError(t, f.db.Unscoped().QueryRow(t.Context(),
		"SELECT count(*) FROM alerts WHERE ended_at IS NOT NULL").Scan(&over))
	require.Equal(t, 2, over)
}

// Thresholds are for days: above as soon as it is passed, below when the day is over. A link that
// is switched off is not watched.
func TestThresholds(t *testing.T) {
	t.Parallel()
	f := start(t)
	f.hundred(10)
	f.rule("above", "visitors", 150)
	f.rule("below", "people", 50)
	require.Empty(t, f.check(f.at(11, 0, 15)))
	f.days["2026-11-11"] = 151
	f.days["2026-11-12"] = 49
	got := []string{"above visitors 11 00:00"}
	require.Equal(t, got, f.check(f.at(11, 12, 15)))
	require.Equal(t, got, f.check(f.at(12, 23, 15)))
	require.Equal(t, append(got, "below people 12 00:00"), f.check(f.at(13, 0, 15)))
	f.exec("UPDATE alert_rules SET generic_link_id = $1, checked_at = 'epoch'", f.page)
	f.exec("DELETE FROM alerts")
	f.exec("UPDATE generic_links SET active = false")
	require.Len(t, f.check(f.at(13, 0, 30)), 2)
}

// A page from which nothing comes has one notice, which says when the last visit was, until one
// comes again.
func TestSilentPage(t *testing.T) {
	t.Parallel()
	f := start(t)
	f.rule("silent", "visitors", nil)
	f.hours = generated(f.at(20, 0, 0), 10, 1)
	for i := range f.hours {
		if f.hours[i].Start.After(f.at(18, 9, 0)) {
			f.hours[i].Count = 0
		}
	}
	f.exec("INSERT INTO generic_link_counts (id, account_id) VALUES ($1, $2)", f.page, f.account)
	f.exec("INSERT INTO landing_minutes (link_id, minute, views) VALUES ($1, $2, 1)", f.page, f.at(18, 9, 40))
	require.Empty(t, f.check(f.at(18, 9, 50)))
	silent := []string{"silent visitors 18 09:40"}
	require.Equal(t, silent, f.check(f.at(18, 12, 15)))
	require.Equal(t, site+"/dashboard/links/"+f.page.String(), f.mails()[0].URL)
	require.Equal(t, silent, f.check(f.at(19, 12, 15)))
	heard := func(hour int) {
		i := slices.IndexFunc(f.hours, func(h alert.Hour) bool { return h.Start.Equal(f.at(19, hour, 0)) })
		f.hours[i].Count = 5
	}
	heard(12)
	require.Equal(t, silent, f.check(f.at(19, 13, 15)))
	require.Equal(t, append(silent, "silent visitors 19 13:00"), f.check(f.at(19, 16, 15)), "silent again")
}

// A link that falls silent is named with the pages that it was on, and not with its landing page if
// it was on others.
func TestSilentPagesAreNamed(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		from []any
		want []string
	}{
		"none known":       {[]any{nil}, []string{}},
		"only its landing": {[]any{"links.example.com/l/pricing", nil}, []string{"links.example.com/l/pricing"}},
		"the most visited": {
			[]any{"a.example/1", nil, "links.example.com/l/pricing", "a.example/l/", "b.example/", "a.example", "a.example/4"},
			[]string{"a.example/1", "b.example/", "a.example"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := start(t)
			f.rule("silent", "visitors", nil)
			f.from = test.from
			f.exec(`INSERT INTO webhook_endpoints (id, account_id, format, url, url_sealed, kinds)
				VALUES (gen_random_uuid(), $1, 'json', 'https://a.example/', '', '{alert.started}')`, f.account)
			f.hours = generated(f.at(20, 0, 0), 10, 1)
			for i := range f.hours {
				if f.hours[i].Start.After(f.at(18, 9, 0)) {
					f.hours[i].Count = 0
				}
			}
			require.Len(t, f.check(f.at(18, 12, 15)), 1)
			require.Len(t, f.check(f.at(18, 13, 15)), 1)
			require.ElementsMatch(t, test.want, f.mails()[0].Alerts.List[0].Pages)
			var kept []string
			require.NoError(t, f.db.Unscoped().QueryRow(t.Context(), "SELECT pages FROM alerts").Scan(&kept))
			require.Equal(t, test.want, kept)
			require.Equal(t, []string{"2026-09-23", "2026-11-19"}, f.weeks, "before the silence")
			var id uuid.UUID
			var sealed []byte
			require.NoError(t, f.db.Unscoped().QueryRow(t.Context(),
				"SELECT id, body_sealed FROM webhook_deliveries").Scan(&id, &sealed))
			body, err := f.tokens.Open("webhook messages", sealed, id[:])
			require.NoError(t, err)
			var sent struct{ Data struct{ Pages []string } }
			require.NoError(t, json.Unmarshal(body, &sent))
			require.Equal(t, test.want, sent.Data.Pages)
		})
	}
}

// What begins in quiet hours waits until they end, and is one message. The hours are those of the
// account's time zone.
func TestQuietHours(t *testing.T) {
	t.Parallel()
	f := start(t)
	f.exec("UPDATE accounts SET quiet_from = '22:00', quiet_until = '07:30'")
	f.hundred(20)
	f.rule("range", "visitors", nil)
	f.rule("below", "people", 50)
	f.days["2026-11-20"] = 10
	require.Empty(t, f.check(f.at(21, 0, 15)))
	f.days["2026-11-20"], f.days["2026-11-21"] = 80, 400 // some events came late
	require.Empty(t, f.check(f.at(21, 7, 29)))
	asked := f.asked
	one := []string{"above visitors 21 00:00, below people 20 00:00 over, below visitors 20 00:00 over"}
	require.Equal(t, one, f.check(f.at(21, 7, 31)))
	require.Equal(t, asked, f.asked, "nothing was due but the notice")
	require.Equal(t, one, f.check(f.at(21, 8, 15)))
}

// Numbers that are not to be had leave everything as it was.
func TestNumbersAreAway(t *testing.T) {
	t.Parallel()
	f := start(t)
	f.hundred(20)
	f.rule("range", "visitors", nil)
	f.days["2026-11-19"] = 10
	f.fails = context.DeadlineExceeded
	f.now = f.at(20, 12, 15)
	require.ErrorContains(t, f.alerts.Check(t.Context()), f.account.String())
	f.fails = nil
	require.Len(t, f.check(f.at(20, 12, 20)), 1)
	f.exec("UPDATE accounts SET alert_notices = false")
	f.days["2026-11-20"] = 500
	require.Len(t, f.check(f.at(20, 13, 15)), 1, "no mails are wanted")
}

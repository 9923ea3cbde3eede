package dashboard

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/google/uuid"

	"lodestone/crud/dashboard/frame"
	"lodestone/crud/mail"
	"lodestone/crud/web"
	"lodestone/pkg/auth"
	"lodestone/pkg/client"
	"lodestone/pkg/postgres"
	"lodestone/pkg/store"
	"lodestone/pkg/timezone"
)

const (
	weeklyTimeout = 30 * time.Second
	// keyLasts is longer than the questions may take.
	keyLasts = time.Minute
	// maxWeeklyMagnets is how many lead magnets a report shows.
	maxWeeklyMagnets = 5
	maxWeeklyTitle   = 120
	maxWeeklyChange  = 300
)

// Site gives the addresses of the installation's pages.
type Site interface{ URL(path string) string }

// WeeklyDeps are the dependencies of reports. All are required.
type WeeklyDeps struct {
	Postgres *postgres.Pool
	Pages    Site
}

// WeeklyReports writes the weekly report of an account: the overview of the dashboard, for a mail.
// It is safe for concurrent use once Serve was called.
type WeeklyReports struct {
	deps    WeeklyDeps
	texts   *web.Catalogue
	handler http.Handler
}

// NewWeeklyReports returns the reports of an installation.
func NewWeeklyReports(d WeeklyDeps) (*WeeklyReports, error) {
	texts, err := web.VisitorTexts()
	if err != nil {
		return nil, err
	}
	return &WeeklyReports{deps: d, texts: texts}, nil
}

// Serve sets the API that is asked for the numbers.
func (r *WeeklyReports) Serve(h http.Handler) { r.handler = h }

var errNoAPI = errors.New("the API of reports is not set")

// Week returns the report of an account about the week that begins with a day, in the day's time
// zone, and nil if nothing happened then nor in the week before.
func (r *WeeklyReports) Week(ctx context.Context, a mail.Receiver, first time.Time) (*mail.Weekly, error) {
	ctx, cancel := context.WithTimeout(ctx, weeklyTimeout)
	defer cancel()
	answers, titles, err := r.ask(ctx, a.AccountID, first)
	if err != nil {
		return nil, fmt.Errorf("write weekly report of account %s: %w", a.AccountID, err)
	}
	all := answers.Of(frame.ByTime)
	if !happened(all.Totals) {
		return nil, nil
	}
	v := mailVoice{r.texts.In(a.Language)}
	w := &mail.Weekly{Week: v.texts.Days(first, timezone.AddDays(first, 6)), Readers: int(all.Totals.Number("people"))}
	for _, step := range frame.FunnelOf(all.Totals, v.label).Steps {
		f := frame.FigureOf(all.Totals, step.Metric)
		w.Tiles = append(w.Tiles, mail.Number{Label: step.Name, Value: v.number(f), Change: v.change(f)})
	}
	w.Days = v.days(all)
	for _, s := range frame.Changes(v, answers) {
		w.Changes = append(w.Changes, mail.Clean(plainText(s), maxWeeklyChange))
	}
	w.Magnets, w.More = r.magnets(v, answers.Of(frame.ByMagnet), titles, first)
	return w, nil
}

// happened reports whether there is anything to report.
func happened(totals frame.Row) bool {
	for _, metric := range []string{"visitors", "submissions", "people", "downloads"} {
		if totals.Number(metric) > 0 || totals.Before(metric) > 0 {
			return true
		}
	}
	return false
}

// days are the readers of each day, as bars.
func (v mailVoice) days(a frame.Answer) (bars []mail.Bar) {
	var most float64
	for _, row := range a.Rows {
		most = max(most, row.Number("people"))
	}
	for _, row := range a.Rows {
		n := row.Number("people")
		bars = append(bars, mail.Bar{Label: v.texts.Weekday(row.Time()), Value: v.count(n), Percent: barPercent(n, most)})
	}
	return bars
}

// magnets are those that were read or seen, the most read first, and how many more there are.
func (r *WeeklyReports) magnets(v mailVoice, a frame.Answer, titles map[string]string,
	first time.Time) (list []mail.WeeklyMagnet, more int) {
	rows := slices.DeleteFunc(slices.Clone(a.Rows), func(row frame.Row) bool {
		return titles[row.Text("lead_magnet_id")] == "" || !row.HasAny("visitors", "submissions", "people")
	})
	slices.SortStableFunc(rows, func(x, y frame.Row) int { return cmp.Compare(y.Number("people"), x.Number("people")) })
	shown := rows[:min(len(rows), maxWeeklyMagnets)]
	for _, row := range shown {
		id := row.Text("lead_magnet_id")
		m := mail.WeeklyMagnet{
			Title: mail.Clean(titles[id], maxWeeklyTitle),
			URL: r.deps.Pages.URL("/dashboard/magnets/" + id + "?from=" + first.Format(time.DateOnly) + "&to=" +
				timezone.AddDays(first, 6).Format(time.DateOnly)),
		}
		steps := frame.FunnelOf(row, v.label).Steps
		var most float64
		for _, step := range steps {
			most = max(most, step.Count)
		}
		for _, step := range steps {
			m.Steps = append(m.Steps, mail.Bar{Label: step.Name, Value: v.count(step.Count),
				Percent: barPercent(step.Count, most)})
		}
		list = append(list, m)
	}
	return list, len(rows) - len(shown)
}

// barPercent is a share for a bar: a number above zero is seen.
func barPercent(n, most float64) int {
	if !(n > 0) || !(most > 0) {
		return 0
	}
	return max(1, int(n/most*100))
}

// ask asks for the numbers of a week.
func (r *WeeklyReports) ask(ctx context.Context, account uuid.UUID, first time.Time) (b frame.Batch,
	titles map[string]string, err error) {
	queries := frame.ChangeQueries(frame.Query{Metrics: append(frame.FunnelMetrics(), "downloads"), Interval: "day"})
	for i := range queries {
		q := &queries[i]
		q.From, q.To, q.Timezone, q.Compare = first.Format(time.DateOnly), timezone.AddDays(first, 7).Format(time.DateOnly),
			first.Location().String(), "previous"
	}
	if b, err = r.Ask(ctx, account, queries); err != nil {
		return b, nil, err
	}
	return b, b.Of(frame.ByMagnet).Labels, nil
}

// Ask asks the API about an account, with a key of its own, which works only until the answers are
// there.
func (r *WeeklyReports) Ask(ctx context.Context, account uuid.UUID, queries []frame.Query) (b frame.Batch, err error) {
	if r.handler == nil {
		return b, errNoAPI
	}
	id, key := uuid.New(), auth.NewReportKey()
	q := store.New(r.deps.Postgres.Unscoped())
	err = q.InsertReportKey(ctx, store.InsertReportKeyParams{ID: id, AccountID: account, KeyHash: key.Hash[:],
		LastsSeconds: keyLasts.Seconds()})
	if err != nil {
		return b, fmt.Errorf("store key of report: %w", err)
	}
	defer func() {
		if gone := q.DeleteReportKey(context.WithoutCancel(ctx), id); gone != nil && err == nil {
			err = fmt.Errorf("delete key of report: %w", gone)
		}
	}()
	who, err := http.NewRequestWithContext(ctx, http.MethodGet, r.deps.Pages.URL("/"), http.NoBody)
	if err != nil {
		return b, fmt.Errorf("ask for the numbers of a report: %w", err)
	}
	c := client.New(client.Config{URL: "http://api.invalid", Key: key.Text,
		HTTP: &http.Client{Transport: &client.Transport{Handler: r.handler, For: who}}})
	body, err := json.Marshal(map[string]any{"queries": queries})
	if err != nil {
		return b, fmt.Errorf("encode questions of a report: %w", err)
	}
	var got frame.Answers
	if _, err := c.Do(ctx, http.MethodPost, frame.QueryPath, http.Header{"Content-Type": {"application/json"}},
		bytes.NewReader(body), &got); err != nil {
		return b, fmt.Errorf("ask for the numbers of a report: %w", err)
	}
	return frame.BatchOf(got, len(queries))
}

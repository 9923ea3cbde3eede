package demo

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"time"

	"lodestone/pkg/client"
	"lodestone/pkg/event"
	"lodestone/pkg/problem"
	"lodestone/pkg/service"
)

// Times to wait for what was sent. The first pause grows, so that a slow machine does not use up
// the rate limit.
const (
	answerTimeout = 3 * time.Minute
	firstPause    = 300 * time.Millisecond
	longestPause  = 3 * time.Second
)

// metrics are the numbers that are compared, in the words of the API.
var metrics = []string{
	"link_views", "submissions", "verified", "readers", "people", "sessions", "events", "page_views",
	"reading_ms", "downloads_started",
	"downloads", "finished",
}

// numbers are metrics by name. Those that are zero are not there.
type numbers map[string]int64

// tally are the numbers of everything, those by utm_source, and the events and views of bots.
type tally struct {
	all      numbers
	bySource map[string]numbers // "": none
	bots     int64
}

// counter counts what happens.
type counter struct {
	tally
	seen map[any]bool
}

func (c *counter) add(metric, source string, n int64) {
	if c.bySource[source] == nil {
		c.bySource[source] = numbers{}
	}
	c.all[metric] += n
	c.bySource[source][metric] += n
}

// once counts a thing of everything, and of its source, unless it is there.
func (c *counter) once(metric, source string, thing any) {
	for of, n := range map[string]numbers{"": c.all, "of " + source: c.bySource[source]} {
		if key := [3]any{metric, of, thing}; !c.seen[key] {
			c.seen[key] = true
			n[metric]++
		}
	}
}

// count returns what the answers to questions about a plan that was played are.
func (p *plan) count() tally {
	c := &counter{tally{all: numbers{}, bySource: map[string]numbers{}}, map[any]bool{}}
	for _, v := range p.visits {
		source := v.campaign.source
		switch {
		case v.visitor.bot:
			c.bots++
			continue
		case v.scripts:
			c.add("link_views", source, 1)
		default:
			c.add("link_views", "", 1)
		}
		if v.email != "" && !v.invited {
			c.add("submissions", source, 1)
			if !v.verified.IsZero() {
				c.add("verified", source, 1)
			}
		}
		if v.invited {
			source = ""
		}
		for _, s := range v.sessions {
			for _, a := range s.actions {
				c.action(v, s, a, source)
			}
		}
	}
	return c.tally
}

func (c *counter) action(v *visit, s *session, a action, source string) {
	if s.visitor.bot {
		c.bots++
		return
	}
	c.add("events", source, 1)
	switch a.kind {
	case event.DownloadStarted:
		c.add("downloads_started", source, 1)
	case event.DownloadCompleted:
		c.add("downloads", source, 1)
	case event.PageViewed:
		c.add("page_views", source, 1)
		c.add("reading_ms", source, a.duration.Milliseconds())
		c.once("readers", source, v)
		c.once("people", source, v.email)
		c.once("sessions", source, s)
		if a.page == pages {
			c.once("finished", source, v)
		}
	}
}

// ask returns what the API answers.
func (d *Demo) ask(ctx context.Context) (t tally, err error) {
	question := map[string]any{
		"metrics": metrics, "from": d.plan.from, "to": d.plan.until, "dimensions": []string{"utm_source"},
		"filters": map[string]any{"lead_magnet_id": []any{d.magnet}},
	}
	answer, err := client.Post[struct {
		Data []struct {
			Rows         []map[string]any `json:"rows"`
			Totals       map[string]any   `json:"totals"`
			ExcludedBots int64            `json:"excluded_bots"`
		} `json:"data"`
	}](ctx, d.deps.API, "/api/v1/analytics/query", question)
	if err != nil {
		return t, fmt.Errorf("ask the API: %w", err)
	}
	if len(answer.Data) != 1 {
		return t, fmt.Errorf("ask the API: %d answers to a question", len(answer.Data))
	}
	t = tally{numbersOf(answer.Data[0].Totals), map[string]numbers{}, answer.Data[0].ExcludedBots}
	for _, row := range answer.Data[0].Rows {
		source, _ := row["utm_source"].(string) // none is null
		t.bySource[source] = numbersOf(row)
	}
	return t, nil
}

func numbersOf(row map[string]any) numbers {
	n := numbers{}
	for _, name := range metrics {
		if value, is := row[name].(float64); is && value != 0 {
			n[name] = int64(value)
		}
	}
	return n
}

// botRows names the number of events and views of programs in SQL.
const botRows = "events and views of bots"

// askSQL asks the views of the database analytics the same, as far as they have it.
func (d *Demo) askSQL(ctx context.Context) (numbers, error) {
	all, where := numbers{}, " WHERE lead_magnet_id = '"+d.magnet.String()+"'"
	people, programs := where+" AND bot = ''", where+" AND bot != ''"
	for _, q := range []struct {
		names []string
		sql   string
	}{
		{[]string{"link_views"}, "SELECT count() FROM link_views" + people},
		{[]string{"submissions", "verified"}, "SELECT count(), countIf(confirmed_at IS NOT NULL) FROM submissions" + where},
		{[]string{"finished"}, "SELECT uniqExactIf(access_link_id, finished) FROM readers" + where},
		{
			[]string{"sessions", "readers", "page_views", "downloads"},
			"SELECT count(), uniqExact(access_link_id), sum(page_views), sum(downloads) FROM sessions" +
				people + " AND page_views > 0",
		},
		{[]string{"events"}, "SELECT count() FROM events" + people},
		{[]string{botRows}, "SELECT (SELECT count() FROM events" + programs +
			") + (SELECT count() FROM link_views" + programs + ")"},
	} {
		rows, err := d.deps.SQL(ctx, q.sql)
		if err != nil {
			return nil, fmt.Errorf("ask SQL: %w", err)
		}
		if len(rows) != 1 || len(rows[0]) != len(q.names) {
			return nil, fmt.Errorf("ask SQL: an answer of another shape to %s", q.sql)
		}
		for i, name := range q.names {
			if all[name], err = strconv.ParseInt(rows[0][i], 10, 64); err != nil {
				return nil, fmt.Errorf("read the answer to %s: %w", q.sql, err)
			}
		}
	}
	return all, nil
}

// answers are the numbers of the API and of SQL.
type answers struct {
	api tally
	sql numbers // nil: SQL was not asked
}

// agree reports whether the answers are those that are expected. SQL is compared as far as it was
// asked.
func (a *answers) agree(want tally) bool {
	for name, n := range a.sql {
		if n != want.total(name) {
			return false
		}
	}
	return reflect.DeepEqual(want, a.api)
}

// total returns a number of everything.
func (t *tally) total(name string) int64 {
	if name == botRows {
		return t.bots
	}
	return t.all[name]
}

// compare asks until the answers are those that are expected, or the time for that is over, and
// prints them.
func (d *Demo) compare(ctx context.Context) error {
	want, got, begin := d.plan.count(), answers{}, time.Now()
	for pause := firstPause; ; pause = min(pause*3/2, longestPause) {
		err := d.askOnce(ctx, &got)
		if err != nil && !problem.Is(err, problem.RateLimited) {
			return err
		}
		if err == nil && got.agree(want) || time.Since(begin) > answerTimeout {
			break
		}
		if err := service.Sleep(ctx, pause); err != nil {
			return err
		}
	}
	d.print(want, got, time.Since(begin))
	if !got.agree(want) {
		return ErrDisagree
	}
	if got.sql == nil {
		fmt.Fprintln(d.deps.Out, "\nWhat was sent and what the API answers agree. SQL was not asked: give --sql-url.")
	} else {
		fmt.Fprintln(d.deps.Out, "\nWhat was sent, what the API answers and what SQL answers agree.")
	}
	return nil
}

func (d *Demo) askOnce(ctx context.Context, got *answers) (err error) {
	if got.api, err = d.ask(ctx); err != nil || d.deps.SQL == nil {
		return err
	}
	got.sql, err = d.askSQL(ctx)
	return err
}

// print prints the answers beside what was sent.
func (d *Demo) print(want tally, got answers, waited time.Duration) {
	out := d.deps.Out
	mark := map[bool]string{true: "✓", false: "✗"}
	fmt.Fprintf(out, "The API and SQL had them all %.1f s later.\n\n", waited.Seconds())
	fmt.Fprintf(out, "%-26s %11s %11s %11s\n", "", "sent", "API", "SQL")
	for _, name := range append(slices.Clone(metrics), botRows) {
		n, api, sql := want.total(name), got.api.total(name), "–"
		ok := n == api
		if value, asked := got.sql[name]; asked {
			sql, ok = fmt.Sprint(value), ok && n == value
		}
		fmt.Fprintf(out, "%-26s %11d %11d %11s %s\n", name, n, api, sql, mark[ok])
	}
	shown := []string{"link_views", "submissions", "readers", "sessions", "page_views", "finished", "downloads"}
	fmt.Fprintf(out, "\n%-26s", "utm_source")
	for _, name := range shown {
		fmt.Fprintf(out, " %11s", name)
	}
	every := maps.Clone(got.api.bySource)
	maps.Copy(every, want.bySource)
	for _, source := range slices.Sorted(maps.Keys(every)) {
		n := got.api.bySource[source]
		fmt.Fprintf(out, "\n%-26s", cmp.Or(source, "none"))
		for _, name := range shown {
			fmt.Fprintf(out, " %11d", n[name])
		}
		fmt.Fprint(out, " ", mark[maps.Equal(n, want.bySource[source])])
	}
	fmt.Fprintln(out)
}

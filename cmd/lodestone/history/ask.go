package history

import (
	"context"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"lodestone/pkg/client"
	"lodestone/pkg/problem"
	"lodestone/pkg/service"
)

// Times to wait for what was written. The first pause grows, so that a slow machine does not use up the rate limit.
const (
	answerTimeout = 3 * time.Minute
	firstPause    = 300 * time.Millisecond
	longestPause  = 3 * time.Second
)

// question is a question of the API's analytics.
type question struct {
	ID         string              `json:"id"`
	Metrics    []string            `json:"metrics"`
	From       time.Time           `json:"from"`
	To         time.Time           `json:"to"`
	Interval   string              `json:"interval,omitzero"`
	Dimensions []string            `json:"dimensions,omitzero"`
	Filters    map[string][]string `json:"filters"`
	Limit      int                 `json:"limit,omitzero"`
}

// questions returns the questions whose answers the tally has, in the order of answers.
func (p *plan) questions(o offer) []question {
	ofBoth := map[string][]string{"lead_magnet_id": {}}
	for _, magnet := range o.magnets {
		ofBoth["lead_magnet_id"] = append(ofBoth["lead_magnet_id"], magnet.String())
	}
	ofGuide := map[string][]string{"lead_magnet_id": {o.magnets[guide].String()}}
	return []question{
		{ID: "all", Metrics: metrics, From: p.from, To: p.until, Filters: ofBoth},
		{ID: "source", Metrics: metrics, From: p.from, To: p.until, Filters: ofBoth, Dimensions: []string{"utm_source"}},
		{ID: "version", Metrics: perVersion, From: p.from, To: p.until, Filters: ofGuide, Dimensions: []string{"magnet_version"}},
		{ID: "week", Metrics: metrics, From: p.from, To: p.until, Filters: ofBoth, Interval: "week"},
	}
}

// ask returns what the API answers, in the form of the tally.
func (h *History) ask(ctx context.Context, p *plan, o offer) (t tally, err error) {
	answer, err := client.Post[struct {
		Data []struct {
			Rows         []map[string]any `json:"rows"`
			Totals       map[string]any   `json:"totals"`
			ExcludedBots int64            `json:"excluded_bots"`
		} `json:"data"`
	}](ctx, h.deps.API, "/api/v1/analytics/query", map[string]any{"queries": p.questions(o)})
	if err != nil {
		return t, fmt.Errorf("ask the API: %w", err)
	}
	if len(answer.Data) != len(p.questions(o)) {
		return t, fmt.Errorf("ask the API: %d answers to %d questions", len(answer.Data), len(p.questions(o)))
	}
	t = tally{all: numbersOf(answer.Data[0].Totals), bots: answer.Data[0].ExcludedBots, bySource: map[string]numbers{}, versions: map[string]numbers{}, weeks: map[time.Time]numbers{}}
	for _, row := range answer.Data[1].Rows {
		source, _ := row["utm_source"].(string) // none is null
		t.bySource[source] = numbersOf(row)
	}
	for _, row := range answer.Data[2].Rows {
		version, _ := row["magnet_version"].(float64)
		t.versions[strconv.Itoa(int(version))] = numbersOf(row)
	}
	for _, row := range answer.Data[3].Rows {
		text, _ := row["time"].(string)
		at, err := time.Parse(time.RFC3339, text)
		if err != nil {
			return t, fmt.Errorf("read the API's answer: %w", err)
		}
		t.weeks[at.UTC()] = numbersOf(row)
	}
	return t, nil
}

// numbersOf returns the metrics of a row.
func numbersOf(row map[string]any) numbers {
	n := numbers{}
	for _, name := range metrics {
		if value, ok := row[name].(float64); ok && value != 0 {
			n[name] = int64(value)
		}
	}
	return n
}

// same reports whether two answers are the same. What is not there is zero.
func (t *tally) same(as *tally) bool {
	return t.bots == as.bots && maps.Equal(t.all, as.all) && maps.EqualFunc(t.bySource, as.bySource, maps.Equal[numbers]) &&
		maps.EqualFunc(t.versions, as.versions, maps.Equal[numbers]) && sameWeeks(t.weeks, as.weeks)
}

func sameWeeks(a, b map[time.Time]numbers) bool {
	for _, pair := range [][2]map[time.Time]numbers{{a, b}, {b, a}} {
		for week, n := range pair[0] {
			if !maps.Equal(n, pair[1][week]) {
				return false
			}
		}
	}
	return true
}

// answers is what the API and SQL say.
type answers struct {
	api    tally
	sql    numbers          // nil: SQL was not asked
	sqlBy  map[string]int64 // link views by utm_source
	waited time.Duration
}

// await asks until the answers are those of the plan, or the time for that is over, which is no error: the report shows the difference.
func (h *History) await(ctx context.Context, p *plan, o offer, want tally) (got answers, err error) {
	begin := time.Now()
	for pause := firstPause; ; pause = min(pause*3/2, longestPause) {
		if err := h.askOnce(ctx, p, o, &got); err != nil && !problem.Is(err, problem.RateLimited) {
			return got, err
		} else if err == nil && got.agree(want) || time.Since(begin) > answerTimeout {
			got.waited = time.Since(begin)
			return got, nil
		}
		if err := service.Sleep(ctx, pause); err != nil {
			return got, err
		}
	}
}

func (h *History) askOnce(ctx context.Context, p *plan, o offer, got *answers) (err error) {
	if got.api, err = h.ask(ctx, p, o); err != nil || h.deps.SQL == nil {
		return err
	}
	got.sql, got.sqlBy, err = h.askSQL(ctx, o)
	return err
}

// agree reports whether the answers are those of the plan. SQL is compared as far as it was asked.
func (a *answers) agree(want tally) bool {
	if !a.api.same(&want) {
		return false
	}
	for name, n := range a.sql {
		if name != botRows && n != want.all[name] || name == botRows && n != want.bots {
			return false
		}
	}
	return a.sql == nil || maps.Equal(a.sqlBy, want.viewsBySource())
}

// viewsBySource returns the link views of each utm_source that has some.
func (t *tally) viewsBySource() map[string]int64 {
	views := map[string]int64{}
	for source, n := range t.bySource {
		if n["link_views"] > 0 {
			views[source] = n["link_views"]
		}
	}
	return views
}

// botRows is what SQL has of programs: events and views.
const botRows = "bots"

// askSQL asks the views of the database analytics the same, as far as they have it.
func (h *History) askSQL(ctx context.Context, o offer) (all numbers, bySource map[string]int64, err error) {
	all, bySource = numbers{}, map[string]int64{}
	where := " WHERE lead_magnet_id IN (" + quoted(o.magnets[:]) + ")"
	for _, q := range []struct {
		names []string
		sql   string
	}{
		{[]string{"link_views", "visitors"}, "SELECT count(), uniqExact(ip_hash) + countIf(ip_hash IS NULL) FROM link_views" + where + " AND bot = ''"},
		{[]string{"submissions", "verified"}, "SELECT count(), countIf(confirmed_at IS NOT NULL) FROM submissions" + where},
		{[]string{"finished"}, "SELECT uniqExactIf(access_link_id, finished) FROM readers" + where},
		{[]string{"sessions", "readers", "page_views", "downloads"}, "SELECT count(), uniqExact(access_link_id), sum(page_views), sum(downloads) FROM sessions" + where + " AND bot = '' AND page_views > 0"},
		{[]string{botRows}, "SELECT (SELECT count() FROM events" + where + " AND bot != '') + (SELECT count() FROM link_views" + where + " AND bot != '')"},
	} {
		rows, err := h.deps.SQL(ctx, q.sql)
		if err != nil {
			return nil, nil, fmt.Errorf("ask SQL: %w", err)
		}
		if len(rows) != 1 || len(rows[0]) != len(q.names) {
			return nil, nil, fmt.Errorf("ask SQL: an answer of another shape to %s", q.sql)
		}
		for i, name := range q.names {
			if all[name], err = strconv.ParseInt(rows[0][i], 10, 64); err != nil {
				return nil, nil, fmt.Errorf("read the answer to %s: %w", q.sql, err)
			}
		}
	}
	rows, err := h.deps.SQL(ctx, "SELECT utm_source, count() FROM link_views"+where+" AND bot = '' GROUP BY 1")
	if err != nil {
		return nil, nil, fmt.Errorf("ask SQL: %w", err)
	}
	for _, row := range rows {
		if bySource[row[0]], err = strconv.ParseInt(row[len(row)-1], 10, 64); err != nil {
			return nil, nil, fmt.Errorf("read the views by source: %w", err)
		}
	}
	return all, bySource, nil
}

func quoted(ids []uuid.UUID) string {
	texts := make([]string, len(ids))
	for i, id := range ids {
		texts[i] = "'" + id.String() + "'"
	}
	return strings.Join(texts, ", ")
}

package history

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// printPast prints what was written.
func (h *History) printPast(p *plan, took time.Duration) {
	people := 0
	for _, s := range p.sessions {
		if !s.isScan() {
			people++
		}
	}
	fmt.Fprintf(h.deps.Out, "%d days, from %s to %s, written within %.1f s: %d views of landing pages, %d forms, %d personal links, %d sessions, %d records in all.\n",
		h.cfg.Days, p.from.Format("2 January 2006"), p.until.Format("2 January 2006"), took.Seconds(),
		len(p.views), len(p.submissions), len(p.links), people, len(p.entries()))
	fmt.Fprint(h.deps.Out, "No mail, notice or webhook was sent for them.\n\n")
}

// report prints the answers beside the plan.
func (h *History) report(p *plan, o offer, want tally, got answers) error {
	fmt.Fprintf(h.deps.Out, "The API and SQL had them all %.1f s later.\n", got.waited.Seconds())
	h.printWeeks(want, &got.api)
	h.printSources(want, &got)
	h.printVersions(p, want, &got.api)
	h.printTotals(want, &got)
	h.printNext(p, o, &got.api)
	switch {
	case !got.agree(want):
		return ErrDisagree
	case got.sql == nil:
		fmt.Fprintln(h.deps.Out, "\nWhat was written and what the API answers agree. SQL was not asked: give --sql-url.")
	default:
		fmt.Fprintln(h.deps.Out, "\nWhat was written, what the API answers and what SQL answers agree.")
	}
	return nil
}

// mark says whether two numbers are one.
func mark(ok bool) string {
	if ok {
		return "✓"
	}
	return "✗"
}

var shown = []string{"link_views", "submissions", "readers", "sessions", "page_views", "finished", "downloads"}

// head prints the names of columns.
func (h *History) head(title string) {
	fmt.Fprintf(h.deps.Out, "\n%-26s", title)
	for _, name := range shown {
		fmt.Fprintf(h.deps.Out, " %11s", name)
	}
	fmt.Fprintln(h.deps.Out)
}

// line prints the numbers of the API, with a mark that says whether all metrics of it are those of the plan.
func (h *History) line(title string, want, got numbers, names []string) {
	fmt.Fprintf(h.deps.Out, "%-26s", title)
	for _, name := range shown {
		text := "–"
		if slices.Contains(names, name) {
			text = fmt.Sprint(got[name])
		}
		fmt.Fprintf(h.deps.Out, " %11s", text)
	}
	fmt.Fprintln(h.deps.Out, " "+mark(maps.Equal(want, got)))
}

func (h *History) printWeeks(want tally, got *tally) {
	h.head("Week from")
	weeks := maps.Clone(got.weeks)
	maps.Copy(weeks, want.weeks)
	for _, week := range slices.SortedFunc(maps.Keys(weeks), time.Time.Compare) {
		h.line(week.Format("Monday, 2 January"), want.weeks[week], got.weeks[week], metrics)
	}
}

func (h *History) printSources(want tally, got *answers) {
	h.head("utm_source")
	sources := maps.Clone(got.api.bySource)
	maps.Copy(sources, want.bySource)
	for _, source := range slices.SortedFunc(maps.Keys(sources), func(a, b string) int {
		return cmp.Or(cmp.Compare(want.bySource[b]["readers"], want.bySource[a]["readers"]), cmp.Compare(a, b))
	}) {
		is, of := got.api.bySource[source], want.bySource[source]
		title := source
		if title == "" {
			title = "no utm_source"
		}
		if readers := is["readers"]; readers > 0 {
			title = fmt.Sprintf("%-13.13s %3d%% finish", title, 100*is["finished"]/readers)
		}
		h.line(title, of, is, metrics)
	}
}

func (h *History) printVersions(p *plan, want tally, got *tally) {
	h.head("Version of the guide")
	for i, out := range p.out[guide] {
		version := fmt.Sprint(i + 1)
		h.line(fmt.Sprintf("%s: %d pages, %s", version, pages(guide, i+1), out.Format("2 Jan")), want.versions[version], got.versions[version], perVersion)
	}
}

func (h *History) printTotals(want tally, got *answers) {
	fmt.Fprintf(h.deps.Out, "\n%-26s %11s %11s %11s\n", "", "written", "API", "SQL")
	row := func(title string, written, api int64, sqlName string) {
		sql, ok := "–", written == api
		if n, asked := got.sql[sqlName]; asked {
			sql, ok = fmt.Sprint(n), ok && n == written
		}
		fmt.Fprintf(h.deps.Out, "%-26s %11d %11d %11s %s\n", title, written, api, sql, mark(ok))
	}
	for _, name := range metrics {
		row(name, want.all[name], got.api.all[name], name)
	}
	row("events and views of bots", want.bots, got.api.bots, botRows)
}

// readersToCompare is how many readers a source must have to be compared with others.
const readersToCompare = 10

// extremes returns the sources whose readers finish most and least often, "" twice if there are no two.
func (t *tally) extremes() (most, least string) {
	var sources []string
	for source, n := range t.bySource {
		if source != "" && n["readers"] >= readersToCompare {
			sources = append(sources, source)
		}
	}
	if len(sources) < 2 {
		return "", ""
	}
	slices.SortFunc(sources, func(a, b string) int {
		return cmp.Or(cmp.Compare(t.finishing(b), t.finishing(a)), cmp.Compare(a, b))
	})
	return sources[0], sources[len(sources)-1]
}

// finishing returns the percentage of the readers from a source who finish.
func (t *tally) finishing(source string) int64 {
	n := t.bySource[source]
	return 100 * n["finished"] / max(1, n["readers"])
}

// printNext prints what happened, and where to look.
func (h *History) printNext(p *plan, o offer, t *tally) {
	from, to := p.from.Format(time.DateOnly), p.until.AddDate(0, 0, 1).Format(time.DateOnly)
	fmt.Fprintln(h.deps.Out)
	if most, least := t.extremes(); most != "" {
		fmt.Fprintf(h.deps.Out, "Of the readers from %s %d %% finish, of those from %s %d %%.\n", most, t.finishing(most), least, t.finishing(least))
	}
	fmt.Fprintf(h.deps.Out, "On %s the guide came out again, with %d pages instead of %d. Who finished it was sent the worksheet.\n\nLanding pages:\n",
		p.out[guide][1].Format("2 January"), pages(guide, 2), pages(guide, 1))
	for _, url := range o.urls {
		fmt.Fprintln(h.deps.Out, "  "+url)
	}
	fmt.Fprintf(h.deps.Out, "\nMore to ask, %s:\n", h.deps.Settings)
	query := func(what, body string) {
		fmt.Fprintf(h.deps.Out, "\n%s:\n  curl -s \"$LODESTONE_URL/api/v1/analytics/query\" -H \"Authorization: Bearer $LODESTONE_API_KEY\" -H 'Content-Type: application/json' \\\n    -d '%s'\n", what, body)
	}
	span := fmt.Sprintf(`"from":"%s","to":"%s"`, from, to)
	query("A campaign by week", `{"metrics":["readers","finish_rate"],`+span+`,"interval":"week","filters":{"utm_campaign":["weekly-letter"]}}`)
	query("Which campaign brings readers who finish", `{"metrics":["finish_rate","readers","attentive"],`+span+`,"dimensions":["utm_campaign"],"order_by":"-finish_rate"}`)
	query("When people read, in Berlin", `{"metrics":["sessions"],`+span+`,"dimensions":["weekday","hour_of_day"],"timezone":"Europe/Berlin","limit":168}`)
	for i := range p.out[guide] {
		fmt.Fprintf(h.deps.Out, "\nPages of version %d:\n  curl -s \"$LODESTONE_URL/api/v1/analytics/pages?%s\" -H \"Authorization: Bearer $LODESTONE_API_KEY\"\n",
			i+1, strings.Join([]string{"lead_magnet_id=" + o.magnets[guide].String(), fmt.Sprintf("magnet_version=%d", i+1), "from=" + from, "to=" + to}, "&"))
	}
}

package report

import (
	"context"
	_ "embed" // for the statement
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"lodestone/query/scope"
)

//go:embed funnel.sql
var funnelSQL string

// The steps of a funnel, in their order.
const (
	StepLinkView   = "link_view"
	StepSubmission = "submission"
	StepVerified   = "verified"
	StepOpened     = "opened"
	StepFinished   = "finished"
	StepDownloaded = "downloaded"
)

// Steps lists the names of the steps.
func Steps() []string {
	return []string{StepLinkView, StepSubmission, StepVerified, StepOpened, StepFinished, StepDownloaded}
}

// FunnelQuestion asks how many got how far. Nil times do not bound. The filters are on dimensions
// that views, submissions and access links all have: FunnelFilters lists them.
type FunnelQuestion struct {
	Filters  []Condition
	From, To *time.Time
}

// FunnelFilters lists the dimensions that funnels can be filtered by.
func FunnelFilters() []string {
	return []string{"lead_magnet_id", "generic_link_id", "utm_source", "utm_medium",
		"utm_campaign", "utm_content", "utm_term"}
}

// Funnel tells how many got how far, of people.
type Funnel struct {
	Steps        []Step
	ExcludedBots int64 // views and events of bots that match the range and the filters
}

// Step is one step of a funnel.
type Step struct {
	Name     string
	Count    int64 // with access links that the API created
	FromForm int64 // without them
	// The share of those from forms who took the step, of those of the step before and of all views;
	// nil: of nothing.
	Rate, TotalRate *float64
	// Half of those from forms took at most so long since the step before; nil: no one took both.
	Median *float64 // seconds
}

// Funnel reads the report.
func (r *Reporter) Funnel(ctx context.Context, account uuid.UUID, q FunnelQuestion) (Funnel, error) {
	var views, bots int64
	var counts []int64
	var medians []*float64
	err := r.ch.Query(ctx, account, q.statement(), func(row scope.Row) error {
		var numbers []uint64
		var times []*float64
		if err := row.Scan(&numbers, &times); err != nil {
			return fmt.Errorf("read funnel: %w", err)
		}
		if len(numbers) == 2 {
			views, bots = views+int64(numbers[0]), bots+int64(numbers[1])
			return nil
		}
		for _, n := range numbers {
			counts = append(counts, int64(n))
		}
		medians = times
		return nil
	})
	if err != nil {
		return Funnel{}, err
	}
	return Funnel{Steps: funnelSteps(views, counts, medians), ExcludedBots: bots}, nil
}

// funnelSteps makes the steps of what was counted: submissions and verified ones, then for each
// further step all, and those from forms.
func funnelSteps(views int64, counts []int64, medians []*float64) []Step {
	steps := []Step{
		{Name: StepLinkView, Count: views, FromForm: views},
		{Name: StepSubmission, Count: counts[0], FromForm: counts[0]},
		{Name: StepVerified, Count: counts[1], FromForm: counts[1]},
		{Name: StepOpened, Count: counts[2], FromForm: counts[3]},
		{Name: StepFinished, Count: counts[4], FromForm: counts[5]},
		{Name: StepDownloaded, Count: counts[6], FromForm: counts[7]},
	}
	opened := slices.IndexFunc(steps, func(s Step) bool { return s.Name == StepOpened })
	for i := range steps {
		s := &steps[i]
		s.TotalRate = share(s.FromForm, views)
		if i > 0 {
			s.Rate = share(s.FromForm, steps[min(i-1, opened)].FromForm)
		}
		if at := i - (len(steps) - len(medians)); at >= 0 && medians[at] != nil {
			s.Median = new(*medians[at] / 1000)
		}
	}
	return steps
}

func share(part, of int64) *float64 {
	if of == 0 {
		return nil
	}
	return new(float64(part) / float64(of))
}

// statement writes the filters into the statement: each source has a dimension in a place of its
// own.
func (q FunnelQuestion) statement() scope.Statement {
	from, to := bounds(q.From, q.To)
	params := map[string]string{"from": strconv.FormatInt(from, 10), "to": strconv.FormatInt(to, 10)}
	var view, lead, event, magnet strings.Builder
	joins := ""
	for i, c := range q.Filters {
		d, name := dimensions[c.Dimension], "filter"+strconv.Itoa(i)
		kind, text := d.texts(c.Values)
		params[name] = text
		for where, s := range map[*strings.Builder]source{&view: views, &lead: submissions, &event: events} {
			fmt.Fprintf(where, " AND %s IN {%s:%s}", d.of[s], name, kind)
		}
		if d.name == "lead_magnet_id" {
			fmt.Fprintf(&magnet, " AND lead_magnet_id IN {%s:%s}", name, kind)
		}
		if d.links {
			joins = linksJoin
		}
	}
	sql := strings.NewReplacer("VIEW_FILTERS", view.String(), "LEAD_FILTERS", lead.String(), "EVENT_FILTERS",
		event.String(), "EVENT_JOINS", joins,
		"MAGNET", magnet.String()).Replace(funnelSQL)
	return scope.Statement{Name: "funnel", SQL: sql, Params: params, Threads: 2, OneSnapshot: true}
}

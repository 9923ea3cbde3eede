package report_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/event"
	"lodestone/query/querytest"
	"lodestone/query/report"
)

// funnelAsk is a question of a funnel, as the reference reads it.
type funnelAsk struct {
	from, to time.Time // zero: no bound
	filters  map[string]string
}

func (a funnelAsk) question() (q report.FunnelQuestion) {
	if !a.from.IsZero() {
		q.From = &a.from
	}
	if !a.to.IsZero() {
		q.To = &a.to
	}
	for _, name := range report.FunnelFilters() {
		if value, ok := a.filters[name]; ok {
			q.Filters = append(q.Filters, report.Condition{Dimension: name, Values: []any{value}})
		}
	}
	return q
}

func (a funnelAsk) within(at time.Time) bool {
	return !at.Before(a.from) && (a.to.IsZero() || at.Before(a.to))
}

// has reports whether something of a form and an origin passes the filters.
func (a funnelAsk) has(magnet, form uuid.UUID, source, campaign string) bool {
	values := map[string]string{"lead_magnet_id": magnet.String(), "generic_link_id": form.String(),
		"utm_source": source, "utm_campaign": campaign}
	for name, value := range a.filters {
		if values[name] != value {
			return false
		}
	}
	return true
}

// funnelAsk makes up a question.
func (c *campaign) funnelAsk() funnelAsk {
	a := funnelAsk{filters: map[string]string{}}
	if c.random.IntN(3) > 0 {
		a.from = begin.Add(time.Duration(c.random.IntN(20)) * day)
		if c.random.IntN(3) > 0 {
			a.to = a.from.Add(time.Duration(1+c.random.IntN(20)) * day)
		}
	}
	form := c.forms[c.random.IntN(len(c.forms))]
	for name, value := range map[string]string{
		"lead_magnet_id": form.magnet.String(), "generic_link_id": form.id.String(),
		"utm_source": c.pick("newsletter", `it's \ "odd"`), "utm_campaign": "spring", "utm_term": "none",
	} {
		if c.random.IntN(5) == 0 {
			a.filters[name] = value
		}
	}
	return a
}

// milestones are the first times of someone who is followed; zero: never.
type milestones struct {
	isForm                                             bool
	submitted, confirmed, opened, finished, downloaded time.Time
}

// add takes the times that are earlier.
func (m *milestones) add(reads []read) {
	first := func(into *time.Time, at time.Time) {
		if into.IsZero() || at.Before(*into) {
			*into = at
		}
	}
	for _, r := range reads {
		switch {
		case r.bot:
		case r.kind == event.PageViewed:
			first(&m.opened, r.at)
			if r.isLastPage {
				first(&m.finished, r.at)
			}
		case r.kind == event.DownloadCompleted:
			first(&m.downloaded, r.at)
		}
	}
}

// followed returns the submissions of the range, and the access links of the API that were first
// opened in it.
func (c *campaign) followed(a funnelAsk) (list []milestones) {
	for _, l := range c.leads {
		if l.isDeleted || !a.within(l.submitted) || !a.has(l.magnet, l.form.id, l.source, l.campaign) {
			continue
		}
		m := milestones{isForm: true, submitted: l.submitted, confirmed: l.confirmed}
		for _, r := range c.readers {
			if r.submission == l.id && !r.isDeleted {
				m.add(r.reads)
			}
		}
		list = append(list, m)
	}
	for _, r := range c.readers {
		if r.made != "api" || r.isDeleted || !a.has(r.magnet, r.form.id, r.source, r.campaign) {
			continue
		}
		m := milestones{}
		m.add(r.reads)
		if !m.opened.IsZero() && a.within(m.opened) {
			list = append(list, m)
		}
	}
	return list
}

// funnel is the report, made slowly.
func (c *campaign) funnel(a funnelAsk) report.Funnel {
	var want report.Funnel
	count := map[string]int64{}
	for _, v := range c.visits {
		switch {
		case !a.within(v.at) || !a.has(v.magnet, v.id, v.source, v.campaign):
		case v.bot:
			want.ExcludedBots++
		default:
			count[report.StepLinkView]++
		}
	}
	for _, r := range c.readers {
		source, campaign := r.source, r.campaign
		if r.isDeleted {
			source, campaign = "", ""
		}
		for _, e := range r.reads {
			if e.bot && a.within(e.at) && a.has(r.magnet, r.form.id, source, campaign) {
				want.ExcludedBots++
			}
		}
	}
	form, spans := map[string]int64{report.StepLinkView: count[report.StepLinkView]}, map[string][]float64{}
	for _, m := range c.followed(a) {
		took := func(step string, at, before time.Time) {
			count[step]++
			if !m.isForm {
				return
			}
			form[step]++
			if !before.IsZero() {
				spans[step] = append(spans[step], max(0, float64(at.Sub(before).Milliseconds())))
			}
		}
		if m.isForm {
			took(report.StepSubmission, m.submitted, time.Time{})
		}
		if !m.confirmed.IsZero() {
			took(report.StepVerified, m.confirmed, m.submitted)
		}
		if m.opened.IsZero() {
			continue
		}
		took(report.StepOpened, m.opened, m.confirmed)
		if !m.finished.IsZero() {
			took(report.StepFinished, m.finished, m.opened)
		}
		if !m.downloaded.IsZero() {
			took(report.StepDownloaded, m.downloaded, m.opened)
		}
	}
	ratio := func(step, of string) *float64 {
		if form[of] == 0 {
			return nil
		}
		return new(float64(form[step]) / float64(form[of]))
	}
	before := map[string]string{
		report.StepSubmission: report.StepLinkView, report.StepVerified: report.StepSubmission,
		report.StepOpened:   report.StepVerified,
		report.StepFinished: report.StepOpened, report.StepDownloaded: report.StepOpened,
	}
	for _, name := range report.Steps() {
		s := report.Step{Name: name, Count: count[name], FromForm: form[name], TotalRate: ratio(name, report.StepLinkView)}
		if of, ok := before[name]; ok {
			s.Rate = ratio(name, of)
		}
		if half := quantile(spans[name], 0.5); half != nil {
			s.Median = new(*half / 1000)
		}
		want.Steps = append(want.Steps, s)
	}
	return want
}

// Every funnel is that of the reference, beside another account, and has the numbers that a
// question of metrics has.
func TestFunnelAgainstTheReference(t *testing.T) {
	t.Parallel()
	reporter := report.New(querytest.Scoped(t))
	for seed := range uint64(3) {
		random := rand.New(rand.NewPCG(seed, 23))
		campaigns := []*campaign{newCampaign(t, random), newCampaign(t, random)}
		for ask := range 6 {
			c := campaigns[ask%2]
			a := c.funnelAsk()
			got, err := reporter.Funnel(t.Context(), c.account, a.question())
			require.NoError(t, err)
			want := c.funnel(a)
			require.Equal(t, want, got, "seed %d, %+v", seed, a)

			from, to := begin.Add(-day), begin.Add(100*day)
			if !a.from.IsZero() {
				from = a.from
			}
			if !a.to.IsZero() {
				to = a.to
			}
			answers, err := reporter.Answer(t.Context(), c.account, []report.Question{{
				Metrics: []string{"link_views", "submissions", "open_rate", "readers"}, From: from.Format(time.RFC3339),
				To: to.Format(time.RFC3339), Filters: a.question().Filters,
			}}, []string{""})
			require.NoError(t, err)
			totals := answers[0].Totals.Now
			require.InDelta(t, got.Steps[0].Count, *totals[0], 0)
			require.InDelta(t, got.Steps[1].Count, *totals[1], 0)
			if totals[2] == nil {
				require.Zero(t, got.Steps[3].FromForm)
			} else {
				require.InDelta(t, got.Steps[3].FromForm, math.Round(*totals[2]**totals[1]), 0)
			}
			require.Equal(t, got.ExcludedBots, answers[0].ExcludedBots)
		}
	}
}

package frame

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"lodestone/pkg/chart"
)

// Questions of a batch, by their ids.
const (
	ByTime   = "time"
	ByMagnet = "magnet"
	BySource = "source"
)

// maxDocuments is how many lead magnets an answer tells apart: as many as a question may.
const maxDocuments = 1000

// ChangeQueries returns the questions that the sentences answer; all is the query of the totals,
// which may ask for more.
func ChangeQueries(all Query) []Query {
	all.ID = ByTime
	return []Query{
		all,
		{ID: ByMagnet, Metrics: FunnelMetrics(), Dimensions: []string{"lead_magnet_id"},
			Limit: maxDocuments},
		{ID: BySource, Metrics: []string{"people", "submissions", "people_finished", "people_finish_rate"},
			Dimensions: []string{"utm_source"}, Limit: 20},
		{ID: ByCampaign, Metrics: []string{"people", "people_finish_rate"}, Dimensions: []string{ByCampaign}, Limit: 20},
	}
}

// Voice is who says the sentences: a visit of the dashboard, or a mail.
type Voice interface {
	Figure(r Row, metric string) Figure
	Say(key string, args ...any) string
	Sentence(key string, args ...any) Sentence
}

// maxChanges is how many sentences say what changed.
const maxChanges = 3

// enoughReaders is the number of readers from which a rate is worth a sentence.
const enoughReaders = 10

// Changes says in sentences, by rule, what changed from one time to another: how many read and
// where the difference comes from, how far they read, and which source or campaign brings the
// readers who finish.
func Changes(v Voice, b Batch) (list []Sentence) {
	totals := b.Of(ByTime).Totals
	readers, finish := v.Figure(totals, "people"), v.Figure(totals, "people_finish_rate")
	if readers.Compared() {
		list = append(list, readersChanged(v, b, readers))
	}
	if finish.Compared() && readers.Value >= enoughReaders && readers.Before >= enoughReaders &&
		math.Abs(finish.Value-finish.Before) >= 0.02 {
		key := "overview.changed.finish.up"
		if finish.Value < finish.Before {
			key = "overview.changed.finish.down"
		}
		list = append(list, v.Sentence(key, "rate", &finish, "before", chart.Share(finish.Before)))
	}
	if s := bestOrigin(v, b, finish); s != nil {
		list = append(list, s)
	}
	if s := formsChanged(v, totals); s != nil {
		list = append(list, s)
	}
	return list[:min(len(list), maxChanges)]
}

func readersChanged(v Voice, b Batch, readers Figure) Sentence {
	n := int64(readers.Value)
	if readers.Value == readers.Before {
		return v.Sentence("overview.changed.same", "n", n, "readers", &readers)
	}
	key := "overview.changed.more"
	if readers.Value < readers.Before {
		key = "overview.changed.fewer"
	}
	by := chart.Count(math.Abs(readers.Value - readers.Before))
	if cause := causeOf(v, b, readers.Value-readers.Before); cause != "" {
		return v.Sentence(key+".cause", "n", n, "readers", &readers, "by", by, "cause", cause)
	}
	return v.Sentence(key, "n", n, "readers", &readers, "by", by)
}

// causeOf names the value of a dimension that has more than half of a difference, "" if none has.
func causeOf(v Voice, b Batch, difference float64) string {
	type cause struct {
		words string
		share float64
	}
	var found []cause
	for id, dimension := range map[string]string{BySource: "utm_source", ByMagnet: "lead_magnet_id"} {
		a := b.Of(id)
		if len(a.Rows) < 2 {
			continue // it would say nothing
		}
		for _, r := range a.Rows {
			name := r.Text(dimension)
			if label, ok := a.Labels[name]; ok {
				name = label
			}
			share := (r.Number("people") - r.Before("people")) / difference
			if name == "" || r.Is("other") || math.IsNaN(share) || share <= 0.5 {
				continue
			}
			words := v.Say("overview.cause.source", "name", name)
			if id == ByMagnet {
				words = v.Say("overview.cause.magnet", "name", name)
			}
			found = append(found, cause{words, share})
		}
	}
	if len(found) == 0 {
		return ""
	}
	return slices.MaxFunc(found, func(a, b cause) int {
		return cmp.Or(cmp.Compare(a.share, b.share), strings.Compare(b.words, a.words))
	}).words
}

// bestOrigin says which source or campaign brings readers who finish, if it is clearly better than
// all together; else it says nothing.
func bestOrigin(v Voice, b Batch, all Figure) Sentence {
	var best Row
	var key, name string
	for _, by := range []struct{ id, dimension, key string }{
		{BySource, "utm_source", "overview.changed.source"},
		{ByCampaign, "utm_campaign", "overview.changed.campaign"},
	} {
		for _, r := range b.Of(by.id).Rows {
			if r.Text(by.dimension) == "" || r.Is("other") || r.Number("people") < enoughReaders {
				continue
			}
			if best == nil || r.Number("people_finish_rate") > best.Number("people_finish_rate") {
				best, key, name = r, by.key, r.Text(by.dimension)
			}
		}
	}
	if best == nil || best.Number("people_finish_rate") < all.Value+0.05 {
		return nil
	}
	rate, readers := v.Figure(best, "people_finish_rate"), v.Figure(best, "people")
	return v.Sentence(key, "name", name, "rate", &rate, "readers", &readers, "all", &all)
}

// formsChanged says how many visitors send the form; nothing, if there are few. Where more forms
// were sent than visitors were counted, it says why.
func formsChanged(v Voice, totals Row) Sentence {
	rate, visitors := v.Figure(totals, "submission_rate"), v.Figure(totals, "visitors")
	if math.IsNaN(rate.Value) || visitors.Value < enoughReaders {
		return nil
	}
	if forms := v.Figure(totals, "submissions"); forms.Value > visitors.Value {
		return v.Sentence("overview.changed.forms.more", "n", int64(forms.Value), "forms", &forms, "visitors", &visitors)
	}
	if rate.Compared() && rate.Change() != "" {
		return v.Sentence("overview.changed.forms.change", "rate", &rate, "visitors", &visitors, "change", rate.Change())
	}
	return v.Sentence("overview.changed.forms", "rate", &rate, "visitors", &visitors)
}

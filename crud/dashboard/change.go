package dashboard

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"lodestone/crud/dashboard/frame"
	"lodestone/pkg/chart"
)

// sentence is text with numbers in it.
type sentence struct{ Parts []part }

type part struct {
	Text   string
	Figure *frame.Figure
}

// maxSentences is how many sentences say what changed.
const maxSentences = 3

// enough is the number of readers from which a rate is worth a sentence.
const enough = 10

// changes says what changed, by rule: how many read and where the difference comes from, how far they read, and which source brings the
// readers who finish.
func changes(v *frame.Visit, b frame.Batch) (list []sentence) {
	totals := b.Of(byTime).Totals
	readers, finish := v.Figure(totals, "readers"), v.Figure(totals, "finish_rate")
	if readers.Compared() {
		list = append(list, readersChanged(b, readers))
	}
	if finish.Compared() && readers.Value >= enough && readers.Before >= enough && math.Abs(finish.Value-finish.Before) >= 0.02 {
		direction := "up"
		if finish.Value < finish.Before {
			direction = "down"
		}
		list = append(list, say(&finish, " read to the end, "+direction+" from "+chart.Share(finish.Before)+"."))
	}
	if s, ok := bestSource(v, b.Of(bySource), finish); ok {
		list = append(list, s)
	}
	if s, ok := formsChanged(v, totals); ok {
		list = append(list, s)
	}
	return list[:min(len(list), maxSentences)]
}

func say(parts ...any) (s sentence) {
	for _, p := range parts {
		switch p := p.(type) {
		case string:
			s.Parts = append(s.Parts, part{Text: p})
		case *frame.Figure:
			s.Parts = append(s.Parts, part{Figure: p})
		}
	}
	return s
}

func readersChanged(b frame.Batch, readers frame.Figure) sentence {
	if readers.Value == readers.Before {
		return say(&readers, " readers, as many as before.")
	}
	word := "more"
	if readers.Value < readers.Before {
		word = "fewer"
	}
	s := say(&readers, " readers, "+chart.Count(math.Abs(readers.Value-readers.Before))+" "+word+" than before")
	if cause := mostOf(b, readers.Value-readers.Before); cause != "" {
		s.Parts = append(s.Parts, part{Text: ", most of the difference " + cause})
	}
	s.Parts = append(s.Parts, part{Text: "."})
	return s
}

// mostOf returns the value of a dimension that has more than half of a difference, "" if none has.
func mostOf(b frame.Batch, difference float64) string {
	type cause struct {
		words string
		share float64
	}
	var found []cause
	for id, words := range map[string]string{bySource: "from ", byMagnet: "from “"} {
		dimension := map[string]string{bySource: "utm_source", byMagnet: "lead_magnet_id"}[id]
		a := b.Of(id)
		if len(a.Rows) < 2 {
			continue // it would say nothing
		}
		for _, r := range a.Rows {
			name := r.Text(dimension)
			if label, ok := a.Labels[name]; ok {
				name = label
			}
			share := (r.Number("readers") - r.Before("readers")) / difference
			if name == "" || r.Is("other") || math.IsNaN(share) || share <= 0.5 {
				continue
			}
			if id == byMagnet {
				name += "”"
			}
			found = append(found, cause{words + name, share})
		}
	}
	if len(found) == 0 {
		return ""
	}
	return slices.MaxFunc(found, func(a, b cause) int {
		return cmp.Or(cmp.Compare(a.share, b.share), strings.Compare(b.words, a.words))
	}).words
}

// bestSource says which source brings readers who finish, if it is clearly better than all together.
func bestSource(v *frame.Visit, a frame.Answer, all frame.Figure) (sentence, bool) {
	var best frame.Row
	for _, r := range a.Rows {
		if r.Text("utm_source") == "" || r.Is("other") || r.Number("readers") < enough {
			continue
		}
		if best == nil || r.Number("finish_rate") > best.Number("finish_rate") {
			best = r
		}
	}
	if best == nil || best.Number("finish_rate") < all.Value+0.05 {
		return sentence{}, false
	}
	rate, readers := v.Figure(best, "finish_rate"), v.Figure(best, "readers")
	return say("Readers from "+best.Text("utm_source")+" read furthest: ", &rate, " of ", &readers, " finish, against ", &all, " of all."), true
}

// formsChanged says how many visitors send the form.
func formsChanged(v *frame.Visit, totals frame.Row) (sentence, bool) {
	rate, visitors := v.Figure(totals, "submission_rate"), v.Figure(totals, "visitors")
	if math.IsNaN(rate.Value) || visitors.Value < enough {
		return sentence{}, false
	}
	s := say(&rate, " of ", &visitors, " visitors sent the form")
	if rate.Compared() && rate.Change() != "" {
		s.Parts = append(s.Parts, part{Text: " (" + rate.Change() + ")"})
	}
	s.Parts = append(s.Parts, part{Text: "."})
	return s, true
}

// lower begins a word with a small letter, within a sentence.
func lower(text string) string {
	if text == "" {
		return text
	}
	return strings.ToLower(text[:1]) + text[1:]
}

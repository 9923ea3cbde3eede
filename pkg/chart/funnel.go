package chart

// Step is one step of a Funnel.
type Step struct {
	Name   string
	Metric string
	URL    string  // of the list of the counted people
	Count  float64 // people or forms that came this far
	Rate   float64 // of the step before; a gap: none. One above 1 is not shown
	Before float64 // Count of the time that it is compared with; a gap: none
}

// Funnel is how many come how far.
type Funnel struct {
	Title string
	Small bool // only the columns, for a row of a table
	Steps []Step
	Own   Words // of the table and of labels; nil: English
}

const (
	stepRow     = 52
	stepBar     = 18
	smallHeight = 24
)

// SVG implements Chart.
func (f Funnel) SVG() string {
	highest := 1.0
	for _, s := range f.Steps {
		highest = max(highest, finite(s.Count), finite(s.Before))
	}
	if f.Small {
		return f.small(highest)
	}
	d := draw(f.Title, stack, float64(max(len(f.Steps), 1)*stepRow))
	d.group(`fill="`+raised+`"`, func() {
		for i := range f.Steps {
			d.rect(0, float64(i*stepRow+22), 1, stepBar, `rx="3"`)
		}
	})
	d.group(`fill="`+accent+`"`, func() {
		for i, s := range f.Steps {
			if s.Count > 0 {
				d.rect(0, float64(i*stepRow+22), finite(s.Count)/highest, stepBar, `rx="3"`)
			}
		}
	})
	d.group(`stroke="`+ink+`" stroke-width="2"`, func() {
		for i, s := range f.Steps {
			if v := finite(s.Before); v > 0 {
				d.rule(v/highest, float64(i*stepRow+19), v/highest, float64(i*stepRow+22+stepBar+3))
			}
		}
	})
	d.group(`fill="`+ink+`"`, func() {
		for i, s := range f.Steps {
			d.text(0, float64(i*stepRow+14), "start", s.Name, `font-size="14"`)
			d.text(1, float64(i*stepRow+14), "end", f.words(s), "")
		}
	})
	return d.String()
}

// words are the numbers of a step: 42, 47 % of the step before.
func (f Funnel) words(s Step) string {
	rate := s.rate()
	if rate == None {
		return Count(s.Count)
	}
	return Count(s.Count) + " · " + rate
}

// rate is the share of the step before, in words: more than all of it is no share.
func (s Step) rate() string {
	if s.Rate > 1 {
		return None
	}
	return Share(s.Rate)
}

func (f Funnel) small(highest float64) string {
	d := draw(f.Title, plain, smallHeight)
	n := float64(max(len(f.Steps), 1))
	d.group(`fill="`+accent+`"`, func() {
		for i, s := range f.Steps {
			h := max(finite(s.Count)/highest*smallHeight, 1)
			d.rect(float64(i)/n, smallHeight-h, 0.8/n, h, "")
		}
	})
	return d.String()
}

// Table implements Chart.
func (f Funnel) Table() Table {
	t := Table{Title: f.Title, Head: []string{f.Own.of("Step"), f.Own.of("Count"), f.Own.of("Of the step before")}}
	for _, s := range f.Steps {
		t.Rows = append(t.Rows, []Cell{
			{Text: s.Name, URL: s.URL}, figure(s.Metric, s.Count, Count), {Text: s.rate()},
		})
	}
	return t
}

package chart

// Bar is one value of Bars.
type Bar struct {
	Label  string
	URL    string // of the people behind it, in the table
	Value  float64
	Before float64 // what it is compared with; a gap or 0: nothing
}

// Bars is values side by side, from zero.
type Bars struct {
	Title  string
	Name   string // of the labels: Source, Device
	Metric string
	Words  string // of the metric, in the table
	Format Format
	Items  []Bar
}

const (
	barRow  = 40
	barLine = 14 // from the top of a row to its text's base
	barTop  = 22
	barThin = 10
)

// SVG implements Chart. Each bar has its label and value above it.
func (c Bars) SVG() string {
	d := draw(c.Title, stack, float64(max(len(c.Items), 1)*barRow))
	highest := 0.0
	for _, b := range c.Items {
		highest = max(highest, finite(b.Value), finite(b.Before))
	}
	if highest == 0 {
		highest = 1
	}
	d.group(`fill="`+hair+`"`, func() {
		for i := range c.Items {
			d.rect(0, float64(i*barRow+barTop), 1, barThin, `rx="2"`)
		}
	})
	d.group(`fill="`+accent+`"`, func() {
		for i, b := range c.Items {
			if v := finite(b.Value); v > 0 {
				d.rect(0, float64(i*barRow+barTop), v/highest, barThin, `rx="2"`)
			}
		}
	})
	d.group(`stroke="`+ink+`" stroke-width="2"`, func() {
		for i, b := range c.Items {
			if v := finite(b.Before); v > 0 {
				d.rule(v/highest, float64(i*barRow+barTop-2), v/highest, float64(i*barRow+barTop+barThin+2))
			}
		}
	})
	d.group(`fill="`+ink+`"`, func() {
		for i, b := range c.Items {
			d.text(0, float64(i*barRow+barLine), "start", shorten(b.Label), "")
			d.text(1, float64(i*barRow+barLine), "end", c.Format.written(b.Value), `font-weight="600"`)
		}
	})
	return d.String()
}

// finite returns 0 for a gap.
func finite(v float64) float64 {
	if isGap(v) || v < 0 {
		return 0
	}
	return v
}

// maxLabel is the number of characters of a label that fit on a phone.
const maxLabel = 34

func shorten(text string) string {
	if runes := []rune(text); len(runes) > maxLabel {
		return string(runes[:maxLabel-1]) + "…"
	}
	return text
}

// Table implements Chart.
func (c Bars) Table() Table {
	t := Table{Title: c.Title, Head: []string{c.Name, c.Words}}
	compared := false
	for _, b := range c.Items {
		compared = compared || finite(b.Before) > 0
	}
	if compared {
		t.Head = append(t.Head, "Before")
	}
	for _, b := range c.Items {
		row := []Cell{{Text: b.Label, URL: b.URL}, figure(c.Metric, b.Value, c.Format)}
		if compared {
			row = append(row, Cell{Text: c.Format.written(b.Before)})
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

package dashboard

import (
	"math"
	"strings"

	"lodestone/crud/dashboard/frame"
	"lodestone/crud/web"
	"lodestone/pkg/chart"
)

// mailVoice says what changed in the language of an account. It implements frame.Voice.
type mailVoice struct{ texts *web.Texts }

// Figure returns a number without words.
func (mailVoice) Figure(r frame.Row, metric string) frame.Figure { return frame.FigureOf(r, metric) }

// mailKey is where a text of the dashboard is in the catalogue of mails.
func mailKey(k string) string { return "mail.weekly." + strings.TrimPrefix(k, "overview.") }

// Say returns a text.
func (v mailVoice) Say(k string, args ...any) string { return v.texts.Say(mailKey(k), args...) }

// Sentence returns a text whose numbers are words as well.
func (v mailVoice) Sentence(k string, args ...any) frame.Sentence {
	written := make([]any, len(args))
	for i, a := range args {
		written[i] = a
		if f, ok := a.(*frame.Figure); ok {
			written[i] = v.number(*f)
		}
	}
	return frame.Sentence{{Text: v.Say(k, written...)}}
}

func plainText(s frame.Sentence) string {
	var b strings.Builder
	for _, p := range s {
		b.WriteString(p.Text)
	}
	return b.String()
}

// label returns the displayed name of a metric.
func (v mailVoice) label(metric string) string { return v.texts.Say("mail.weekly." + metric) }

// number writes a number with its unit, and a count as the language writes it.
func (v mailVoice) number(f frame.Figure) string {
	if f.Unit() == "count" {
		return v.count(f.Value)
	}
	return f.Text()
}

func (v mailVoice) count(n float64) string {
	if math.IsNaN(n) {
		return chart.None
	}
	return v.texts.Number(int64(math.Round(n)))
}

// change is the difference from the week before, such as +12 %.
func (v mailVoice) change(f frame.Figure) string {
	switch {
	case !f.Compared() || math.IsNaN(f.Value):
		return ""
	case f.Value == f.Before:
		return v.texts.Say("mail.weekly.same")
	case f.Before == 0:
		return v.texts.Say("mail.weekly.new")
	}
	by := math.Round((f.Value - f.Before) / f.Before * 100)
	sign := "+"
	if by < 0 {
		sign = "−"
	}
	if by == 0 {
		return v.texts.Say("mail.weekly.same")
	}
	return sign + v.texts.Number(int64(math.Abs(by))) + " %"
}

package mail

import (
	"time"

	"lodestone/crud/web"
	"lodestone/pkg/locale"
)

// Words are the texts of a mail, for other channels. Texts that visitors typed are cleaned, but not
// escaped.
type Words struct {
	Language    locale.Language
	Subject     string
	Before      []string // paragraphs
	Facts       []Fact
	After       []string // paragraphs
	Button, URL string   // may be ""
}

// Fact is a line of a table.
type Fact struct{ Name, Value string }

// Words returns the texts of a mail.
func (q *Queue) Words(m Message) (Words, error) {
	t := q.texts.In(m.Language)
	l, err := write(m, t, Brand{Accent: web.Token("accent")}, q.site, time.Now())
	if err != nil {
		return Words{}, err
	}
	if l.Report != nil {
		for _, n := range l.Report.Tiles {
			if n.Change != "" {
				n.Value += " (" + n.Change + ")"
			}
			l.Facts = append(l.Facts, Fact{n.Label, n.Value})
		}
	}
	return Words{t.Language, l.Subject, l.Before, l.Facts, l.After, l.Button, l.URL}, nil
}

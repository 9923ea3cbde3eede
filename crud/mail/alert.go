package mail

import (
	"strings"
	"time"

	"github.com/google/uuid"

	"lodestone/crud/web"
	"lodestone/pkg/timezone"
)

// maxPage is how many characters of a page's address a mail has.
const maxPage = 60

// Alerts are what is unusual about an account.
type Alerts struct {
	Total int     `json:"total"` // more than those listed, if they are many
	List  []Alert `json:"list"`
}

// Alert is something unusual: a day whose number left its usual range or passed a threshold, or a
// page from which nothing comes. The name is an owner's text: mails show it cleaned.
type Alert struct {
	Name      *string    `json:"name,omitempty"` // of a document, link or campaign; nil: all together
	Link      *uuid.UUID `json:"link,omitempty"` // generic link
	Metric    string     `json:"metric"`
	Direction string     `json:"direction"` // above, below, silent
	Value     int64      `json:"value"`
	Low       *int64     `json:"low,omitempty"` // of the usual range; nil: a threshold was passed
	High      *int64     `json:"high,omitempty"`
	Threshold *int64     `json:"threshold,omitempty"`
	Since     time.Time  `json:"since"`           // the last visit, or the day's beginning
	Pages     []string   `json:"pages,omitempty"` // that fell silent, as host and path; visitors' texts
	Ended     bool       `json:"ended,omitempty"`
}

// writeAlerts has one line an alert. A single one is the subject.
func writeAlerts(m Message, t *web.Texts) letter {
	a, zone := m.Alerts, timezone.OrUTC(m.Timezone)
	l := letter{
		Subject: t.Say("mail.alert.subject", "n", a.Total),
		Preview: t.Say("mail.alert.preview"),
		Before:  []string{t.Say("mail.alert.text")},
		Button:  t.Say("mail.weekly.button"), URL: m.URL,
	}
	for _, one := range a.List {
		l.Facts = append(l.Facts, Fact{one.name(t), one.words(t, zone)})
	}
	if len(l.Facts) == 1 {
		l.Subject = l.Facts[0].Name + ": " + l.Facts[0].Value
	}
	l.Heading = l.Subject
	if more := a.Total - len(a.List); more > 0 {
		l.After = append(l.After, t.Say("mail.weekly.more", "n", more))
	}
	return l
}

func (a Alert) name(t *web.Texts) string {
	if a.Name == nil {
		return t.Say("mail.alert.all")
	}
	return Clean(*a.Name, maxTitle)
}

func (a Alert) words(t *web.Texts, zone *time.Location) string {
	at := a.Since.In(zone)
	args := []any{"metric", t.Say("mail.weekly." + a.Metric), "day", t.Weekday(at), "value", a.Value}
	var words string
	switch {
	case a.Direction == "silent" && len(a.Pages) > 0:
		pages := make([]string, len(a.Pages))
		for i, page := range a.Pages {
			pages[i] = Clean(page, maxPage)
		}
		words = t.Say("mail.alert.pages."+a.Metric, "pages", strings.Join(pages, ", "), "since", t.Moment(at))
	case a.Direction == "silent":
		words = t.Say("mail.alert.silent."+a.Metric, "since", t.Moment(at))
	case a.Low != nil && a.High != nil:
		words = t.Say("mail.alert.usual", append(args, "low", *a.Low, "high", *a.High)...)
	case a.Threshold != nil:
		words = t.Say("mail.alert."+a.Direction, append(args, "threshold", *a.Threshold)...)
	}
	if a.Ended {
		words += " · " + t.Say("mail.alert.over")
	}
	return words
}

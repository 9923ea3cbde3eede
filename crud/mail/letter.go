package mail

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"lodestone/crud/web"
	"lodestone/pkg/timezone"
)

// Lengths of what visitors typed, in characters, in mails to owners.
const (
	maxName    = 100
	maxTitle   = 120
	maxAnswer  = 500
	maxAddress = 254
)

// write turns a message into words. site is the public address of the installation.
func write(m Message, t *web.Texts, b Brand, site string, now time.Time) (letter, error) {
	here := host(site)
	if b.Name != "" {
		here = b.Name + " (" + here + ")"
	}
	switch m.Kind {
	case KindDocument, KindConfirm:
		return writeToVisitor(m, t, here, now), nil
	case KindSignIn:
		return writeSignIn(m, t, here, now), nil
	case KindInvitation:
		return writeInvitation(m, t, here), nil
	case KindNotices, KindLead, KindDigest, KindReading, KindReadings, KindWeekly, KindWebhook, KindAlerts:
		return writeToOwner(m, t, here), nil
	case KindRecipient, KindReminder:
		if m.Own == nil {
			return letter{}, errors.New("the mail to a recipient has no words")
		}
		return writeToRecipient(m, t, here), nil
	default:
		return letter{}, fmt.Errorf("there is no mail of the kind %q", m.Kind)
	}
}

func writeSignIn(m Message, t *web.Texts, here string, now time.Time) letter {
	return letter{
		Subject: t.Say("mail.sign_in.subject", "code", m.Code),
		Preview: t.Say("mail.sign_in.preview", "where", here),
		Heading: t.Say("mail.sign_in.heading"),
		Before:  []string{t.Say("mail.sign_in.text")},
		Code:    m.Code,
		Button:  t.Say("mail.sign_in.button"), URL: m.URL,
		After:  []string{t.Say("mail.sign_in.same"), Until(t, "mail.valid", m.ExpiresAt.Sub(now))},
		Reason: t.Say("mail.sign_in.reason", "where", here),
	}
}

func writeInvitation(m Message, t *web.Texts, here string) letter {
	name := Clean(m.Account, maxTitle)
	return letter{
		Subject: t.Say("mail.invitation.subject", "name", name),
		Preview: t.Say("mail.invitation.preview", "name", name, "where", here),
		Heading: t.Say("mail.invitation.subject", "name", name),
		Before: []string{
			t.Say("mail.invitation.text", "name", name, "where", here, "role", t.Say("mail.role."+m.Role)),
			t.Say("mail.invitation.until", "moment", t.Moment(m.ExpiresAt.In(timezone.OrUTC(m.Timezone)))),
		},
		Button: t.Say("mail.invitation.button"), URL: m.URL,
		Reason: t.Say("mail.invitation.reason"),
	}
}

// writeToVisitor turns a message to a visitor into words of the form's language.
func writeToVisitor(m Message, t *web.Texts, here string, now time.Time) letter {
	title := Clean(m.Title, maxTitle)
	// titled returns a text with the title, or another one if there is none.
	titled := func(with, without string, args ...any) string {
		if title == "" {
			return t.Say(without, args...)
		}
		return t.Say(with, append(args, "title", title)...)
	}
	if m.Kind == KindDocument {
		return letter{
			Subject: titled("mail.document.subject", "mail.document.untitled"),
			Preview: t.Say("mail.document.preview"),
			Heading: titled("mail.document.heading", "mail.document.heading.untitled"),
			Before:  []string{t.Say("mail.document.text")},
			Button:  t.Say("mail.document.button"), URL: m.URL,
			Reason: t.Say("mail.document.reason", "where", here),
		}
	}
	return letter{
		Subject: titled("mail.confirm.subject", "mail.confirm.untitled", "code", m.Code),
		Preview: t.Say("mail.confirm.preview"),
		Heading: t.Say("mail.confirm.heading"),
		Before:  []string{titled("mail.confirm.text", "mail.confirm.text.untitled")},
		Code:    m.Code,
		Button:  t.Say("mail.confirm.button"), URL: m.URL,
		After:  []string{Until(t, "mail.valid", m.ExpiresAt.Sub(now))},
		Reason: t.Say("mail.confirm.reason", "where", here),
	}
}

// Until says about how long something still lasts, by the texts whose keys begin with a prefix.
func Until(t *web.Texts, prefix string, d time.Duration) string {
	switch minutes := int(d.Round(time.Minute).Minutes()); {
	case minutes >= 50:
		return t.Say(prefix+".hours", "n", (minutes+30)/60)
	case minutes >= 10:
		return t.Say(prefix+".minutes", "n", minutes/5*5)
	default:
		return t.Say(prefix + ".few")
	}
}

func host(site string) string {
	if u, err := url.Parse(site); err == nil && u.Host != "" {
		return u.Host
	}
	return strings.TrimPrefix(strings.TrimPrefix(site, "https://"), "http://")
}

package mail

import (
	"fmt"
	"net/url"
	"strings"
	"time"

	"lodestone/crud/catalogue"
)

// Lengths of what visitors typed, in characters, in mails to owners.
const (
	maxName    = 100
	maxTitle   = 120
	maxAddress = 254
	maxReason  = 200
)

// write turns a message into words. site is the public address of the installation.
func write(m Message, t *catalogue.Texts, b Brand, site string, now time.Time) (letter, error) {
	here := host(site)
	if b.Name != "" {
		here = b.Name + " (" + here + ")"
	}
	switch m.Kind {
	case KindDocument, KindConfirm:
		return writeToVisitor(m, t, here, now), nil
	case KindSignIn:
		return letter{
			Subject: m.Code + " is your sign-in code",
			Preview: "Sign in to your dashboard at " + here + ".",
			Heading: "Sign in",
			Before:  []string{"Enter this code on the page that waits for it:"},
			Code:    m.Code,
			Button:  "Sign in", URL: m.URL,
			After: []string{"Or open the address above in the same browser. Both work once, " + span(m.ExpiresAt.Sub(now)) + "."},
			Reason: "You get this mail because someone entered this address to sign in at " + here + ". If that was not you, ignore it, and give the code to no one: " +
				"without it nothing happens.",
		}, nil
	case KindInvitation:
		return writeInvitation(m, here), nil
	case KindNotices, KindLead, KindDigest, KindReading, KindReadings, KindWebhook:
		return writeToOwner(m, t, here), nil
	default:
		return letter{}, fmt.Errorf("there is no mail of the kind %q", m.Kind)
	}
}

func writeInvitation(m Message, here string) letter {
	name := Clean(m.Account, maxTitle)
	return letter{
		Subject: "You are invited to " + name,
		Preview: "Join the dashboard of " + name + " at " + here + ".",
		Heading: "You are invited to " + name,
		Before: []string{
			"You can join the dashboard of " + name + " at " + here + ", as " + Clean(m.Role, maxName) + ".",
			"The invitation is for this address alone, and works until " + m.ExpiresAt.UTC().Format("2 January 2006, 15:04 UTC") + ".",
		},
		Button: "Join", URL: m.URL,
		Reason: "You get this mail because an owner of this account entered your address. If you do not know them, ignore it: nothing happens unless you join.",
	}
}

// writeToVisitor turns a message to a visitor into words of the form's language.
func writeToVisitor(m Message, t *catalogue.Texts, here string, now time.Time) letter {
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
func Until(t *catalogue.Texts, prefix string, d time.Duration) string {
	switch minutes := int(d.Round(time.Minute).Minutes()); {
	case minutes >= 50:
		return t.Say(prefix+".hours", "n", (minutes+30)/60)
	case minutes >= 10:
		return t.Say(prefix+".minutes", "n", minutes/5*5)
	default:
		return t.Say(prefix + ".few")
	}
}

// span is how long something still lasts, in words of mails to owners.
func span(d time.Duration) string {
	switch minutes := int(d.Round(time.Minute).Minutes()); {
	case minutes >= 90:
		return fmt.Sprintf("for about %d hours", (minutes+30)/60)
	case minutes >= 50:
		return "for about an hour"
	case minutes >= 10:
		return fmt.Sprintf("for about %d minutes", minutes/5*5)
	default:
		return "for a few minutes"
	}
}

func host(site string) string {
	if u, err := url.Parse(site); err == nil && u.Host != "" {
		return u.Host
	}
	return strings.TrimPrefix(strings.TrimPrefix(site, "https://"), "http://")
}

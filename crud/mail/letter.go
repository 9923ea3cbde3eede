package mail

import (
	"fmt"
	"net/url"
	"strings"
	"time"

	"lodestone/crud/catalogue"
	"lodestone/pkg/timezone"
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
	case KindNotices:
		return letter{
			Subject: "Confirm this address for notices",
			Preview: "Confirm that notices about new leads may come to this address.",
			Heading: "Confirm this address",
			Before: []string{
				"This address was entered at " + here + " as the one that notices of an account go to: about new leads, and about webhooks that fail.",
				"Nothing is sent here until you agree.",
			},
			Button: "Confirm this address", URL: m.URL,
			Reason: "You get this mail because this address was entered at " + here + ". If that was not you, ignore it: no notices follow.",
		}, nil
	case KindLead:
		return ownerLetter(m, writeLead(m), "notices about new leads are switched on in your account"), nil
	case KindDigest:
		return ownerLetter(m, writeDigest(m), "notices about new leads are switched on in your account"), nil
	case KindWebhook:
		return ownerLetter(m, writeWebhook(m), "it is where notices of your account go"), nil
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

func writeLead(m Message) letter {
	lead := m.Leads.List[0]
	title, address := Clean(lead.Link, maxTitle), Clean(lead.Email, maxAddress)
	l := letter{
		Subject: "New lead: " + address,
		Preview: "From your page “" + title + "”.",
		Heading: "You have a new lead",
		Before:  []string{"Someone asked for your document. Reply to this mail to write to them."},
		Facts:   []Fact{{"Email", address}},
		ReplyTo: lead.Email,
	}
	if name := Clean(lead.Name, maxName); name != "" {
		l.Facts = append(l.Facts, Fact{"Name", name})
	}
	confirmed := "No"
	if lead.Verified {
		confirmed = "Yes"
	}
	l.Facts = append(l.Facts, Fact{"Page", title}, Fact{"Address confirmed", confirmed}, Fact{"Submitted", lead.SubmittedAt.In(zone(m.Timezone)).Format("2 January 2006, 15:04 MST")})
	if source := Clean(lead.Source, maxTitle); source != "" {
		l.Facts = append(l.Facts, Fact{"Source", source})
	}
	if campaign := Clean(lead.Campaign, maxTitle); campaign != "" {
		l.Facts = append(l.Facts, Fact{"Campaign", campaign})
	}
	if m.URL != "" {
		l.Button, l.URL = "See this lead", m.URL
	}
	if m.Leads.Last {
		l.After = []string{"You had many of these mails within an hour, so the next leads come without one. They are all in the list of submissions. One mail a day may suit you better."}
	}
	return l
}

func writeDigest(m Message) letter {
	d := m.Leads
	total := max(d.Total, len(d.List))
	l := letter{
		Subject: count(total, "new lead") + " on " + d.Day,
		Preview: "The leads of your pages, day by day.",
		Heading: count(total, "new lead"),
		Before:  []string{"This is who asked for your documents on " + d.Day + " (UTC)."},
	}
	for _, lead := range d.List {
		value := Clean(lead.Email, maxAddress)
		if name := Clean(lead.Name, maxName); name != "" {
			value = name + ", " + value
		}
		l.Facts = append(l.Facts, Fact{lead.SubmittedAt.UTC().Format("15:04"), value + " — " + Clean(lead.Link, maxTitle)})
	}
	if more := total - len(d.List); more > 0 {
		l.After = append(l.After, "And "+count(more, "more")+": the list of submissions has them all.")
	}
	return l
}

func writeWebhook(m Message) letter {
	w := m.Webhook
	name := Clean(w.Host, maxAddress)
	l := letter{
		Subject: "A webhook was disabled: " + name,
		Preview: "No more messages are sent to it.",
		Heading: "A webhook was disabled",
		Before:  []string{"No more messages are sent to your webhook at " + name + ". What waited for it is given up, and stays in the log of deliveries for a while."},
		Facts:   []Fact{{"Why", Clean(w.Reason, maxReason)}, {"Since", w.DisabledAt.UTC().Format("2 January 2006, 15:04 UTC")}},
		After:   []string{"Once it answers again, switch it on by the API: set is_active to true. Messages of the log can be replayed then."},
	}
	if description := Clean(w.Description, maxTitle); description != "" {
		l.Facts = append(l.Facts, Fact{"Description", description})
	}
	l.Facts = append(l.Facts, Fact{"ID", w.ID.String()})
	return l
}

// ownerLetter adds what all notices say.
func ownerLetter(m Message, l letter, because string) letter {
	l.Reason = "You get this mail because " + because + "."
	l.UnsubscribeWords, l.Unsubscribe, l.OneClick = "Switch them off", m.Unsubscribe, m.Unsubscribe
	return l
}

func count(n int, what string) string {
	if n == 1 || what == "more" {
		return fmt.Sprintf("%d %s", n, what)
	}
	return fmt.Sprintf("%d %ss", n, what)
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

// zone returns a time zone by its name, UTC for one that is not known here.
func zone(name string) *time.Location {
	if z, err := timezone.Load(name); err == nil {
		return z
	}
	return time.UTC
}

func host(site string) string {
	if u, err := url.Parse(site); err == nil && u.Host != "" {
		return u.Host
	}
	return strings.TrimPrefix(strings.TrimPrefix(site, "https://"), "http://")
}

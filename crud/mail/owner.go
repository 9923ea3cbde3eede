package mail

import (
	"strconv"
	"strings"
	"time"

	"lodestone/crud/web"
	"lodestone/pkg/timezone"
)

// writeToOwner turns a notice into words of the account's language.
func writeToOwner(m Message, t *web.Texts, here string) letter {
	switch m.Kind {
	case KindLead:
		return ownerLetter(m, t, writeLead(m, t), "mail.owner.leads")
	case KindDigest:
		return ownerLetter(m, t, writeDigest(m, t), "mail.owner.leads")
	case KindReading:
		return ownerLetter(m, t, writeReading(m, t), "mail.owner.readings")
	case KindReadings:
		return ownerLetter(m, t, writeReadings(m, t), "mail.owner.readings")
	case KindWeekly:
		return ownerLetter(m, t, writeWeekly(m, t), "mail.owner.weekly")
	case KindAlerts:
		return ownerLetter(m, t, writeAlerts(m, t), "mail.owner.alerts")
	case KindWebhook:
		return ownerLetter(m, t, writeWebhook(m, t), "mail.owner.account")
	default: // KindNotices
		return letter{
			Subject: t.Say("mail.notices.subject"),
			Preview: t.Say("mail.notices.preview"),
			Heading: t.Say("mail.notices.heading"),
			Before:  []string{t.Say("mail.notices.text", "where", here), t.Say("mail.notices.until")},
			Button:  t.Say("mail.notices.button"), URL: m.URL,
			Reason: t.Say("mail.notices.reason", "where", here),
		}
	}
}

// ownerLetter adds what all notices say.
func ownerLetter(m Message, t *web.Texts, l letter, because string) letter {
	l.Reason = t.Say(because)
	l.UnsubscribeWords, l.Unsubscribe, l.OneClick = t.Say("mail.owner.off"), m.Unsubscribe, m.Unsubscribe
	return l
}

func writeLead(m Message, t *web.Texts) letter {
	lead := m.Leads.List[0]
	title, address := Clean(lead.Link, maxTitle), Clean(lead.Email, maxAddress)
	l := letter{
		Subject: t.Say("mail.lead.subject", "email", address),
		Preview: t.Say("mail.lead.preview", "title", title),
		Heading: t.Say("mail.lead.heading"),
		Before:  []string{t.Say("mail.lead.text")},
		Facts:   []Fact{{t.Say("mail.fact.email"), address}},
		ReplyTo: lead.Email,
	}
	if name := Clean(lead.Name, maxName); name != "" {
		l.Facts = append(l.Facts, Fact{t.Say("mail.fact.name"), name})
	}
	for _, answer := range lead.Answers {
		l.Facts = append(l.Facts, Fact{Clean(answer.Name, maxTitle), Clean(answer.Value, maxAnswer)})
	}
	confirmed := t.Say("mail.no")
	if lead.Verified {
		confirmed = t.Say("mail.yes")
	}
	l.Facts = append(l.Facts, Fact{t.Say("mail.fact.page"), title}, Fact{t.Say("mail.fact.confirmed"), confirmed},
		Fact{t.Say("mail.fact.submitted"), t.Moment(lead.SubmittedAt.In(timezone.OrUTC(m.Timezone)))})
	if source := Clean(lead.Source, maxTitle); source != "" {
		l.Facts = append(l.Facts, Fact{t.Say("mail.fact.source"), source})
	}
	if campaign := Clean(lead.Campaign, maxTitle); campaign != "" {
		l.Facts = append(l.Facts, Fact{t.Say("mail.fact.campaign"), campaign})
	}
	if m.URL != "" {
		l.Button, l.URL = t.Say("mail.lead.button"), m.URL
	}
	if m.Leads.Last {
		l.After = []string{t.Say("mail.lead.last")}
	}
	return l
}

func writeDigest(m Message, t *web.Texts) letter {
	d := m.Leads
	total := max(d.Total, len(d.List))
	l := letter{
		Subject: t.Say("mail.digest.subject", "n", total, "day", d.Day),
		Preview: t.Say("mail.digest.preview"),
		Heading: t.Say("mail.digest.heading", "n", total),
		Before:  []string{t.Say("mail.digest.text", "day", d.Day)},
	}
	for _, lead := range d.List {
		value := Clean(lead.Email, maxAddress)
		if name := Clean(lead.Name, maxName); name != "" {
			value = name + ", " + value
		}
		l.Facts = append(l.Facts, Fact{lead.SubmittedAt.In(timezone.OrUTC(m.Timezone)).Format("15:04"),
			value + " — " + Clean(lead.Link, maxTitle)})
	}
	if more := total - len(d.List); more > 0 {
		l.After = append(l.After, t.Say("mail.digest.more", "n", more))
	}
	return l
}

// writeReading tells of one visit. The most important of what happened is the subject.
func writeReading(m Message, t *web.Texts) letter {
	r := m.Readings.List[0]
	title, address := Clean(r.Title, maxTitle), Clean(r.Email, maxAddress)
	news := make([]string, len(r.News))
	for i, kind := range r.News {
		news[i] = t.Say("mail.reading." + string(kind))
	}
	l := letter{
		Subject: t.Say("mail.reading."+string(r.News[0])+".subject", "email", address, "title", title),
		Preview: t.Say("mail.reading.preview"),
		Heading: news[0],
		Before:  []string{t.Say("mail.reading.text")},
		Facts: []Fact{
			{t.Say("mail.fact.reader"), address}, {t.Say("mail.fact.document"), title},
			{t.Say("mail.fact.news"), strings.Join(news, " · ")},
		},
		Button: t.Say("mail.reading.button"), URL: m.URL,
	}
	if r.Pages > 0 {
		l.Facts = append(l.Facts, Fact{t.Say("mail.fact.read"), pagesRead(t, r)},
			Fact{t.Say("mail.fact.time"), spent(r.Duration)})
	}
	l.Facts = append(l.Facts, Fact{t.Say("mail.fact.began"), t.Moment(r.StartedAt.In(timezone.OrUTC(m.Timezone)))})
	if m.Readings.Last {
		l.After = []string{t.Say("mail.reading.last")}
	}
	return l
}

// writeReadings has one line a reader and document.
func writeReadings(m Message, t *web.Texts) letter {
	d := m.Readings
	total := max(d.Total, len(d.List))
	l := letter{
		Subject: t.Say("mail.readings.subject", "n", total, "day", d.Day),
		Preview: t.Say("mail.readings.preview"),
		Heading: t.Say("mail.readings.heading", "n", total),
		Before:  []string{t.Say("mail.readings.text", "day", d.Day)},
		Button:  t.Say("mail.readings.button"), URL: m.URL,
	}
	for _, r := range d.List {
		parts := []string{Clean(r.Email, maxAddress), Clean(r.Title, maxTitle)}
		for _, kind := range r.News {
			parts = append(parts, t.Say("mail.reading."+string(kind)))
		}
		if r.Pages > 0 {
			parts = append(parts, pagesRead(t, r), spent(r.Duration))
		}
		l.Facts = append(l.Facts, Fact{r.StartedAt.In(timezone.OrUTC(m.Timezone)).Format("15:04"),
			strings.Join(parts, " · ")})
	}
	if more := total - len(d.List); more > 0 {
		l.After = append(l.After, t.Say("mail.readings.more", "n", more))
	}
	return l
}

func writeWeekly(m Message, t *web.Texts) letter {
	w := m.Weekly
	l := letter{
		Subject: t.Say("mail.weekly.subject", "n", w.Readers, "week", w.Week),
		Preview: t.Say("mail.weekly.preview"),
		Heading: t.Say("mail.weekly.heading", "n", w.Readers),
		Before:  append([]string{t.Say("mail.weekly.text", "week", w.Week)}, w.Changes...),
		Button:  t.Say("mail.weekly.button"), URL: m.URL,
		Report: &report{Weekly: *w, ByDay: t.Say("mail.weekly.days"), Documents: t.Say("mail.weekly.documents")},
	}
	if w.More > 0 {
		l.Report.MoreWords = t.Say("mail.weekly.more", "n", w.More)
	}
	return l
}

func pagesRead(t *web.Texts, r Reading) string {
	return t.Say("mail.reading.pages", "read", r.Pages, "n", max(r.PageCount, r.Pages))
}

// spent is a time in units that the languages share.
func spent(d time.Duration) string {
	switch s := int(d.Round(time.Second).Seconds()); {
	case s < 60:
		return strconv.Itoa(s) + " s"
	case s < 3600:
		return strconv.Itoa(s/60) + " min " + strconv.Itoa(s%60) + " s"
	default:
		return strconv.Itoa(s/3600) + " h " + strconv.Itoa(s/60%60) + " min"
	}
}

func writeWebhook(m Message, t *web.Texts) letter {
	w := m.Webhook
	name := Clean(w.Host, maxAddress)
	moment := func(at time.Time) string { return t.Moment(at.In(timezone.OrUTC(m.Timezone))) }
	reason := t.Say("mail.webhook.failing", "n", w.Failures, "since", moment(w.FailingSince))
	if w.Gone != 0 {
		reason = t.Say("mail.webhook.gone", "status", w.Gone)
	}
	l := letter{
		Subject: t.Say("mail.webhook.subject", "host", name),
		Preview: t.Say("mail.webhook.preview"),
		Heading: t.Say("mail.webhook.heading"),
		Before:  []string{t.Say("mail.webhook.text", "host", name)},
		Facts:   []Fact{{t.Say("mail.fact.why"), reason}, {t.Say("mail.fact.since"), moment(w.DisabledAt)}},
		After:   []string{t.Say("mail.webhook.after")},
	}
	if description := Clean(w.Description, maxTitle); description != "" {
		l.Facts = append(l.Facts, Fact{t.Say("mail.fact.description"), description})
	}
	l.Facts = append(l.Facts, Fact{"ID", w.ID.String()})
	return l
}

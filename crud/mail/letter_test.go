package mail

import (
	"cmp"
	"html"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lodestone/crud/web"
	"lodestone/pkg/locale"
)

const unsubscribe = "https://links.example.com/notices/T"

var submitted = time.Date(2026, 11, 2, 9, 5, 0, 0, time.UTC)

// messages is one of each kind.
func messages() map[string]Message {
	account := uuid.MustParse("0192f0c1-2f6b-7cc0-8a3c-1d2e3f405162")
	lead := Lead{Email: "jo@example.com", Name: "Jo Müller", Link: "The Complete Guide", Source: "news / mail",
		Campaign: "autumn", Verified: true, SubmittedAt: submitted}
	second := Lead{Email: "an.unusually.long.address.of.a.reader@department.of.a.large.organisation.example.org",
		Link: "The Complete Guide", SubmittedAt: submitted.Add(time.Hour)}
	reading := Reading{
		Email: "jo@example.com", Title: "The Complete Guide", News: []News{Finished, Opened}, Pages: 11, PageCount: 12,
		Duration: 8*time.Minute + 5*time.Second, StartedAt: submitted,
	}
	return map[string]Message{
		"document": {Kind: KindDocument, AccountID: account, To: "jo@example.com",
			URL: "https://links.example.com/a/4Zt0Qm3uLxW8yK5vB1nC7dE2fG6hJ9pR", Title: "Worth the email"},
		"confirm": {Kind: KindConfirm, AccountID: account, To: "jo@example.com",
			URL:  "https://links.example.com/verify/4Zt0Qm3uLxW8yK5vB1nC7dE2fG6hJ9pR",
			Code: "042917", ExpiresAt: submitted.Add(time.Hour)},
		"notices": {Kind: KindNotices, AccountID: account, To: "owner@example.com",
			URL: "https://links.example.com/notices/confirm/T"},
		"lead": {Kind: KindLead, AccountID: account, To: "owner@example.com", URL: "https://links.example.com/l/guide",
			Leads: &Leads{List: []Lead{lead}}, Unsubscribe: unsubscribe},
		"last lead": {Kind: KindLead, AccountID: account, To: "owner@example.com", URL: "https://links.example.com/l/guide",
			Leads: &Leads{List: []Lead{lead}, Last: true}, Unsubscribe: unsubscribe},
		"digest": {Kind: KindDigest, AccountID: account, To: "owner@example.com", Unsubscribe: unsubscribe,
			Leads: &Leads{Day: "Monday, 2 November 2026", Total: 12, List: []Lead{lead, second}}},
		"reading": {Kind: KindReading, AccountID: account, To: "owner@example.com",
			URL: "https://links.example.com/dashboard/readers/1", Unsubscribe: unsubscribe,
			Readings: &Readings{List: []Reading{reading}}},
		"last reading": {Kind: KindReading, AccountID: account, To: "owner@example.com",
			URL: "https://links.example.com/dashboard/readers/1", Unsubscribe: unsubscribe,
			Readings: &Readings{List: []Reading{reading}, Last: true}},
		"readings": {Kind: KindReadings, AccountID: account, To: "owner@example.com",
			URL: "https://links.example.com/dashboard/readers", Unsubscribe: unsubscribe,
			Readings: &Readings{Day: "Monday, 2 November 2026", Total: 12, List: []Reading{reading}}},
		"weekly": {Kind: KindWeekly, AccountID: account, To: "owner@example.com",
			URL: "https://links.example.com/dashboard?from=2026-10-26&to=2026-11-01", Unsubscribe: unsubscribe,
			Weekly: &Weekly{
				Week: "Monday, 26 October to Sunday, 1 November 2026", Readers: 1204,
				Tiles: []Number{{"Visitors", "5,310", "+12 %"}, {"Forms sent", "1,530", "−3 %"},
					{"Confirmed", "1,301", "unchanged"}, {"Readers", "1,204", "none before"}, {"Read to the end", "0", ""}},
				Days: []Bar{{"Monday, 26 October", "204", 20}, {"Tuesday, 27 October", "0", 0},
					{"Sunday, 1 November", "1,000", 100}},
				Changes: []string{"1,204 readers, 130 more than before.", "25 % read to the end, up from 20 %."},
				Magnets: []WeeklyMagnet{{"The Complete Guide", "https://links.example.com/dashboard/magnets/1",
					[]Bar{{"Visitors", "6,001", 100}, {"Readers", "1,204", 20}}}},
				More: 3,
			}},
		"alerts": {Kind: KindAlerts, AccountID: account, To: "owner@example.com",
			URL: "https://links.example.com/dashboard/settings/alerts", Unsubscribe: unsubscribe,
			Alerts: &Alerts{Total: 4, List: []Alert{
				{Name: new("The Complete Guide (/guide)"), Metric: "visitors", Direction: "silent", Low: new(int64(12)),
					High: new(int64(40)), Since: submitted, Pages: []string{"acme.example/pricing.html", "acme.example/"}},
				{Metric: "people", Direction: "above", Value: 1204, Low: new(int64(80)), High: new(int64(160)), Since: submitted},
				{Name: new("autumn"), Metric: "submissions", Direction: "below", Value: 3, Threshold: new(int64(10)),
					Since: submitted, Ended: true},
			}}},
		"sign-in": {Kind: KindSignIn, AccountID: account, To: "jo@example.com",
			URL:  "https://links.example.com/dashboard/sign-in/link/4Zt0Qm3uLxW8yK5vB1nC7dE2fG6hJ9pR",
			Code: "042917", ExpiresAt: submitted.Add(17 * time.Minute)},
		"recipient": {Kind: KindRecipient, AccountID: account, To: "jo@example.com", Title: "The Complete Guide",
			URL: "https://links.example.com/a/4Zt0Qm3uLxW8yK5vB1nC7dE2fG6hJ9pR", Unsubscribe: unsubscribe,
			Own: &Own{Subject: "Jo, our guide is out", Before: "Hello Jo,\n\nit is finished. Read it here:",
				After: "Best,\nKäthe", ReplyTo: "kaethe@example.com"}},
		"reminder": {Kind: KindReminder, AccountID: account, To: "jo@example.com", Title: "The Complete Guide",
			URL: "https://links.example.com/a/4Zt0Qm3uLxW8yK5vB1nC7dE2fG6hJ9pR", Unsubscribe: unsubscribe,
			Own: &Own{Subject: "Did you see it?", Before: "It is still there."}},
		"invitation": {Kind: KindInvitation, AccountID: account, To: "jo@example.com",
			URL:     "https://links.example.com/dashboard/invitations/4Zt0Qm3uLxW8yK5vB1nC7dE2fG6hJ9pR",
			Account: "Müller & Co", Role: "analyst", ExpiresAt: submitted.Add(7 * 24 * time.Hour)},
		"webhook": {Kind: KindWebhook, AccountID: account, To: "owner@example.com", Unsubscribe: unsubscribe,
			Webhook: &Webhook{ID: account, Host: "crm.example.com:8443", Description: "CRM of Jo Müller",
				Gone: 410, DisabledAt: submitted}},
	}
}

func writer(t require.TestingT) *worker {
	from, replyTo, err := Config{From: "Käse & Söhne <hello@käse.example>", ReplyTo: "help@example.com"}.senders()
	require.NoError(t, err)
	render, err := newRenderer()
	require.NoError(t, err)
	texts, err := web.VisitorTexts()
	require.NoError(t, err)
	return &worker{from: from, replyTo: replyTo, render: render, texts: texts, site: "https://links.example.com",
		mails: prometheus.NewCounterVec(prometheus.CounterOpts{}, []string{"a", "b"})}
}

// posted returns a message as it arrives.
func posted(t require.TestingT, w *worker, m Message) (raw string, o opened) {
	return postedBy(t, w, m, Brand{Accent: web.Token("accent")})
}

// postedBy is posted for an account with a look of its own.
func postedBy(t require.TestingT, w *worker, m Message, brand Brand) (raw string, o opened) {
	l, err := write(m, w.texts.In(m.Language), brand, w.site, submitted.Add(time.Minute))
	require.NoError(t, err)
	l.MessageID, l.Language = "id", cmp.Or(m.Language, locale.English)
	msg, err := w.compose(m.To, submitted, l, brand)
	require.NoError(t, err)
	var b strings.Builder
	_, err = msg.WriteTo(&b)
	require.NoError(t, err)
	return b.String(), open(t, []byte(b.String()))
}

var (
	tags = regexp.MustCompile(
		`(?s)<style>.*?</style>|<title>.*?</title>|<div style="display:none.*?</div>|<!--.*?-->|<[^>]+>`)
	spaces = regexp.MustCompile(`\s+`)
)

// words returns a text's words, those of an HTML without its tags.
func words(text string) []string {
	return strings.Fields(spaces.ReplaceAllString(html.UnescapeString(tags.ReplaceAllString(text, " ")), " "))
}

func TestMailsSayTheSameInTextAndHTML(t *testing.T) {
	t.Parallel()
	w := writer(t)
	for name, m := range messages() {
		_, o := posted(t, w, m)
		text, page := words(o.text), words(o.html)
		for _, word := range text {
			bare := strings.TrimSuffix(word, ":")
			require.True(t, word == "--" || slices.Contains(page, word) || slices.Contains(page, bare) ||
				strings.Contains(o.html, html.EscapeString(word)),
				"%s: the HTML lacks %q", name, word)
		}
		for _, word := range page {
			known := slices.Contains(text, word) || slices.Contains(text, word+":")
			require.True(t, known, "%s: the text lacks %q", name, word)
		}
		if m.URL != "" {
			require.Contains(t, o.text, "\n"+m.URL+"\n")
			require.Equal(t, 3, strings.Count(o.html, html.EscapeString(m.URL)), "button, bare link and its words")
		}
		for _, forbidden := range []string{"<img", "<script", "src=", "http://", "@import", "url("} {
			require.NotContains(t, o.html, forbidden, name)
		}
		require.Less(t, len(o.html), 12<<10, "%s is cut off by some programs when it is long", name)
		require.NotContains(t, o.text, "<no value>")
	}
}

func TestHeaders(t *testing.T) {
	t.Parallel()
	w := writer(t)
	for name, m := range messages() {
		raw, o := posted(t, w, m)
		require.Equal(t, "auto-generated", o.header.Get("Auto-Submitted"), name)
		require.Equal(t, "Käse & Söhne <hello@xn--kse-qla.example>", o.decoded(t, "From"))
		require.Equal(t, "<id@xn--kse-qla.example>", o.header.Get("Message-Id"))
		require.Equal(t, "Mon, 02 Nov 2026 09:05:00 +0000", o.header.Get("Date"))
		require.Empty(t, o.header.Get("User-Agent")+o.header.Get("X-Mailer"))
		switch m.Kind {
		case KindLead, KindDigest, KindReading, KindReadings, KindWeekly, KindWebhook, KindAlerts,
			KindRecipient, KindReminder:
			require.Equal(t, "<"+unsubscribe+">", o.header.Get("List-Unsubscribe"))
			require.Equal(t, "List-Unsubscribe=One-Click", o.header.Get("List-Unsubscribe-Post"))
			require.Contains(t, o.text, unsubscribe)
		default:
			require.Empty(t, o.header.Get("List-Unsubscribe"))
			require.NotEmpty(t, o.header.Get("Reply-To"))
		}
		for line := range strings.SplitSeq(raw, "\r\n") {
			require.NotContains(t, line, "\n", "a bare line break")
			require.LessOrEqual(t, len(line), 998)
		}
	}
	_, o := posted(t, w, messages()["lead"])
	require.Equal(t, "<jo@example.com>", o.header.Get("Reply-To"))
	require.Equal(t, "New lead: jo@example.com", o.decoded(t, "Subject"))
	require.Contains(t, o.text, "Name: Jo Müller")
	_, o = posted(t, w, messages()["webhook"])
	require.Equal(t, "A webhook was disabled: crm.example.com:8443", o.decoded(t, "Subject"))
	require.Contains(t, o.text, "Why: It answered with 410: it wants no more messages.")
	require.Contains(t, o.text, "Description: CRM of Jo Müller")
}

// Nothing that a visitor types gets into a mail to a visitor, so such messages have no place for
// it; and whatever is typed stays where it belongs in mails to owners.
func TestTypedTextsBeginNoHeaderAndNoTag(t *testing.T) {
	t.Parallel()
	w := writer(t)
	lead := messages()["lead"]
	_, plain := posted(t, w, lead)
	hostile := rapid.OneOf(
		rapid.SampledFrom([]string{
			"Jo\r\nBcc: all@example.com", "Jo\n\n<h1>x</h1>", "\r\n.\r\nMAIL FROM:<x>", "</td><script>alert(1)</script>",
			`" onload="x`, "=?utf-8?q?Bcc=3A?=",
			"{{.Unsubscribe}}", "\u202egpj.exe", "a\u2028b", "\x00\x1b[31m", strings.Repeat("long ", 400),
			"https://evil.example/", "\xff\xfe", "Ωμέγα 日本 👩‍👩‍👧",
			"\r\n\r\n--boundary", "%0d%0aBcc:x", "Jo\vBcc: x", "\u0085Bcc: x",
		}),
		rapid.String(),
	)
	rapid.Check(t, func(t *rapid.T) {
		m := lead
		m.Leads = &Leads{List: []Lead{{Email: hostile.Draw(t, "email"), Name: hostile.Draw(t, "name"),
			Link: hostile.Draw(t, "link"), SubmittedAt: submitted}}}
		raw, o := posted(t, w, m)
		names := slices.DeleteFunc(slices.Clone(plain.names), func(n string) bool {
			return n == "Reply-To" &&
				o.header.Get("Reply-To") == ""
		})
		require.ElementsMatch(t, names, o.names)
		require.Equal(t, "<owner@example.com>", o.header.Get("To"))
		require.NotContains(t, raw, "\r\n.\r\n")
		require.NotContains(t, o.html, "<script")
		require.NotContains(t, o.html, "<h1>x")
		require.NotContains(t, o.html, "\u202e")
		require.LessOrEqual(t, len([]rune(o.decoded(t, "Subject"))), len("New lead: ")+maxAddress)
		for _, fact := range []string{"Email: ", "Page: ", "Submitted: ", "Email confirmed: No"} {
			require.Equal(t, 1, strings.Count(o.text, "\n"+fact), o.text)
		}
	})
}

func TestClean(t *testing.T) {
	t.Parallel()
	require.Equal(t, "Jo Bcc: x", Clean(" Jo\r\nBcc: x\t", 50))
	require.Equal(t, "gpj.exe", Clean("\u202egpj.exe", 50))
	require.Equal(t, "abcd…", Clean("abcdefgh", 5))
	require.Equal(t, "می\u200cخواهم", Clean("می\u200cخواهم", 50))
	require.Equal(t, "a\ufffdb", Clean("a\xffb", 50))
}

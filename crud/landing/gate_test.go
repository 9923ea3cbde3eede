package landing_test

import (
	"fmt"
	"net/http"
	"regexp"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/password"
)

// Of people who send a form at once, as many come in as there are places. The answer is the same to
// all others, and the page says what to do.
func TestALinkTakesSoManyPeople(t *testing.T) {
	t.Parallel()
	f := start(t)
	slug := f.link(t, "max_people = 5")
	require.Equal(t, http.StatusSeeOther, f.post(t, "/l/"+slug, "email", "ann@example.com").status)
	var wg sync.WaitGroup
	answers := make(chan int, 20)
	for n := range 20 {
		wg.Go(func() {
			r, err := f.send(t.Context(), "POST", "/l/"+slug, values("email", fmt.Sprintf("jo%d@example.com", n%10)))
			if err == nil {
				answers <- r.status
			}
		})
	}
	wg.Wait()
	close(answers)
	require.Len(t, answers, 20)
	require.Equal(t, 5, one[int](t, f, `SELECT count(*) FROM submissions`))
	require.Equal(t, 5, one[int](t, f, `SELECT submission_count FROM generic_links WHERE slug = $1`, slug))
	require.Equal(t, 5, one[int](t, f, `SELECT count(DISTINCT email_key) FROM access_links`))

	page := f.get(t, "/l/"+slug)
	require.Equal(t, http.StatusGone, page.status)
	require.Contains(t, page.body, "All places are taken")
	require.Contains(t, page.body, "your personal link is in your email")
	require.NotContains(t, page.body, "<form")
	require.Contains(t, f.get(t, "/l/"+slug, "Accept-Language", "de").body, "Alle Plätze sind vergeben")

	// Who has a place gets the mail again, and no one sees whether someone has.
	before := len(f.mails(t))
	stranger := f.post(t, "/l/"+slug, "email", "stranger@example.com")
	require.Len(t, f.mails(t), before)
	known := f.post(t, "/l/"+slug, "email", "ann@example.com")
	require.Equal(t, http.StatusGone, known.status)
	nonce := regexp.MustCompile(`nonce="[^"]*"`)
	require.Equal(t, nonce.ReplaceAllString(stranger.body, ""), nonce.ReplaceAllString(known.body, ""))
	require.Len(t, f.mails(t), before+1)
	require.Equal(t, "ann@example.com", f.last(t).To)

	// A place that becomes free is one.
	f.exec(t, `UPDATE generic_links SET max_people = 6`)
	require.Equal(t, http.StatusSeeOther, f.post(t, "/l/"+slug, "email", "stranger@example.com").status)
	require.Equal(t, http.StatusGone, f.post(t, "/l/"+slug, "email", "other@example.com").status)
}

// The form says whom it is for, and nothing is stored or mailed of who is refused.
func TestAFormTakesSomeAddresses(t *testing.T) {
	t.Parallel()
	f := start(t)
	slug := f.link(t, "allowed_emails = '{example.com}'", "blocked_emails = '{eve@example.com}'")
	for email, says := range map[string]string{
		"jo@other.example": "This document is for people at example.com.",
		"eve@example.com":  "This document isn’t open to this address.",
	} {
		r := f.post(t, "/l/"+slug, "email", email)
		require.Equal(t, http.StatusUnprocessableEntity, r.status)
		require.Contains(t, r.body, says)
		require.Contains(t, r.body, `value="`+email+`"`, "what was typed is kept")
	}
	require.Zero(t, one[int](t, f, `SELECT count(*) FROM submissions`))
	require.Empty(t, f.mails(t))
	require.Equal(t, http.StatusSeeOther, f.post(t, "/l/"+slug, "email", "Jo@Mail.Example.com").status)
	f.exec(t, `UPDATE generic_links SET blocked_emails = '{example.com}' WHERE slug = $1`, slug)
	require.Equal(t, http.StatusUnprocessableEntity, f.post(t, "/l/"+slug, "email", "jo@mail.example.com").status, "again")
}

// The gate holds when a verification that waited is confirmed, by the mail's link or its code, and
// no mail goes out again. What the owner changes back counts.
func TestTheGateHoldsForWhoWaits(t *testing.T) {
	t.Parallel()
	for set, says := range map[string]string{
		"blocked_emails = '{jo@example.com}'":                     "This document isn’t open to this address.",
		"blocked_emails = '{example.com}'":                        "This document isn’t open to this address.",
		"allowed_emails = '{ann@example.com}'":                    "This document isn’t open to this address.",
		"allowed_emails = '{other.example}'":                      "This document is for people at other.example.",
		"max_people = 1, submission_count = submission_count + 1": "All places are taken",
	} {
		f := start(t)
		slug := f.link(t, "require_verification = true", "allowed_emails = '{example.com}'")
		page, m := f.asked(t, slug, "jo@example.com")
		f.exec(t, `UPDATE generic_links SET `+set)
		f.pass(time.Minute)
		for _, r := range []reply{f.post(t, m.path(t)), f.post(t, page, "code", m.Code), f.post(t, page+"/again")} {
			status := http.StatusUnprocessableEntity
			if says == "All places are taken" {
				status = http.StatusGone
			} else {
				require.Contains(t, r.body, `action="/l/`+slug+`"`, "another address can be entered")
				require.Contains(t, r.body, `value="jo@example.com"`)
			}
			require.Equal(t, status, r.status, set)
			require.Contains(t, r.body, says)
			require.NotContains(t, r.body, "/a/")
		}
		require.False(t, f.verified(t, "jo@example.com"))
		require.Zero(t, one[int](t, f, `SELECT count(*) FROM access_links`))
		require.Len(t, f.mails(t), 1)
		f.exec(t, `UPDATE generic_links SET allowed_emails = '{}', blocked_emails = '{}', max_people = NULL`)
		require.Regexp(t, `^/a/`, f.post(t, m.path(t)).location(t))
	}
	// Who waits has a place, also in the last one.
	f := start(t)
	slug := f.link(t, "require_verification = true", "max_people = 1")
	_, m := f.asked(t, slug, "jo@example.com")
	require.Equal(t, http.StatusGone, f.post(t, "/l/"+slug, "email", "al@example.com").status)
	require.Regexp(t, `^/a/`, f.post(t, m.path(t)).location(t))
	f.exec(t, `UPDATE generic_links SET submission_count = 2`)
	require.Regexp(t, `^/a/`, f.post(t, m.path(t)).location(t), "who is in stays in")
}

// Wrong passcodes end at a limit, also when they come at once, and right ones do not use it up.
func TestPasscodesCannotBeGuessed(t *testing.T) {
	t.Parallel()
	f := start(t)
	hash, err := password.New().Hash(t.Context(), "sesame 7")
	require.NoError(t, err)
	slug, other := f.link(t, "passcode_hash = '"+hash+"'"), f.link(t, "passcode_hash = '"+hash+"'")
	require.Contains(t, f.get(t, "/l/"+slug).body, `name="passcode"`)
	require.Contains(t, f.post(t, "/l/"+slug, "email", "jo@example.com").body, "Enter the passcode.")
	var wg sync.WaitGroup
	office := make(chan int, 40)
	for n := range cap(office) { // an office that knows it
		wg.Go(func() {
			r, err := f.send(t.Context(), "POST", "/l/"+slug,
				values("email", fmt.Sprintf("jo%d@example.com", n), "passcode", " sesame 7 "))
			if err == nil {
				office <- r.status
			}
		})
	}
	wg.Wait()
	close(office)
	require.Len(t, office, cap(office))
	for status := range office {
		require.Equal(t, http.StatusSeeOther, status)
	}
	sent := len(f.mails(t))
	answers := make(chan reply, 15)
	for n := range 15 {
		wg.Go(func() {
			r, err := f.send(t.Context(), "POST", "/l/"+slug, values("email", "eve@example.com", "passcode", fmt.Sprint(n)))
			if err == nil {
				answers <- r
			}
		})
	}
	wg.Wait()
	close(answers)
	statuses := map[int]int{}
	for r := range answers {
		statuses[r.status]++
		if r.status == http.StatusUnprocessableEntity {
			require.Contains(t, r.body, "That isn’t the passcode.")
		} else {
			require.NotEmpty(t, r.header.Get("Retry-After"))
		}
	}
	require.Equal(t, map[int]int{http.StatusUnprocessableEntity: 10, http.StatusTooManyRequests: 5}, statuses)
	right := []string{"email", "eve@example.com", "passcode", "sesame 7"}
	require.Equal(t, http.StatusTooManyRequests, f.post(t, "/l/"+slug, right...).status, "not even the right one")
	require.Len(t, f.mails(t), sent)
	require.Equal(t, http.StatusSeeOther, f.post(t, "/l/"+other, right...).status, "another link")
	require.Equal(t, http.StatusSeeOther, f.do(t, "POST", "/l/"+slug, values(right...),
		"X-Forwarded-For", "203.0.113.9").status, "another network")
}

var seenTerms = regexp.MustCompile(`name="agreement_seen" value="([0-9a-f]+)"`)

// An agreement is shown, must be accepted as it is now, and is kept with the time, each text once.
func TestAnAgreementIsAccepted(t *testing.T) {
	t.Parallel()
	f := start(t)
	slug := f.link(t, "agreement_title = 'NDA'", "agreement_text = E'Keep it <b>secret</b>.\n\nAlways.'")
	page := f.get(t, "/l/"+slug).body
	require.Contains(t, page, "<p>Keep it &lt;b&gt;secret&lt;/b&gt;.</p><p>Always.</p>")
	require.Contains(t, page, "I accept “NDA”.")
	version := seenTerms.FindStringSubmatch(page)[1]
	require.Contains(t, f.post(t, "/l/"+slug, "email", "jo@example.com", "agreement_seen", version).body,
		"Tick the box to continue.")
	accept := func(version string) reply {
		return f.post(t, "/l/"+slug, "email", "jo@example.com", "agreement", "yes", "agreement_seen", version)
	}
	at := f.now()
	require.Equal(t, http.StatusSeeOther, accept(version).status)
	f.pass(time.Hour)
	require.Equal(t, http.StatusSeeOther, accept(version).status, "the first time counts")
	f.exec(t, `UPDATE generic_links SET agreement_text = 'Tell no one.' WHERE slug = $1`, slug)
	require.Contains(t, accept(version).body, "This text has changed since you opened the page.")
	require.Equal(t, http.StatusSeeOther, accept(seenTerms.FindStringSubmatch(f.get(t, "/l/"+slug).body)[1]).status)
	rows, err := f.db.Unscoped().Query(t.Context(),
		`SELECT a.title || ': ' || a.text, c.accepted_at FROM acceptances c JOIN agreements a ON a.id = c.agreement_id ORDER BY 2`)
	require.NoError(t, err)
	var texts []string
	var times []time.Time
	for rows.Next() {
		var text string
		var accepted time.Time
		require.NoError(t, rows.Scan(&text, &accepted))
		texts, times = append(texts, text), append(times, accepted.UTC())
	}
	require.NoError(t, rows.Err())
	require.Equal(t, []string{"NDA: Keep it <b>secret</b>.\n\nAlways.", "NDA: Tell no one."}, texts)
	require.Equal(t, []time.Time{at, at.Add(time.Hour)}, times)
}

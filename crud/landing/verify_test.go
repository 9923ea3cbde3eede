package landing_test

import (
	"context"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lodestone/crud/capture"
)

// asked submits an address to a link that asks to verify it, and returns the waiting page and the
// mail.
func (f *fixture) asked(t *testing.T, slug, email string) (page string, m sent) {
	t.Helper()
	page = f.post(t, "/l/"+slug, "email", email).location(t)
	require.Regexp(t, `^/verify/sent/[a-z2-7]{26}$`, page)
	m = f.last(t)
	require.Equal(t, "confirm", m.Kind)
	require.Regexp(t, `^`+site+`/verify/[a-z2-7]{32}$`, m.URL)
	require.Regexp(t, `^\d{6}$`, m.Code)
	return page, m
}

func (f *fixture) verified(t *testing.T, email string) bool {
	t.Helper()
	return one[bool](t, f, `SELECT verified FROM submissions WHERE email_key = $1`, email)
}

func TestVerificationByLink(t *testing.T) {
	t.Parallel()
	f := start(t)
	slug := f.link(t, "require_verification = true")
	page, m := f.asked(t, slug, "jo@example.com")
	require.Zero(t, one[int](t, f, `SELECT count(*) FROM access_links`))
	r := f.get(t, page)
	require.Equal(t, http.StatusOK, r.status)
	for _, want := range []string{"Check your email", "jo@example.com", `autocomplete="one-time-code"`, "Send again",
		"Use another email address", `href="/l/` + slug + `"`, "noindex"} {
		require.Contains(t, r.body, want)
	}
	require.NotContains(t, r.body, m.Code)
	require.NotContains(t, r.body, "/a/")

	// Programs that look at mails follow links: nothing comes of it.
	for range 3 {
		r = f.get(t, m.path(t))
		require.Equal(t, http.StatusOK, r.status)
		require.Contains(t, r.body, "Confirm your email address")
		require.Equal(t, 1, strings.Count(r.body, "<button"))
		require.Equal(t, "no-store", r.header.Get("Cache-Control"))
		require.Empty(t, f.do(t, "HEAD", m.path(t), nil).body)
	}
	require.False(t, f.verified(t, "jo@example.com"))

	to := f.post(t, m.path(t)).location(t)
	require.Regexp(t, `^/a/[a-z2-7]{26}$`, to)
	require.True(t, f.verified(t, "jo@example.com"))
	require.Equal(t, f.now(), one[time.Time](t, f, `SELECT verified_at FROM submissions`).UTC())
	require.Equal(t, sent{Kind: "document", To: "jo@example.com", URL: site + to, Language: "en"}, f.last(t))
	require.Equal(t, 1, one[int](t, f, `SELECT submission_count FROM generic_links WHERE slug = $1`, slug))

	// It is one success: a second press within a minute, and the code, lead to the same; a later one
	// is refused.
	require.Equal(t, to, f.post(t, m.path(t)).location(t))
	require.Equal(t, to, f.post(t, page, "code", m.Code).location(t))
	require.Contains(t, f.get(t, m.path(t)).body, "This link has already been used", "a look is no press")
	require.Len(t, f.mails(t), 2)
	f.pass(time.Minute)
	for _, r := range []reply{f.post(t, m.path(t)), f.get(t, m.path(t))} {
		require.Equal(t, http.StatusGone, r.status)
		require.Contains(t, r.body, "This link has already been used")
		require.NotContains(t, r.body, "/a/")
	}
	// The page that waited knows, and opens nothing: it may be someone else's who typed the address.
	r = f.get(t, page)
	require.Contains(t, r.body, "Your email address is confirmed")
	require.NotContains(t, r.body, "/a/")
	require.Contains(t, f.post(t, page, "code", m.Code).body, "Your email address is confirmed")
}

func TestVerificationByCode(t *testing.T) {
	t.Parallel()
	f := start(t)
	slug := f.link(t, "require_verification = true")
	for _, write := range []func(string) string{
		func(c string) string { return c },
		func(c string) string { return " " + c[:3] + " " + c[3:] + " " },
		func(c string) string { return c[:3] + "-" + c[3:] },
		func(c string) string { return c + "\u200b." },
		func(c string) string { return strings.Map(func(r rune) rune { return r - '0' + '０' }, c) },
	} {
		page, m := f.asked(t, slug, "jo@example.com")
		require.Regexp(t, `^/a/`, f.post(t, page, "code", write(m.Code)).location(t))
		// The mail's link is part of the same verification.
		require.Equal(t, http.StatusGone, f.get(t, m.path(t)).status)
	}
	require.Equal(t, 1, one[int](t, f, `SELECT count(*) FROM access_links`))
	// One mail with the document: the others are in the mailbox already.
	documents := 0
	for _, m := range f.mails(t) {
		if m.Kind == "document" {
			documents++
		}
	}
	require.Equal(t, 1, documents)
}

func TestCodesCannotBeGuessed(t *testing.T) {
	t.Parallel()
	f := start(t)
	slug := f.link(t, "require_verification = true")
	page, m := f.asked(t, slug, "jo@example.com")
	wrong := func(i int) string {
		n, err := strconv.Atoi(m.Code)
		require.NoError(t, err)
		return strconv.Itoa(1_000_000 + (n+i)%1_000_000)[1:]
	}
	// What cannot be a code costs nothing.
	for _, typed := range []string{"", "12345", "1234567", "abcdef", "12345x"} {
		r := f.post(t, page, "code", typed)
		require.Equal(t, http.StatusUnprocessableEntity, r.status)
		require.Contains(t, r.body, "Enter the six-digit code from the email.")
		require.Contains(t, r.body, `aria-invalid="true" autofocus`)
	}
	for i := 1; i <= 4; i++ {
		r := f.post(t, page, "code", wrong(i))
		require.Equal(t, http.StatusUnprocessableEntity, r.status)
		require.Contains(t, r.body, "That isn’t the code from the email.")
		require.Contains(t, r.body, `value="`+wrong(i)+`"`)
	}
	// The code of one page is of no use on another.
	other, _ := f.asked(t, slug, "jo@example.com")
	require.Contains(t, f.post(t, other, "code", m.Code).body, "That isn’t the code")

	r := f.post(t, page, "code", wrong(5))
	require.Contains(t, r.body, "five wrong codes")
	require.NotContains(t, r.body, `name="code"`)
	require.Contains(t, f.post(t, page, "code", m.Code).body, "five wrong codes", "also the right one comes too late")
	require.False(t, f.verified(t, "jo@example.com"))
	// The link in the mail is not for guessing, so it still works.
	require.Regexp(t, `^/a/`, f.post(t, m.path(t)).location(t))
}

// Many tries at once count one by one.
func TestCodesCannotBeGuessedAtOnce(t *testing.T) {
	t.Parallel()
	f := start(t)
	page, m := f.asked(t, f.link(t, "require_verification = true"), "jo@example.com")
	var running sync.WaitGroup
	for i := range 40 {
		code := strconv.Itoa(1_000_000 + i)[1:]
		if code == m.Code {
			continue
		}
		running.Go(func() {
			if _, err := f.send(context.Background(), "POST", page, values("code", code)); err != nil {
				t.Error(err)
			}
		})
	}
	running.Wait()
	require.Equal(t, 5, one[int](t, f, `SELECT attempts FROM verifications`))
}

func TestConfirmedManyTimesAtOnce(t *testing.T) {
	t.Parallel()
	f := start(t)
	page, m := f.asked(t, f.link(t, "require_verification = true"), "jo@example.com")
	var running sync.WaitGroup
	var mu sync.Mutex
	opened := 0
	path := m.path(t)
	for i := range 16 {
		running.Go(func() {
			target, form := path, values()
			if i%2 == 0 {
				target, form = page, values("code", m.Code)
			}
			r, err := f.send(context.Background(), "POST", target, form)
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			if r.status == http.StatusSeeOther {
				opened++
			}
		})
	}
	running.Wait()
	require.GreaterOrEqual(t, opened, 8+1, "each press of the button, and codes up to their limit")
	require.Equal(t, 1, one[int](t, f, `SELECT count(*) FROM access_links`))
	require.Len(t, f.mails(t), 2)
}

func TestVerificationEnds(t *testing.T) {
	t.Parallel()
	f := start(t)
	slug := f.link(t, "require_verification = true")
	page, m := f.asked(t, slug, "jo@example.com")
	f.pass(24 * time.Hour)
	for _, r := range []reply{f.get(t, m.path(t)), f.post(t, m.path(t)), f.get(t, page), f.post(t, page, "code", m.Code)} {
		require.Contains(t, r.body, "The confirmation has timed out")
		require.Contains(t, r.body, `href="/l/`+slug+`"`)
		require.NotContains(t, r.body, "/a/")
	}
	require.False(t, f.verified(t, "jo@example.com"))
	f.post(t, page+"/again").location(t)
	require.Len(t, f.mails(t), 1)
}

func TestMailIsSentAgain(t *testing.T) {
	t.Parallel()
	f := start(t)
	page, first := f.asked(t, f.link(t, "require_verification = true"), "jo@example.com")
	r := f.post(t, page+"/again")
	require.Equal(t, http.StatusTooManyRequests, r.status)
	require.Equal(t, "30", r.header.Get("Retry-After"))
	for range 3 {
		f.pass(30 * time.Second)
		require.Equal(t, page+"?again", f.post(t, page+"/again").location(t))
		require.Equal(t, first, f.last(t), "both mails lead to the same")
	}
	require.Contains(t, f.get(t, page+"?again").body, "We sent the email again.")
	require.Len(t, f.mails(t), 4)
	// Four are enough.
	f.pass(time.Hour)
	require.NotContains(t, f.get(t, page).body, "Send again")
	require.Equal(t, page, f.post(t, page+"/again").location(t))
	require.Len(t, f.mails(t), 4)
	require.Regexp(t, `^/a/`, f.post(t, page, "code", first.Code).location(t))
}

func TestMailsSentAgainCountForTheMailbox(t *testing.T) {
	t.Parallel()
	f := start(t, func(c *capture.Config) { c.Mails = 2 })
	page, _ := f.asked(t, f.link(t, "require_verification = true"), "jo@example.com")
	f.pass(time.Minute)
	f.post(t, page+"/again").location(t)
	f.pass(time.Minute)
	require.Equal(t, http.StatusTooManyRequests, f.post(t, page+"/again").status)
	require.Len(t, f.mails(t), 2)
}

// The answer to a form does not tell whether the address is known, verified, or has read the
// document.
func TestAnswersDoNotTellWhoIsKnown(t *testing.T) {
	t.Parallel()
	f := start(t)
	slug := f.link(t, "require_verification = true")
	_, m := f.asked(t, slug, "Known@example.com")
	f.post(t, m.path(t)).location(t)
	f.exec(t, `INSERT INTO access_link_counts (id, account_id, views) SELECT id, account_id, 3 FROM access_links`)
	secret := regexp.MustCompile(`/verify/sent/[a-z2-7]{26}|nonce="\w+"`)
	show := func(email string) string {
		page, _ := f.asked(t, slug, email)
		return strings.ReplaceAll(secret.ReplaceAllString(f.get(t, page).body, ""), email, "X")
	}
	known, unknown := show("known@example.com"), show("unknown@example.com")
	require.Equal(t, unknown, known, "not even how the address was first written")
	// Who knows a verified address gets nothing but a mail to it.
	require.Equal(t, 1, one[int](t, f, `SELECT count(*) FROM access_links`))
	require.Equal(t, "confirm", f.last(t).Kind)
}

// Neither the database nor the log has anything that opens a document or confirms an address.
func TestSecretsAreNotKept(t *testing.T) {
	t.Parallel()
	f := start(t)
	page, m := f.asked(t, f.link(t, "require_verification = true"), "jo@example.com")
	f.get(t, m.path(t))
	f.post(t, page, "code", "000000")
	f.post(t, m.path(t), "x", strings.Repeat("y", 70_000))
	rows := one[string](t, f,
		`SELECT (SELECT string_agg(v::text, ' ') FROM verifications v) || (SELECT string_agg(s::text, ' ') FROM submissions s)`)
	secrets := []string{strings.TrimPrefix(page, "/verify/sent/"), strings.TrimPrefix(m.path(t), "/verify/"), m.Code}
	log := f.log.String()
	require.Contains(t, log, "/verify/{link}")
	for _, secret := range secrets {
		// Of six digits, longer numbers may hold the same.
		require.NotRegexp(t, `\b`+secret+`\b`, rows)
		require.NotRegexp(t, `\b`+secret+`\b`, log)
	}
	require.NotContains(t, log, "jo@example.com")
}

// A form follows the current setting of its link.
func TestVerificationIsSwitched(t *testing.T) {
	t.Parallel()
	f := start(t)
	slug := f.link(t)
	f.post(t, "/l/"+slug, "email", "jo@example.com").location(t)
	own := f.last(t).path(t)
	f.exec(t, `UPDATE generic_links SET require_verification = true`)
	_, m := f.asked(t, slug, "jo@example.com")
	require.Equal(t, own, f.post(t, m.path(t)).location(t), "the link is the one of the mail before")
	_, m = f.asked(t, slug, "al@example.com")
	f.exec(t, `UPDATE generic_links SET require_verification = false, redirect_url = 'https://acme.example/thanks'`)
	require.Equal(t, "https://acme.example/thanks", f.post(t, m.path(t)).location(t))
	require.Equal(t, "https://acme.example/thanks", f.post(t, "/l/"+slug, "email", "al@example.com").location(t))
	require.Equal(t, 3, one[int](t, f, `SELECT count(*) FROM access_links`),
		"no browser got one where the form leads elsewhere")
}

// A program that says that it is one confirms no address, by the button or by the code, and costs
// the person nothing.
func TestProgramsConfirmNothing(t *testing.T) {
	t.Parallel()
	f := start(t)
	page, m := f.asked(t, f.link(t, "require_verification = true"), "jo@example.com")
	for _, agent := range []string{"Mozilla/5.0 (X11; Linux x86_64) HeadlessEdg/140.0 Safari/537.36",
		"Mozilla/5.0 (Windows NT 10.0) Safari/7046A194A BingPreview/1.0b", "Quux link scanner"} {
		for path, form := range map[string]url.Values{m.path(t): {}, page: values("code", m.Code)} {
			r := f.do(t, "POST", path, form, "Sec-Fetch-Site", "same-origin", "User-Agent", agent)
			require.Equal(t, http.StatusForbidden, r.status, path)
			require.Contains(t, r.body, "Your browser identifies itself as a program", path)
			require.NotContains(t, r.body, "/a/", path)
		}
	}
	require.False(t, f.verified(t, "jo@example.com"))
	require.Regexp(t, `^/a/`, f.post(t, m.path(t)).location(t))
	require.True(t, f.verified(t, "jo@example.com"))
}

package landing_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/crud/capture"
)

func TestFormOpensTheDocument(t *testing.T) {
	t.Parallel()
	f := start(t)
	slug := f.link(t)
	to := f.post(t, "/l/"+slug, "email", " Jo@Example.com ", "utm_source", "news", "utm_campaign", "May", "utm_else", "x",
		"ref", "https://blog.example/post?secret=1#top").location(t)
	require.Regexp(t, `^/a/[a-z2-7]{26}$`, to)
	m := f.last(t)
	require.Equal(t, "document Jo@Example.com", m.Kind+" "+m.To)
	require.Regexp(t, `^/a/[a-z2-7]{26}$`, m.path(t))
	require.NotEqual(t, to, m.path(t), "the browser's link is not the mailbox's")
	row := one[string](t, f, `SELECT to_jsonb(s)::text FROM submissions s`)
	require.Contains(t, row, `"email": "Jo@Example.com"`)
	require.Contains(t, row, `"email_key": "jo@example.com"`)
	require.Contains(t, row, `"utm": {"utm_source": "news", "utm_campaign": "May"}`)
	require.Contains(t, row, `"referrer": "https://blog.example/post"`)
	require.Contains(t, row, `"verified": false`)
	require.Contains(t, row, `"name": null`)
	for path, source := range map[string]string{to: "form", m.path(t): "mail"} {
		require.Equal(t, source, one[string](t, f, `SELECT a.source FROM access_links a JOIN submissions s ON s.id = a.submission_id AND s.generic_link_id = a.generic_link_id
			WHERE a.token_hash = sha256($1::text::bytea) AND a.email_key = 'jo@example.com'`, strings.TrimPrefix(path, "/a/")))
	}

	// The same address again is the same submission, however it is written. The mailbox gets its link
	// again; the browser, which may be someone else's, gets another one.
	require.NotEqual(t, to, f.post(t, "/l/"+slug, "email", "jo@example.COM").location(t))
	require.Equal(t, m, f.last(t))
	require.Equal(t, 1, one[int](t, f, `SELECT submission_count FROM generic_links WHERE slug = $1`, slug))
	require.Len(t, f.mails(t), 2)
	require.Equal(t, "Jo@Example.com", f.last(t).To)
	require.NotEqual(t, to, f.post(t, "/l/"+slug, "email", "al@example.com").location(t))
	require.Equal(t, 2, one[int](t, f, `SELECT submission_count FROM generic_links WHERE slug = $1`, slug))

	// On another link it is another one.
	other := f.link(t)
	require.NotEqual(t, to, f.post(t, "/l/"+other, "email", "jo@example.com").location(t))
}

func TestFormIsChecked(t *testing.T) {
	t.Parallel()
	f := start(t, func(c *capture.Config) { c.RefuseDisposable = true })
	slug := f.link(t, "collect_name = true", "consent_text = 'I agree to get mails.'")
	seen := formField(t, f.get(t, "/l/"+slug).body, "consent_seen")
	for _, test := range []struct {
		name   string
		fields []string
		wrong  string // field
		words  string
	}{
		{"nothing", nil, "email", "Enter your email address."},
		{"no address", []string{"email", "jo"}, "email", "Enter an email address like jo@example.com."},
		{"two addresses", []string{"email", "a@example.com,b@example.com"}, "email", "Enter an email address"},
		{"a space in it", []string{"email", "jo@exam ple.com"}, "email", "Enter an email address"},
		{"a header in it", []string{"email", "jo@example.com\r\nBcc: al@example.com"}, "email", "Enter an email address"},
		{"too long", []string{"email", strings.Repeat("x", 250) + "@example.com"}, "email", "Enter an email address"},
		{"throwaway", []string{"email", "jo@x.mailinator.com", "name", "Jo", "consent", "yes", "consent_seen", seen}, "email",
			"disposable mailbox"},
		{"no name", []string{"email", "jo@example.com", "consent", "yes", "consent_seen", seen}, "name", "Enter your name."},
		{"blanks for a name", []string{"email", "jo@example.com", "name", " \t\u00a0", "consent", "yes", "consent_seen",
			seen}, "name", "Enter your name."},
		{"nothing to see for a name", []string{"email", "jo@example.com", "name", "\u3164\u2800\u200d", "consent", "yes",
			"consent_seen", seen}, "name", "Enter your name."},
		{"a book for a name", []string{"email", "jo@example.com", "name", strings.Repeat("x", 101), "consent", "yes",
			"consent_seen", seen}, "name", "up to 100"},
		{"no consent", []string{"email", "jo@example.com", "name", "Jo"}, "consent", "Tick the box"},
		{"another text", []string{"email", "jo@example.com", "name", "Jo", "consent", "yes", "consent_seen",
			"0123456789abcdef"}, "consent", "This text has changed"},
	} {
		r := f.post(t, "/l/"+slug, test.fields...)
		require.Equal(t, http.StatusUnprocessableEntity, r.status, test.name)
		require.Contains(t, r.body, test.words, test.name)
		require.Contains(t, r.body, "<title>Please check: ", test.name)
		require.Contains(t, r.body, `aria-describedby="`+test.wrong+`-wrong" aria-invalid="true" autofocus`, test.name)
		require.Equal(t, 1, strings.Count(r.body, "autofocus"), test.name)
	}
	// What was entered is still there.
	r := f.post(t, "/l/"+slug, "email", "jo@example", "name", "Jo & Al", "consent", "yes", "consent_seen", seen,
		"utm_source", "x<y", "ref", "https://blog.example/")
	for _, want := range []string{`value="jo@example"`, `value="Jo &amp; Al"`, ` checked`,
		`name="utm_source" value="x&lt;y"`, `name="ref" value="https://blog.example/"`} {
		require.Contains(t, r.body, want)
	}
	require.Zero(t, one[int](t, f, `SELECT count(*) FROM submissions`))
	require.Empty(t, f.mails(t))

	f.post(t, "/l/"+slug, "email", "zoë+1@exämple.com", "name", "  Zoë \t Ω  ", "consent", "yes",
		"consent_seen", seen).location(t)
	require.Equal(t, "Zoë Ω", one[string](t, f, `SELECT name FROM submissions`))
}

// What surrounds an address is no part of it: each of these is the same person.
func TestAddressesAsPeoplePasteThem(t *testing.T) {
	t.Parallel()
	f := start(t)
	slug := f.link(t)
	for _, typed := range []string{"jo@example.com\u200b", "\ufeff jo@exam\u00adple.com", "ｊｏ＠example．com",
		"<jo@example.com>", "Jo Doe <JO@example.com>", "mailto:jo@example.com", "jo@example.com.", "“jo@example.com”,"} {
		require.Regexp(t, `^/a/`, f.post(t, "/l/"+slug, "email", typed).location(t), "%q", typed)
		require.Equal(t, "jo@example.com", f.last(t).To, "%q", typed)
	}
	require.Equal(t, 1, one[int](t, f, `SELECT count(*) FROM submissions`))
}

// Where the SMTP server does not take an address, a form that cannot go on without a mail says so.
// Another one opens the document.
func TestAddressesThatNoMailReaches(t *testing.T) {
	t.Parallel()
	f := start(t)
	f.unsent = "jörg@example.com"
	for _, set := range []string{"require_verification = true", "redirect_url = 'https://acme.example/thanks'"} {
		r := f.post(t, "/l/"+f.link(t, set), "email", f.unsent)
		require.Equal(t, http.StatusUnprocessableEntity, r.status, set)
		require.Contains(t, r.body, "our mail server can’t send to this one", set)
		require.Contains(t, r.body, `aria-describedby="email-wrong" aria-invalid="true" autofocus`, set)
	}
	require.Zero(t, one[int](t, f, `SELECT count(*) FROM submissions`))
	require.Regexp(t, `^/a/`, f.post(t, "/l/"+f.link(t), "email", f.unsent).location(t))
	require.Empty(t, f.mails(t))
}

// formField returns the value of a hidden field.
func formField(t *testing.T, body, name string) string {
	t.Helper()
	_, rest, found := strings.Cut(body, `name="`+name+`" value="`)
	require.True(t, found, name)
	value, _, _ := strings.Cut(rest, `"`)
	return value
}

// What was agreed to is stored as it was shown, with the time, once.
func TestConsent(t *testing.T) {
	t.Parallel()
	f := start(t)
	slug := f.link(t)
	f.post(t, "/l/"+slug, "email", "early@example.com").location(t)
	f.exec(t, `UPDATE generic_links SET consent_text = 'I agree to A.', privacy_url = 'https://acme.example/p' WHERE slug = $1`, slug)
	agree := func(email string) {
		f.post(t, "/l/"+slug, "email", email, "consent", "yes", "consent_seen", formField(t, f.get(t, "/l/"+slug).body,
			"consent_seen")).location(t)
	}
	agree("jo@example.com")
	agree("early@example.com")
	f.exec(t, `UPDATE generic_links SET consent_text = 'I agree to B.' WHERE slug = $1`, slug)
	agree("jo@example.com")
	require.Equal(t, 2, one[int](t, f,
		`SELECT count(*) FROM submissions WHERE consent_text = 'I agree to A.' AND privacy_url = 'https://acme.example/p' AND consented_at = $1`, f.now()))
}

// A field that people do not see is filled in by programs. A person whose browser did it is not
// lost.
func TestTrap(t *testing.T) {
	t.Parallel()
	f := start(t)
	slug := f.link(t)
	r := f.post(t, "/l/"+slug, "email", "jo@example.com", "website", "https://spam.example")
	require.Equal(t, http.StatusUnprocessableEntity, r.status)
	require.Contains(t, r.body, "submit the form again")
	require.NotContains(t, r.body, "spam.example")
	require.Contains(t, r.body, `value="jo@example.com"`)
	require.Zero(t, one[int](t, f, `SELECT count(*) FROM submissions`))
	f.post(t, "/l/"+slug, "email", "jo@example.com", "website", "").location(t)
}

// However often and at the same time a form is sent, there is one submission, one link and one
// count.
func TestFormSentManyTimesAtOnce(t *testing.T) {
	t.Parallel()
	f := start(t)
	for _, verify := range []string{"false", "true"} {
		slug := f.link(t, "require_verification = "+verify)
		var running sync.WaitGroup
		var mu sync.Mutex
		places := map[string]bool{}
		for i := range 24 {
			running.Go(func() {
				r, err := f.send(context.Background(), "POST", "/l/"+slug,
					values("email", []string{"jo@example.com", "JO@example.com", "al@example.com"}[i%3]))
				if err != nil || r.status != http.StatusSeeOther {
					t.Errorf("%v %d %s", err, r.status, r.body)
				}
				mu.Lock()
				defer mu.Unlock()
				places[r.header.Get("Location")] = true
			})
		}
		running.Wait()
		require.Equal(t, 2, one[int](t, f, `SELECT submission_count FROM generic_links WHERE slug = $1`, slug))
		require.Equal(t, 2, one[int](t, f,
			`SELECT count(*) FROM submissions s JOIN generic_links g ON g.id = s.generic_link_id WHERE slug = $1`, slug))
		links := one[int](t, f,
			`SELECT count(*) FROM access_links a JOIN generic_links g ON g.id = a.generic_link_id WHERE slug = $1`, slug)
		if verify == "true" {
			require.Zero(t, links)
			require.Len(t, places, 24)
		} else {
			require.Equal(t, 2+24, links, "one for each mailbox, and one for each form")
			require.Len(t, places, 24)
		}
	}
}

func TestFormLeadsWhereTheOwnerWants(t *testing.T) {
	t.Parallel()
	f := start(t)
	slug := f.link(t, "redirect_url = 'https://acme.example/thanks?from=lodestone'")
	r := f.get(t, "/l/"+slug)
	require.Contains(t, r.header.Get("Content-Security-Policy"), "form-action 'self' https:;") // acme.example may lead on
	require.Contains(t, r.body, "Send me the document")
	// Nothing that a visitor sends changes it.
	for _, field := range []string{"redirect_url", "redirect", "next", "url", "return_to"} {
		require.Equal(t, "https://acme.example/thanks?from=lodestone", f.post(t, "/l/"+slug+"?"+field+"=https://evil.example",
			"email", "jo@example.com", field, "https://evil.example").location(t))
	}
	require.Regexp(t, `^/a/`, f.last(t).path(t))
	for _, bad := range []string{"javascript:alert(1)", "//evil.example", "/elsewhere", "https://"} {
		f.exec(t, `UPDATE generic_links SET redirect_url = $1 WHERE slug = $2`, bad, slug)
		require.Regexp(t, `^/a/`, f.post(t, "/l/"+slug, "email", "jo@example.com").location(t), bad)
	}
}

// One visitor's address cannot submit without end, nor can anybody be flooded with mails.
func TestLimits(t *testing.T) {
	t.Parallel()
	f := start(t, func(c *capture.Config) { c.Forms, c.Mails = 6, 2 })
	open, verified := f.link(t), f.link(t, "require_verification = true")
	from := func(addr, slug, email string) reply {
		return f.do(t, "POST", "/l/"+slug, values("email", email), "X-Forwarded-For", addr)
	}
	// A mailbox: plus signs and capitals do not make another one. The document opens all the same.
	for i, email := range []string{"vic+1@example.com", "Vic+2@example.com", "vic@example.com", "vic+3@example.com"} {
		require.Equal(t, 303, from("192.0.2."+strconv.Itoa(i), open, email).status)
	}
	require.Len(t, f.mails(t), 2)
	// So does an international domain, in either form.
	idn := f.link(t, "require_verification = true")
	require.Equal(t, 303, from("192.0.2.5", idn, "vic@bücher.example").status)
	require.Equal(t, 303, from("192.0.2.6", idn, "vic@xn--bcher-kva.example").status)
	require.Equal(t, 429, from("192.0.2.7", idn, "vic@bücher.example").status)
	require.Equal(t, 1, one[int](t, f, `SELECT submission_count FROM generic_links WHERE slug = $1`, idn))
	f.exec(t, `DELETE FROM river_job WHERE kind = 'sealed_mail' AND id NOT IN (SELECT id FROM river_job WHERE kind = 'sealed_mail' ORDER BY id LIMIT 2)`)
	// With verification there is no way on without a mail, so the page says to wait.
	r := from("192.0.2.9", verified, "vic+4@example.com")
	require.Equal(t, http.StatusTooManyRequests, r.status)
	require.Contains(t, r.body, "Too many requests")
	require.Contains(t, r.body, "Try again in 1 hour.")
	wait, err := strconv.Atoi(r.header.Get("Retry-After"))
	require.NoError(t, err)
	require.Greater(t, wait, 3000)
	require.LessOrEqual(t, wait, 3600)
	require.Len(t, f.mails(t), 2)
	require.Equal(t, 303, from("192.0.2.9", verified, "someone@example.com").status)

	// A visitor: an IPv6 network counts as one. What is refused as invalid costs nothing.
	for range 10 {
		require.Equal(t, 422, from("2001:db8::1", open, "x").status)
	}
	for i := range 6 {
		require.Equal(t, 303, from("2001:db8::"+strconv.Itoa(i), open, "a"+strconv.Itoa(i)+"@example.com").status)
	}
	require.Equal(t, 429, from("2001:db8::99", open, "b@example.com").status)
	require.Equal(t, 429, from("2001:db8::99", verified, "b@example.com").status)
	require.Equal(t, 303, from("2001:db8:0:1::1", open, "b@example.com").status)

	// Who it was is nowhere.
	dump := one[string](t, f, `SELECT coalesce(string_agg(c::text, ' '), '') FROM visitor_counts c`)
	require.NotEmpty(t, dump)
	for _, secret := range []string{"2001:db8", "192.0.2", "vic", "example"} {
		require.NotContains(t, dump, secret)
	}
	require.NotContains(t, f.log.String(), "192.0.2")
	require.NotContains(t, f.log.String(), "vic@")
}

// A page of another site cannot make its visitors' browsers submit.
func TestFormsOfOtherSites(t *testing.T) {
	t.Parallel()
	f := start(t)
	slug := f.link(t)
	r := f.do(t, "POST", "/l/"+slug, values("email", "jo@example.com"), "Sec-Fetch-Site", "cross-site",
		"Origin", "https://evil.example")
	require.Equal(t, http.StatusForbidden, r.status)
	require.Contains(t, r.body, "This form came from another page")
	require.Contains(t, r.body, `href="/l/`+slug+`"`)
	require.Zero(t, one[int](t, f, `SELECT count(*) FROM submissions`))
	require.Equal(t, http.StatusRequestEntityTooLarge, f.post(t, "/l/"+slug, "email", strings.Repeat("x", 70_000)).status)
	require.Equal(t, 303, f.do(t, "POST", "/l/"+slug, values("email", "jo@example.com"), "Origin", site).status)
}

// A form that does not arrive before the server's read deadline is answered 408, and takes no
// effect.
func TestFormThatArrivesTooSlowly(t *testing.T) {
	t.Parallel()
	f := start(t)
	slug := f.link(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := http.NewResponseController(w).SetReadDeadline(time.Unix(1, 0)); err != nil { // it is over
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		f.handler.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	conn, err := net.Dial("tcp", server.Listener.Addr().String())
	require.NoError(t, err)
	_, err = io.WriteString(conn,
		"POST /l/"+slug+" HTTP/1.1\r\nHost: links.example.com\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 20\r\n\r\nemail=jo")
	require.NoError(t, err)
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	require.NoError(t, err)
	text, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	require.NoError(t, conn.Close())
	require.Equal(t, http.StatusRequestTimeout, answer.StatusCode)
	require.Contains(t, string(text), "That took too long")
	require.Zero(t, one[int](t, f, `SELECT count(*) FROM submissions`))
}

// Endpoints get what happened once, in the same transaction.
func TestWebhooks(t *testing.T) {
	t.Parallel()
	f := start(t)
	f.exec(t, `INSERT INTO webhook_endpoints (id, account_id, format, url, url_sealed, kinds) VALUES ($1, $2, 'json', 'https://hooks.example', '', '{form.submitted,form.verified,link.created}')`, uuid.New(), f.account)
	bodies := func() (out []string) {
		rows, err := f.db.Unscoped().Query(t.Context(), `SELECT id, body_sealed FROM webhook_deliveries ORDER BY id`)
		require.NoError(t, err)
		for rows.Next() {
			var id uuid.UUID
			var sealed []byte
			require.NoError(t, rows.Scan(&id, &sealed))
			text, err := f.tokens.Open("webhook messages", sealed, id[:])
			require.NoError(t, err)
			out = append(out, string(text))
		}
		require.NoError(t, rows.Err())
		return out
	}
	sent := func() (out []string) {
		for _, b := range bodies() {
			var message struct {
				Type string `json:"type"`
				Data struct {
					Email string `json:"email"`
				} `json:"data"`
			}
			require.NoError(t, json.Unmarshal([]byte(b), &message))
			out = append(out, message.Type+" "+message.Data.Email)
		}
		return out
	}
	open, verified := f.link(t, "collect_name = true"), f.link(t, "require_verification = true")
	for range 2 {
		f.post(t, "/l/"+open, "email", "jo@example.com", "name", "Jo", "utm_source", "news").location(t)
	}
	require.Equal(t, []string{"form.submitted jo@example.com", "link.created jo@example.com"}, sent())
	body := bodies()[0]
	require.Contains(t, body, `"name":"Jo"`)
	require.Contains(t, body, `"utm":{"utm_source":"news"}`)
	f.post(t, "/l/"+verified, "email", "al@example.com").location(t)
	require.Equal(t, "form.submitted al@example.com", sent()[2])
	f.post(t, f.last(t).path(t)).location(t)
	require.Equal(t, []string{"form.verified al@example.com", "link.created al@example.com"}, sent()[3:])
	for _, body := range bodies() {
		require.NotContains(t, body, `"bot":true`)
	}

	// What a program causes says so.
	form := values("email", "program@example.com", "name", "Quux")
	f.do(t, "POST", "/l/"+open, form, "Sec-Fetch-Site", "same-origin", "User-Agent", "Quuxbot/1.0").location(t)
	require.Equal(t, []string{"form.submitted program@example.com", "link.created program@example.com"}, sent()[5:])
	for _, body := range bodies()[5:] {
		require.Contains(t, body, `"bot":true`)
	}
}

// Links that a form gives can end, and whoever submits it again gets the document for another time.
func TestLinksOfAFormEnd(t *testing.T) {
	t.Parallel()
	f := start(t)
	slug := f.link(t, "access_days = 7")
	f.post(t, "/l/"+slug, "email", "jo@example.com").location(t)
	ends := func() []time.Time {
		return one[[]time.Time](t, f, `SELECT array_agg(DISTINCT expires_at ORDER BY expires_at) FROM access_links`)
	}
	first := f.now().AddDate(0, 0, 7)
	require.Len(t, ends(), 1, "the mailbox's and the browser's")
	require.True(t, ends()[0].Equal(first))
	f.pass(24 * time.Hour)
	f.post(t, "/l/"+slug, "email", "jo@example.com").location(t)
	require.True(t, ends()[0].Equal(first), "it has not ended")
	f.pass(7 * 24 * time.Hour)
	f.post(t, "/l/"+slug, "email", "jo@example.com").location(t)
	require.True(t, one[time.Time](t, f,
		`SELECT expires_at FROM access_links WHERE source = 'mail'`).Equal(f.now().AddDate(0, 0, 7)))
}

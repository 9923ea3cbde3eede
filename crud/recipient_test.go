package crud_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"

	"lodestone/crud/account"
	"lodestone/crud/mail"
	"lodestone/pkg/client"
	"lodestone/pkg/problem"
)

// invite imports a list for a link, and returns what became of it.
func (u *user) invite(t *testing.T, link, list string, query ...string) map[string]any {
	t.Helper()
	r := u.send(t, "POST", linksPath+"/"+link+"/recipients/import?"+strings.Join(query, "&"), strings.NewReader(list),
		"Content-Type", "text/csv")
	require.Equal(t, http.StatusOK, r.status, r.body)
	return r.object(t)
}

// letters returns the mails to recipients of an account that wait to be sent, by their receivers.
func (u *user) letters(t *testing.T, kind mail.Kind) map[string][]mail.Message {
	t.Helper()
	found := map[string][]mail.Message{}
	for line := range strings.Lines(u.fixture.waiting(t)) {
		var m mail.Message
		require.NoError(t, json.Unmarshal([]byte(strings.TrimSpace(line)), &m))
		if m.AccountID == u.account && m.Kind == kind {
			found[m.To] = append(found[m.To], m)
		}
	}
	return found
}

// A preview says what becomes of each row, and the import then does that.
func TestImportingRecipients(t *testing.T) {
	t.Parallel()
	f := start(t)
	u := f.user(t, account.Team)
	link := u.link(t, u.magnet(t).ID).ID
	require.Equal(t, http.StatusCreated, u.post(t, erasePath, `{"email":"gone@example.com"}`).status)
	u.invite(t, link, "known@example.com")
	_, err := f.db.Unscoped().Exec(t.Context(),
		`INSERT INTO unsubscribes (account_id, person_id) VALUES ($1, person_id($1, 'no@example.com'))`, u.account)
	require.NoError(t, err)
	const list = "Name;E-Mail;Work mail\nJo Doe;Jo@Example.com;jo@work.example\n=1+1;al@example.com;\n" +
		"Jo;jo@example.com;\n;known@example.com;\n;no@example.com;\n;GONE@example.com;\nBad;bad@;\n"
	for _, dry := range []bool{true, false} {
		got := u.invite(t, link, list, fmt.Sprint("dry_run=", dry))
		for name, want := range map[string]any{"dry_run": dry, "rows": 7.0, "formulas": 1.0,
			"ignored_columns": []any{"Work mail"}, "outcomes": map[string]any{"added": 2.0, "duplicate": 1.0, "invited": 1.0,
				"unsubscribed": 1.0, "erased": 1.0, "invalid": 1.0}} {
			require.Equal(t, want, got[name], name)
		}
		outcomes := map[float64]string{}
		for _, row := range got["details"].([]any) {
			outcomes[row.(map[string]any)["line"].(float64)] = row.(map[string]any)["outcome"].(string)
		}
		require.Equal(t, map[float64]string{2: "added", 3: "added", 4: "duplicate", 5: "invited", 6: "unsubscribed",
			7: "erased", 8: "invalid"}, outcomes)
		require.Equal(t, map[bool]int{true: 1, false: 3}[dry], u.count(t, "recipients"))
	}
	again := u.invite(t, link, list)["outcomes"].(map[string]any)
	require.Equal(t, []any{0.0, 3.0}, []any{again["added"], again["invited"]})

	page := u.get(t, linksPath+"/"+link+"/recipients?per_page=2").object(t)
	require.EqualValues(t, 3, page["pagination"].(map[string]any)["total"])
	first := page["data"].([]any)[0].(map[string]any)
	require.Equal(t, []any{"Jo@Example.com", "Jo Doe", "added"}, []any{first["email"], first["name"], first["state"]})
	made, err := u.AccessLink(t.Context(), first["id"].(string))
	require.NoError(t, err)
	require.Equal(t, first["url"], made.URL)
	require.Equal(t, link, *made.GenericLinkID)
	page = u.get(t, linksPath+"/"+link+"/recipients?q=DOE").object(t)
	require.EqualValues(t, 1, page["pagination"].(map[string]any)["total"])
	file := u.get(t, linksPath+"/"+link+"/recipients/export")
	require.Equal(t, 4, strings.Count(file.body, "\n"), file.body)
	require.Contains(t, file.body, "Jo@Example.com,Jo Doe,added,"+made.URL)

	// What the API is given as JSON is treated alike.
	added := u.post(t, linksPath+"/"+link+"/recipients",
		`{"recipients":[{"email":"cy@example.com","name":"+1"},{"email":"cy"}]}`).object(t)
	outcomes := added["outcomes"].(map[string]any)
	require.Equal(t, []any{1.0, 1.0, 1.0}, []any{outcomes["added"], outcomes["invalid"], added["formulas"]})
}

func TestListsThatAreNotImported(t *testing.T) {
	t.Parallel()
	u := start(t).user(t, account.Team)
	link := u.link(t, u.magnet(t).ID).ID
	var long strings.Builder
	for i := range 10_001 {
		fmt.Fprintf(&long, "jo%d@example.com\n", i)
	}
	for list, want := range map[string]string{
		"PK\x03\x04":  "file is an Excel workbook: save it as CSV and import that.",
		long.String(): "file adds 10001 recipients, and one import adds at most 10000: split the list.",
	} {
		for _, query := range []string{"", "?dry_run=true"} {
			r := u.send(t, "POST", linksPath+"/"+link+"/recipients/import"+query, strings.NewReader(list), "Content-Type",
				"text/csv").problem(t)
			require.Equal(t, problem.ValidationError, r.Code)
			require.Equal(t, want, r.Detail)
		}
	}
	require.Zero(t, u.count(t, "recipients"))
}

// However many requests send at the same time, each recipient gets one mail, in the owner's words.
func TestSendingToRecipients(t *testing.T) {
	t.Parallel()
	f := startAlone(t)
	u := f.user(t, account.Team)
	link := u.link(t, u.magnet(t).ID)
	path := linksPath + "/" + link.ID + "/recipients"
	list := []string{"Jo Doe <jo@example.com>", "al@example.com", "no@example.com"}
	for i := range 2500 {
		list = append(list, fmt.Sprintf("%d@example.com", i))
	}
	u.invite(t, link.ID, strings.Join(list, "\n"))
	_, err := f.db.Unscoped().Exec(t.Context(),
		`INSERT INTO unsubscribes (account_id, person_id) VALUES ($1, person_id($1, 'no@example.com'))`, u.account)
	require.NoError(t, err)
	for body, want := range map[string]string{
		`{"subject":"{company}","text":"x"}`:         "subject has {company}; allowed is {name}.",
		`{"subject":"x","text":"{link} or {link}"}`:  "text has {link} twice; allowed is once.",
		`{"subject":"{link}","text":"Hello {name}"}`: "subject has {link}; allowed is {name}.",
	} {
		require.Equal(t, want, u.post(t, path+"/send", body).problem(t).Detail)
	}
	const words = `{"subject":"{name}, a guide","text":"Hello {name},\n\nhere: {link}.\n\nBest"}`
	one := u.get(t, path+"?q=jo@").object(t)["data"].([]any)[0].(map[string]any)
	sent := u.post(t, path+"/send", strings.Replace(words, "{", `{"ids":["`+one["id"].(string)+`"],`, 1)).object(t)
	require.EqualValues(t, 1, sent["queued"])
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() { u.post(t, path+"/send", words) })
	}
	all.Wait()
	letters := u.letters(t, mail.KindRecipient)
	require.Len(t, letters, 2502)
	for to, got := range letters {
		require.Len(t, got, 1, to)
	}
	jo, al := letters["jo@example.com"][0], letters["al@example.com"][0]
	require.Equal(t, &mail.Own{Subject: "Jo Doe, a guide", Before: "Hello Jo Doe,\n\nhere: ", After: "\n\nBest"}, jo.Own)
	require.Equal(t, "a guide", al.Own.Subject)
	require.Equal(t, "Hello,\n\nhere: ", al.Own.Before)
	require.Equal(t, one["url"], jo.URL)
	counts := u.get(t, path+"/counts").object(t)
	states := counts["states"].(map[string]any)
	require.Equal(t, []any{2503.0, 2502.0, 1.0}, []any{counts["total"], states["queued"], states["unsubscribed"]})
}

// Recipients are reminded once, who did not open the document, or stopped early.
func TestRemindingRecipients(t *testing.T) {
	t.Parallel()
	f := startAlone(t)
	u := f.user(t, account.Team).at(t, f.service)
	f = u.fixture
	link := u.link(t, u.file(t))
	path := linksPath + "/" + link.ID + "/recipients"
	u.invite(t, link.ID, "new@example.com\nold@example.com\nearly@example.com\nlate@example.com\nnever@example.com\nbounced@example.com")
	exec := func(sql string, args ...any) {
		_, err := f.db.Unscoped().Exec(t.Context(), sql, args...)
		require.NoError(t, err)
	}
	exec(`UPDATE recipients r SET queued_at = now(), sent_at = now() - CASE WHEN a.email = 'new@example.com' THEN interval '1 day' ELSE interval '4 days' END,
		bounced_at = CASE WHEN a.email = 'bounced@example.com' THEN now() END FROM access_links a WHERE a.id = r.id AND a.email <> 'never@example.com'`)
	exec(`UPDATE lead_magnet_files SET page_count = 9`)
	for address, pages := range map[string]string{"early@example.com": "{1,2}", "late@example.com": "{1,5,7}"} {
		exec(`WITH a AS (SELECT * FROM access_links WHERE email = $1),
			c AS (INSERT INTO access_link_counts (id, account_id, views, first_viewed_at) SELECT id, account_id, 1, now() FROM a)
			INSERT INTO sessions (id, account_id, access_link_id, magnet_version, pages, last_active_at)
			SELECT gen_random_uuid(), account_id, id, 1, $2::integer[], now() - interval '4 days' FROM a`, address, pages)
	}
	late := u.get(t, path+"?state=opened&q=late").object(t)["data"].([]any)[0].(map[string]any)
	require.EqualValues(t, 7, late["furthest_page"])

	sent := u.post(t, path+"/remind", `{"subject":"x","text":"y","after_days":3}`).object(t)
	require.EqualValues(t, 1, sent["queued"])
	require.Len(t, u.letters(t, mail.KindReminder), 1)

	require.Equal(t, problem.NotFound, u.get(t, path+"/reminder").problem(t).Code)
	const rule = `{"subject":"x","text":"y","after_days":3,"before_page":5}`
	for range 2 {
		r := u.send(t, "PUT", path+"/reminder", strings.NewReader(rule), "Content-Type", "application/json")
		require.Equal(t, http.StatusOK, r.status, r.body)
	}
	require.JSONEq(t, rule, u.get(t, path+"/reminder").body)
	require.NoError(t, f.service.Queue().Start(t.Context())) // it looks at rules when it starts
	t.Cleanup(func() { require.NoError(t, f.service.Queue().Stop(context.WithoutCancel(t.Context()))) })
	require.Eventually(t, func() bool { return f.count(t, "recipients WHERE reminder_queued_at IS NOT NULL") == 2 },
		testTimeout, 10*time.Millisecond)
	require.EqualValues(t, 0, u.post(t, path+"/remind", rule).object(t)["queued"], "no one is reminded twice")
	atOnce := strings.Replace(rule, `"after_days":3`, `"after_days":0`, 1)
	require.EqualValues(t, 1, u.post(t, path+"/remind", atOnce).object(t)["queued"], "who has the mail since a day")
	r := u.send(t, "PUT", path+"/reminder", strings.NewReader(atOnce), "Content-Type", "application/json")
	require.Equal(t, problem.ValidationError, r.problem(t).Code, "a rule would remind everyone at once")
	require.Equal(t, http.StatusNoContent, u.remove(t, path+"/reminder").status)
	require.Equal(t, problem.NotFound, u.get(t, path+"/reminder").problem(t).Code)
}

// Opening the page of a mail changes nothing, since programs do. A mail program's button and the
// page's own end the mails of the account to that person, for other links too.
func TestUnsubscribing(t *testing.T) {
	t.Parallel()
	f := startAlone(t)
	u := f.user(t, account.Team)
	magnet := u.magnet(t).ID
	one, other := u.link(t, magnet), u.link(t, magnet)
	for _, l := range []client.GenericLink{one, other} {
		u.invite(t, l.ID, "jo@example.com")
	}
	u.post(t, linksPath+"/"+one.ID+"/recipients/send", `{"subject":"x","text":"y"}`)
	page := u.letters(t, mail.KindRecipient)["jo@example.com"][0].Unsubscribe
	require.Regexp(t, "^"+regexp.QuoteMeta(site)+"/unsubscribe/", page)
	page = f.url + strings.TrimPrefix(page, site)
	require.Equal(t, http.StatusOK, u.get(t, strings.TrimPrefix(page, f.url)).status)
	require.Zero(t, u.count(t, "unsubscribes"))
	for range 2 {
		res, err := http.PostForm(page, url.Values{"List-Unsubscribe": {"One-Click"}})
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		require.Equal(t, http.StatusOK, res.StatusCode)
	}
	require.Equal(t, 1, u.count(t, "unsubscribes"))
	sent := u.post(t, linksPath+"/"+other.ID+"/recipients/send", `{"subject":"x","text":"y"}`).object(t)
	require.EqualValues(t, 0, sent["queued"])
	counts := u.get(t, linksPath+"/"+other.ID+"/recipients/counts").object(t)
	require.EqualValues(t, 1, counts["states"].(map[string]any)["unsubscribed"])
	res, err := http.PostForm(page[:len(page)-3]+"xyz", nil)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.Equal(t, http.StatusNotFound, res.StatusCode)

	// An erasure removes all of it but the wish to get no more mail.
	require.Equal(t, http.StatusCreated, u.post(t, erasePath, `{"email":"jo@example.com"}`).status)
	require.Zero(t, u.count(t, "recipients"))
	require.EqualValues(t, 1, u.invite(t, one.ID, "jo@example.com")["outcomes"].(map[string]any)["unsubscribed"])
}

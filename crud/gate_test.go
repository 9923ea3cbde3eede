package crud_test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lodestone/crud"
	"lodestone/crud/account"
	"lodestone/pkg/auth"
	"lodestone/pkg/problem"
	"lodestone/pkg/test"
)

func TestGateOfALink(t *testing.T) {
	t.Parallel()
	u := start(t).user(t, account.Team)
	m := u.magnet(t)
	open := map[string]any{"allow": []any{}, "block": []any{}, "max_people": nil, "passcode_set": false, "agreement": nil,
		"watermark": false}
	require.Equal(t, open, u.post(t, linksPath, `{"lead_magnet_id":"`+m.ID+`"}`).object(t)["gate"])
	link := u.post(t, linksPath, `{"lead_magnet_id":"`+m.ID+`","gate":{"allow":["Example.com","example.com"],
		"block":["eve@example.com"],"max_people":50,"passcode":"open sesame","agreement":{"text":"Keep it."},"watermark":true}}`)
	require.NotContains(t, link.body, "sesame")
	closed := map[string]any{"allow": []any{"example.com"}, "block": []any{"eve@example.com"}, "max_people": 50.0,
		"passcode_set": true, "agreement": map[string]any{"title": nil, "text": "Keep it."}, "watermark": true}
	require.Equal(t, closed, link.object(t)["gate"])
	path := linksPath + "/" + link.object(t)["id"].(string)
	require.Equal(t, closed, u.patch(t, path, `{"title":"New","gate":{}}`).object(t)["gate"], "what is left out stays")
	require.Equal(t, closed, u.post(t, path+"/duplicate", "{}").object(t)["gate"])
	closed["agreement"], closed["max_people"] = map[string]any{"title": "NDA", "text": "Keep it."}, nil
	require.Equal(t, closed, u.patch(t, path,
		`{"gate":{"agreement":{"title":"NDA","text":"Keep it."},"max_people":null}}`).object(t)["gate"])
	require.Equal(t, open, u.patch(t, path,
		`{"gate":{"allow":[],"block":[],"passcode":null,"agreement":null,"watermark":false}}`).object(t)["gate"])

	for body, wrong := range map[string]string{
		`null`: "gate", `{"passcode_set":true}`: "gate.passcode_set", `{"allow":["com"]}`: "gate.allow[0]",
		`{"block":["a@b@example.com"]}`: "gate.block[0]", `{"max_people":0}`: "gate.max_people",
		`{"passcode":"12345"}`: "gate.passcode", `{"agreement":{"title":"NDA"}}`: "gate.agreement.text",
		`{"agreement":{"text":" "}}`: "gate.agreement.text", `{"watermark":null}`: "gate.watermark",
		`{"agreement":{"text":"` + strings.Repeat("x", 10_001) + `"}}`: "gate.agreement.text",
	} {
		for _, p := range []problem.Problem{u.patch(t, path, `{"gate":`+body+`}`).problem(t),
			u.post(t, linksPath, `{"lead_magnet_id":"`+m.ID+`","gate":`+body+`}`).problem(t)} {
			require.Equal(t, problem.ValidationError, p.Code, body)
			require.Equal(t, wrong, fields(p), body)
		}
	}
}

// The addresses of the lists are for keys that may read those of leads, as everywhere, and stay
// when another key changes the link.
func TestListsOfAGateArePersonal(t *testing.T) {
	t.Parallel()
	f := start(t)
	u := f.user(t, account.Team)
	made := u.post(t, linksPath, `{"lead_magnet_id":"`+u.magnet(t).ID+
		`","gate":{"allow":["ann@example.com"],"block":["eve@example.com"]}}`)
	path := linksPath + "/" + made.object(t)["id"].(string)
	blind := f.userOf(t, u.account, auth.Read, auth.Write)
	for _, r := range []reply{blind.get(t, path), blind.get(t, linksPath), blind.patch(t, path, `{"gate":{"watermark":true}}`),
		blind.post(t, path+"/duplicate", "{}")} {
		require.Less(t, r.status, 300, r.body)
		require.NotContains(t, r.body, "@example.com")
		require.Contains(t, r.body, `"allow":null,"block":null`)
	}
	seen := u.get(t, path).object(t)["gate"].(map[string]any)
	require.Equal(t, []any{"ann@example.com"}, seen["allow"])
	require.Equal(t, []any{"eve@example.com"}, seen["block"])
	require.Equal(t, true, seen["watermark"])
}

// The form on other sites asks for the same, and what was accepted is in every list and file about
// the submission, until the person is erased.
func TestAcceptedAgreements(t *testing.T) {
	t.Parallel()
	noEvents := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(noEvents.Close)
	f := start(t, func(c *crud.Config) { c.QueryURL = noEvents.URL })
	u := f.user(t, account.Team)
	const origin = "https://www.example.com"
	slug := "gated-" + u.account.String()[:8]
	link := u.post(t, linksPath, `{"lead_magnet_id":"`+u.file(t)+`","slug":"`+slug+`","allowed_origins":["`+origin+`"],
		"gate":{"allow":["example.com"],"passcode":"sesame","agreement":{"title":"NDA","text":"Keep it."},"max_people":1}}`).object(t)
	id := link["id"].(string)
	_, form := f.ask(t, "GET", slug, origin, nil)
	require.Equal(t, true, form["passcode"])
	agreement := form["agreement"].(map[string]any)
	require.Equal(t, "Keep it.", agreement["text"])
	q := url.Values{"token": {form["token"].(string)}, "email": {"ada@other.example"}, "passcode": {"wrong"}}
	res, out := f.ask(t, "POST", slug, origin, q)
	require.Equal(t, 422, res.StatusCode)
	require.Equal(t, map[string]any{"agreement": "Tick the box to continue."}, out["errors"])
	q.Set("agreement", "yes")
	q.Set("agreement_seen", agreement["version"].(string))
	res, out = f.ask(t, "POST", slug, origin, q)
	require.Equal(t, 422, res.StatusCode)
	require.Contains(t, out["errors"], "passcode")
	require.NotContains(t, out["errors"], "email", "no one learns without the passcode who is on a list")
	q.Set("passcode", "sesame")
	res, out = f.ask(t, "POST", slug, origin, q)
	require.Equal(t, 422, res.StatusCode)
	require.Equal(t, map[string]any{"email": "This document is for people at example.com. Enter your address there."}, out["errors"])
	q.Set("email", "ada@example.com")
	res, out = f.ask(t, "POST", slug, origin, q)
	require.Equal(t, 200, res.StatusCode, out)
	q.Set("email", "bob@example.com")
	res, out = f.ask(t, "POST", slug, origin, q)
	require.Equal(t, http.StatusGone, res.StatusCode)
	require.Contains(t, out["message"], "limited number of people")
	res, _ = f.ask(t, "GET", slug, origin, nil)
	require.Equal(t, http.StatusGone, res.StatusCode)

	listed := u.get(t, linksPath+"/"+id+"/submissions").object(t)["data"].([]any)[0].(map[string]any)
	accepted := listed["agreements"].([]any)[0].(map[string]any)
	require.Equal(t, []any{"NDA", "Keep it."}, []any{accepted["title"], accepted["text"]})
	row := cellsOf(t, u.download(t, id, "csv"))[0]
	require.Equal(t, []string{"NDA", "Keep it.", accepted["accepted_at"].(string)},
		[]string{row["agreement_title"], row["agreement_text"], row["agreement_accepted_at"]})
	document := u.post(t, "/api/v1/people/export", `{"email":"ada@example.com"}`).object(t)
	require.Equal(t, listed["agreements"], document["submissions"].([]any)[0].(map[string]any)["agreements"])
	require.Equal(t, 1, u.count(t, "acceptances"))
	require.Equal(t, http.StatusCreated, u.post(t, erasePath, `{"email":"ada@example.com"}`).status)
	require.Zero(t, u.count(t, "acceptances"))
	_, form = f.ask(t, "GET", slug, origin, nil)
	require.NotEmpty(t, form["token"], "the place is free again")
}

// names reports whether a document has the mark of an address.
func names(document []byte, address string) bool {
	return bytes.Contains(document, []byte(hex.EncodeToString([]byte(address))))
}

// Who reads through a link with a watermark gets pages that name them, and no one else; so does who
// downloads the document, whole or in parts, and who lost the generic link.
func TestDocumentsNameTheirReaders(t *testing.T) {
	t.Parallel()
	r := newReading(t, 300_000)
	link := r.post(t, linksPath, `{"lead_magnet_id":"`+r.magnet.ID+`","gate":{"watermark":true}}`).object(t)
	r.post(t, linksPath+"/"+link["id"].(string)+"/recipients",
		`{"recipients":[{"email":"guest@example.com"}]}`).object(t)
	slug := link["slug"].(string)
	form := func(email string) string {
		res, _ := r.ask("POST", "/l/"+slug, url.Values{"email": {email}}.Encode(), "Content-Type",
			"application/x-www-form-urlencoded", "Sec-Fetch-Site", "same-origin")
		require.Equal(t, http.StatusSeeOther, res.StatusCode)
		return res.Header.Get("Location")
	}
	ann, bob := form("ann@example.com"), form("bob@example.com")
	_, a := r.open(ann, "{}")
	_, b := r.open(bob, "{}")
	res, mine := r.ask("GET", a.File, "")
	require.Equal(t, 200, res.StatusCode)
	require.Len(t, mine, int(a.Size))
	require.True(t, names(mine, "ann@example.com"))
	other, theirs := r.ask("GET", b.File, "")
	require.NotEqual(t, res.Header.Get("Etag"), other.Header.Get("Etag"))
	require.True(t, names(theirs, "bob@example.com"))
	require.False(t, names(theirs, "ann@example.com"))
	require.Len(t, theirs, len(mine))

	got, whole := r.ask("GET", a.Download+"&d=0198c1d2-0000-7000-8000-000000000001", "")
	require.Equal(t, 200, got.StatusCode)
	require.Equal(t, mine, whole)
	require.Eventually(t, func() bool { return len(r.ears.all()) > 0 }, testTimeout, 20*time.Millisecond, "it is complete")
	at := bytes.Index(mine, []byte(hex.EncodeToString([]byte("ann@"))))
	got, part := r.ask("GET", a.File, "", "Range", fmt.Sprintf("bytes=%d-%d", at+3, at+40))
	require.Equal(t, http.StatusPartialContent, got.StatusCode)
	require.Equal(t, mine[at+3:at+41], part)

	// A link that the API makes has none, unless it is of a recipient of the generic link.
	_, path := r.link("")
	_, o := r.open(path, "{}")
	_, plain := r.ask("GET", o.File, "")
	require.Equal(t, r.file, plain)
	recipients := r.get(t, linksPath+"/"+link["id"].(string)+"/recipients").object(t)["data"].([]any)
	address := recipients[0].(map[string]any)["url"].(string)
	_, g := r.open(strings.TrimPrefix(address, site), "{}")
	_, guests := r.ask("GET", g.File, "")
	require.True(t, names(guests, "guest@example.com"))

	require.Equal(t, http.StatusNoContent, r.remove(t, linksPath+"/"+link["id"].(string)).status)
	_, again := r.ask("GET", b.File, "")
	require.Equal(t, theirs, again)
}

// upload sets the document of the reading to one of so many pages.
func (r *reading) upload(t *testing.T, pages int) reply {
	t.Helper()
	return r.send(t, "PUT", "/api/v1/lead-magnets/"+r.magnet.ID+"/file", bytes.NewReader(test.StripPDF(pages, 0)),
		"Content-Type", "application/pdf")
}

// A version with too many pages for the watermark of a link is refused when it is uploaded, and a
// watermark when it is switched on for such a document.
func TestTooManyPagesForAWatermark(t *testing.T) {
	t.Parallel()
	r := newReading(t, 0)
	link := r.post(t, linksPath, `{"lead_magnet_id":"`+r.magnet.ID+`","slug":"a-`+r.magnet.ID[24:]+`","gate":{"watermark":true}}`).object(t)
	path := linksPath + "/" + link["id"].(string)
	refused := r.upload(t, 1001).problem(t)
	require.Equal(t, problem.ValidationError, refused.Code)
	require.Equal(t, "file", fields(refused))
	require.Equal(t, "has 1001 pages, and a watermark is drawn on 1000 at most: upload a file with fewer, or turn the watermark "+
		"of the generic link "+link["slug"].(string)+" off", refused.Errors[0].Message)
	require.Equal(t, 200, r.upload(t, 1000).status)

	require.Equal(t, 200, r.post(t, path+"/recipients", `{"recipients":[{"email":"guest@example.com"}]}`).status)
	guest := r.get(t, path+"/recipients").object(t)["data"].([]any)[0].(map[string]any)
	require.Equal(t, http.StatusNoContent, r.remove(t, path).status)
	refused = r.upload(t, 1001).problem(t)
	require.Contains(t, refused.Errors[0].Message, "deactivate the 1 access links that keep the watermark of a deleted generic link")
	require.Equal(t, 200, r.patch(t, "/api/v1/access-links/"+guest["id"].(string), `{"is_active":false}`).status)

	plain := r.post(t, linksPath, `{"lead_magnet_id":"`+r.magnet.ID+`"}`).object(t)
	require.Equal(t, 200, r.upload(t, 1001).status)
	for _, refused := range []reply{r.post(t, linksPath, `{"lead_magnet_id":"`+r.magnet.ID+`","gate":{"watermark":true}}`),
		r.patch(t, linksPath+"/"+plain["id"].(string), `{"gate":{"watermark":true}}`)} {
		p := refused.problem(t)
		require.Equal(t, "gate.watermark", fields(p))
		require.Equal(t, "cannot be true: the document has 1001 pages, and a watermark is drawn on 1000 at most; "+
			"upload a version with fewer first", p.Errors[0].Message)
	}
}

// A document that cannot be stamped is not shown without the mark.
func TestDocumentsAreNotShownWithoutTheirMark(t *testing.T) {
	t.Parallel()
	r := newReading(t, 0)
	link := r.post(t, linksPath, `{"lead_magnet_id":"`+r.magnet.ID+`","gate":{"watermark":true}}`).object(t)
	r.post(t, linksPath+"/"+link["id"].(string)+"/recipients", `{"recipients":[{"email":"guest@example.com"}]}`).object(t)
	recipients := r.get(t, linksPath+"/"+link["id"].(string)+"/recipients").object(t)["data"].([]any)
	path := strings.TrimPrefix(recipients[0].(map[string]any)["url"].(string), site)
	_, err := r.fixture.db.Unscoped().Exec(t.Context(), `UPDATE generic_links SET watermark = false WHERE lead_magnet_id = $1`, r.magnet.ID)
	require.NoError(t, err)
	put := r.upload(t, 1001)
	require.Equal(t, 200, put.status, put.body)
	_, err = r.fixture.db.Unscoped().Exec(t.Context(), `UPDATE generic_links SET watermark = true WHERE lead_magnet_id = $1`, r.magnet.ID)
	require.NoError(t, err)
	status, o := r.open(path, "{}")
	require.Equal(t, http.StatusServiceUnavailable, status)
	require.Empty(t, o.File)
	opened, _ := r.ask("POST", path+"/open", "", "Content-Type", "application/x-www-form-urlencoded",
		"Sec-Fetch-Site", "same-origin")
	require.Equal(t, http.StatusSeeOther, opened.StatusCode)
	got, page := r.ask("GET", opened.Header.Get("Location"), "")
	require.Equal(t, http.StatusInternalServerError, got.StatusCode)
	require.NotContains(t, string(page), "%PDF")
}

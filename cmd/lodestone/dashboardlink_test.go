package main

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/client"
)

// object is an answer of the API.
type object = map[string]any

// api calls the API with the owner's key, and returns the answer.
func (v *owner) api(method, path string, body any) (status int, answer object) {
	v.t.Helper()
	var text io.Reader = http.NoBody
	if body != nil {
		encoded, err := json.Marshal(body)
		require.NoError(v.t, err)
		text = bytes.NewReader(encoded)
	}
	req, err := http.NewRequestWithContext(v.t.Context(), method, v.site+path, text)
	require.NoError(v.t, err)
	req.Header.Set("Authorization", "Bearer "+v.key)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	require.NoError(v.t, err)
	defer func() { _ = res.Body.Close() }()
	out, err := io.ReadAll(res.Body)
	require.NoError(v.t, err)
	if len(out) > 0 {
		require.NoError(v.t, json.Unmarshal(out, &answer), "%s", out)
	}
	return res.StatusCode, answer
}

// signInWithKey returns the browser of someone whose session may do what a key may.
func (v *owner) signInWithKey(scopes ...string) *owner {
	v.t.Helper()
	_, made := v.api("POST", "/api/v1/keys", object{"name": strings.Join(scopes, " "), "scopes": scopes})
	other := signInByKey(v.t, v.site, made["key"].(string))
	other.key = v.key
	return other
}

// forge posts a form that no screen showed, with the token of the session.
func (v *owner) forge(action string, values url.Values) screen {
	v.t.Helper()
	values.Set("csrf", v.token())
	res, err := v.http.PostForm(v.site+action, values)
	require.NoError(v.t, err)
	return v.read(res)
}

// token returns the session's token of forms, from a screen that is cheap and has one.
func (v *owner) token() string {
	v.t.Helper()
	for _, form := range v.open(settings+"/sessions").find("form", "") {
		if token := fields(form).Get("csrf"); token != "" {
			return token
		}
	}
	require.Fail(v.t, "no token")
	return ""
}

// has asserts that the HTML of a screen has a text; lacks that it has not. The last words are why.
func (s screen) has(text string, why ...any) {
	s.t.Helper()
	require.Contains(s.t, s.text, text, append([]any{s.path}, why...)...)
}

func (s screen) lacks(text string, why ...any) {
	s.t.Helper()
	require.NotContains(s.t, s.text, text, append([]any{s.path}, why...)...)
}

// wrong are the messages beside the fields of a screen.
func (s screen) wrong() (list []string) {
	for _, n := range s.find("span", "wrong") {
		list = append(list, textOf(n))
	}
	return list
}

// harmless asserts that nothing that was typed became an element.
func (s screen) harmless() {
	s.t.Helper()
	require.Equal(s.t, http.StatusOK, s.status, s.path)
	for _, n := range s.find("img", "") {
		require.NotEqual(s.t, "x", attr(n, "src"), s.path)
	}
	for _, n := range s.find("script", "") {
		require.NotEmpty(s.t, attr(n, "nonce"), s.path)
	}
	for _, n := range s.find("a", "") {
		require.NotContains(s.t, strings.ToLower(attr(n, "href")), "javascript:", s.path)
	}
	s.has("&lt;img src=x", "%s shows it as text", s.path)
}

const evil = `"'><img src=x onerror=alert(1)>`

// newGuide publishes the demo's PDF without a link.
func (u *up) newGuide(title string) client.LeadMagnet {
	u.t.Helper()
	api := client.New(client.Config{URL: u.env["LODESTONE_URL"], Key: u.env["LODESTONE_API_KEY"]})
	magnet, err := api.CreateLeadMagnet(u.t.Context(), client.NewLeadMagnet{Title: title})
	require.NoError(u.t, err)
	pdf, err := os.ReadFile(filepath.Join("demo", "guide.pdf"))
	require.NoError(u.t, err)
	magnet, err = api.UploadFile(u.t.Context(), magnet.ID, "guide.pdf", bytes.NewReader(pdf))
	require.NoError(u.t, err)
	return magnet
}

// A link is made, changed, closed and deleted in the dashboard, and the API has what was typed.
func TestDashboardLinks(t *testing.T) {
	t.Parallel()
	u := sharedUp(t)
	v := signIn(t, u)
	magnet := u.newGuide("The Guide " + evil)
	v.open("/dashboard/links").has("New link")

	// What the API refuses is beside its field, and nothing typed is lost.
	form := v.open("/dashboard/links/new?magnet=" + magnet.ID)
	s := v.send(form, "/dashboard/links/new", url.Values{"slug": {"Not A Slug"}, "title": {"My title"},
		"redirect_url": {"nowhere"}, "gate.allow": {"example.com\r\nab"}, "gate.agreement.title": {"NDA"}})
	require.Equal(t, http.StatusUnprocessableEntity, s.status)
	require.Len(t, s.wrong(), 4)
	s.has("My title")
	s.has("Not A Slug")

	s = v.send(form, "/dashboard/links/new", url.Values{
		"slug": {"spring"}, "title": {evil}, "description": {"Two\r\nlines " + evil}, "consent_text": {evil},
		"button_text": {evil}, "collect_name": {"true"},
		"require_verification": {"true"}, "language": {"de"},
		"privacy_url": {"https://example.com/privacy?" + url.QueryEscape(evil)},
		"gate.allow":  {"Example.com\r\nann@other.example"}, "gate.block": {"eve@example.com"}, "gate.max_people": {"50"},
		"gate.passcode": {"sesame"}, "gate.agreement.title": {evil}, "gate.agreement.text": {"Two\r\nlines"},
		"gate.watermark": {"true"},
	})
	s.harmless()
	s.has("The page is live.")
	id, _, _ := strings.Cut(strings.TrimPrefix(s.path, "/dashboard/links/"), "?")
	path, api := "/dashboard/links/"+id, "/api/v1/generic-links/"+id
	_, l := v.api("GET", api, nil)
	require.Equal(t, object{
		"slug": "spring", "title": evil, "description": "Two\nlines " + evil, "consent_text": evil, "button_text": evil,
		"language": "de", "collect_name": true,
		"require_verification": true, "show_contents": true, "show_pages": true, "show_readers": false, "redirect_url": nil,
		"lead_magnet_id": magnet.ID,
	}, pick(l, "slug", "title", "description", "consent_text", "button_text", "language", "collect_name",
		"require_verification", "show_contents", "show_pages", "show_readers",
		"redirect_url", "lead_magnet_id"))

	require.Equal(t, object{"allow": []any{"example.com", "ann@other.example"}, "block": []any{"eve@example.com"},
		"max_people": 50.0, "passcode_set": true, "agreement": object{"title": evil, "text": "Two\nlines"},
		"watermark": true}, l["gate"])

	// A form that no one changed changes nothing; the picture stays that of the document.
	edit := path + "/edit"
	v.send(v.open(edit), path, nil)
	_, same := v.api("GET", api, nil)
	require.Equal(t, l["updated_at"], same["updated_at"])

	// Two who edit at a time: the second one is asked.
	first, second := v.open(edit), v.open(edit)
	s = v.send(first, path, url.Values{"title": {"Spring"}, "description": {""}, "collect_name": nil})
	s.has("Saved.")
	_, l = v.api("GET", api, nil)
	require.Equal(t, object{"title": "Spring", "description": nil, "collect_name": false},
		pick(l, "title", "description", "collect_name"))
	s = v.send(second, path, url.Values{"title": {"Summer"}})
	require.Equal(t, http.StatusConflict, s.status)
	s = v.send(s, path, url.Values{"gate.allow": {""}, "gate.block": {""}, "gate.max_people": {""},
		"no_passcode": {"true"}, "gate.watermark": nil, "gate.agreement.title": {""}, "gate.agreement.text": {""}})
	require.Equal(t, http.StatusOK, s.status)
	_, l = v.api("GET", api, nil)
	require.Equal(t, "Summer", l["title"])
	require.Equal(t, object{"allow": []any{}, "block": []any{}, "max_people": nil, "passcode_set": false,
		"agreement": nil, "watermark": false}, l["gate"])

	s = v.send(s, path+"/active", nil)
	_, l = v.api("GET", api, nil)
	require.Equal(t, false, l["active"])
	s.has("Reopen page")
	v.send(s, path+"/active", nil)

	v.recipients(path, magnet.ID)
	v.submissions(path, id)
	v.strangers(path, id)

	// The copy has the settings, under an address of its own. An archived link is out of the list.
	s = v.send(v.open(path), path+"/duplicate", nil)
	s.has("This is the copy.")
	s.has("Summer (copy)")
	another := strings.TrimSuffix(strings.Split(s.path, "?")[0], "/edit")
	s = v.send(v.open(another), another+"/archive", nil)
	s.has("Bring back")
	v.open("/dashboard/links?magnet=" + magnet.ID).lacks("Summer (copy)")
	v.open("/dashboard/links?q=summer&status=archived").has("Summer (copy)")
	v.send(s, another+"/archive", nil).lacks("Bring back")
	v.open("/dashboard/links?q=nothing+like+it").has("No link matches.")

	s = v.send(v.open(edit), path+"/delete", url.Values{"confirm": {"summer"}})
	require.Equal(t, http.StatusUnprocessableEntity, s.status)
	require.Equal(t, []string{"Type spring to confirm."}, s.wrong())
	v.send(s, path+"/delete", url.Values{"confirm": {"spring"}})
	status, _ := v.api("GET", api, nil)
	require.Equal(t, http.StatusNotFound, status)
	require.Equal(t, http.StatusNotFound, v.open(path).status)
	require.Equal(t, http.StatusNotFound, v.open("/dashboard/links/nothing").status)
}

func pick(o object, names ...string) object {
	out := object{}
	for _, name := range names {
		out[name] = o[name]
	}
	return out
}

// recipients adds people to the list of a link after a preview, sends them the document, and finds
// them there.
func (v *owner) recipients(path, magnet string) {
	v.t.Helper()
	v.open(path).has("Add recipients")
	path += "/recipients"
	s := v.send(v.open(path), path, url.Values{"list": {"PK\x03\x04"}})
	require.Equal(v.t, http.StatusUnprocessableEntity, s.status)
	s.has("The list is an Excel workbook")
	s = v.send(v.open(path), path, url.Values{"list": {"Ada Byron <ada@example.com>, mistyped, ada@example.com\r\n" +
		`"` + strings.ReplaceAll(evil, `"`, `""`) + `" <bob@example.com>`}})
	require.Equal(v.t, http.StatusOK, s.status)
	s.has("2 recipients will be added")
	s.has("1 row repeats an email address")
	s.has("Ada Byron")
	_, made := v.api("GET", "/api/v1/access-links?lead_magnet_id="+magnet, nil)
	require.Empty(v.t, made["data"])
	s = v.send(s, path, nil)
	s.has("2 recipients added")
	s.has("Ada Byron")
	s.has("not sent")
	s = v.send(s, path+"/send", url.Values{"subject": {"{company}"}})
	require.Equal(v.t, []string{"Has {company}; allowed is {name}."}, s.wrong())
	s = v.send(s, path+"/send", url.Values{"subject": {"A guide"}})
	s.has("2 emails are on their way")
	s.has("Every recipient has been sent the document")
	s = v.send(s, path+"/remind", url.Values{"do": {"rule"}, "before_page": {"4"}})
	s.has("Reminders are sent automatically")
	s.has("Stop automatic reminders")
	s = v.send(s, path+"/remind", url.Values{"do": {"off"}})
	s.has("Automatic reminders are off")
	_, made = v.api("GET", "/api/v1/access-links?lead_magnet_id="+magnet, nil)
	require.Len(v.t, made["data"], 2)
	for _, one := range made["data"].([]any) {
		s.has(one.(object)["url"].(string))
	}
}

// submissions sends the form of the page, and finds it in the list.
func (v *owner) submissions(path, id string) {
	v.t.Helper()
	v.open(path).has("No submissions yet")
	status, _ := v.api("PATCH", "/api/v1/generic-links/"+id, object{"require_verification": false,
		"collect_name": true, "consent_text": nil})
	require.Equal(v.t, http.StatusOK, status)
	stranger := visitor{v.t, &http.Client{Timeout: time.Minute}}
	for i := range 27 {
		name := fmt.Sprint("Reader ", i)
		if i == 3 {
			name = evil
		}
		stranger.submit(v.site+"/l/spring?utm_source="+url.QueryEscape(evil),
			url.Values{"email": {fmt.Sprintf("reader%d@example.com", i)}, "name": {name}, "utm_source": {evil}})
	}
	_, page := v.api("GET", "/api/v1/generic-links/"+id+"/submissions?per_page=25", nil)
	s := v.open(path)
	table := s.find("table", "submissions")[0]
	var shown, want []string
	for n := range table.Descendants() {
		if n.Data == "th" && attr(n, "scope") == "row" {
			shown = append(shown, textOf(n))
		}
	}
	for _, one := range page["data"].([]any) {
		want = append(want, one.(object)["email"].(string))
	}
	require.Equal(v.t, want, shown)
	var older string
	for _, a := range s.find("a", "quiet") {
		if textOf(a) == "Older" {
			older = attr(a, "href")
		}
	}
	v.open(older).has("reader0@example.com")
	v.turned(s, "submissions", "reader0@example.com")

	found := v.open(path + "?q=READER13@")
	found.has("reader13@example.com")
	found.lacks("reader14@example.com")
	v.open(path + "?q=nowhere").has("No email or name contains")
	require.Equal(v.t, http.StatusOK, v.open(path+"?cursor=mistyped").status)
	v.open(path + "?q=" + url.QueryEscape(evil) + "&column=name&column=source&column=campaign").harmless()

	// The address leads to the reader's screen.
	_, access := v.api("GET", "/api/v1/access-links?email=reader13@example.com", nil)
	links := access["data"].([]any)
	link := links[len(links)-1].(object)["id"].(string) // the oldest has the screen
	for n := range found.find("table", "submissions")[0].Descendants() {
		if n.Data == "a" && textOf(n) == "reader13@example.com" {
			require.Equal(v.t, "/dashboard/readers/"+link, v.open(attr(n, "href")).path)
		}
	}
	res, err := v.http.Get(v.site + path + "/submissions.csv?q=reader1")
	require.NoError(v.t, err)
	require.Contains(v.t, res.Header.Get("Content-Disposition"), "attachment")
	rows, err := csv.NewReader(res.Body).ReadAll()
	require.NoError(v.t, err)
	require.NoError(v.t, res.Body.Close())
	require.Len(v.t, rows, 1+11) // reader1 and reader10 to reader19
	code, err := v.http.Get(v.site + path + "/qr?format=png")
	require.NoError(v.t, err)
	require.NoError(v.t, code.Body.Close())
	require.Equal(v.t, "image/png", code.Header.Get("Content-Type"))
	v.acts(link)
}

// turned opens a list in the other order, which a link of the screen and its address keep, and
// turns it back. oldest is the last row of all, if they fill more than a page.
func (v *owner) turned(s screen, class, oldest string) {
	v.t.Helper()
	named := func(s screen, words string) string {
		for _, a := range s.find("a", "") {
			if textOf(a) == words {
				return attr(a, "href")
			}
		}
		require.Fail(v.t, "no link is called "+words)
		return ""
	}
	first := func(s screen) string {
		for n := range s.find("table", class)[0].Descendants() {
			if n.Data == "th" && attr(n, "scope") == "row" {
				return textOf(n)
			}
		}
		return ""
	}
	newest, other := first(s), v.open(named(s, "Oldest first"))
	require.NotEqual(v.t, newest, first(other))
	if oldest != "" {
		require.Equal(v.t, oldest, first(other))
		other = v.open(named(other, "Newer"))
		other.has(newest)
		require.Equal(v.t, oldest, first(v.open(named(other, "Oldest"))))
	}
	require.Equal(v.t, newest, first(v.open(named(other, "Newest first"))))
}

// acts tries what can be done about one reader: see the document, the QR code, everything that is
// stored, and delete form and link.
func (v *owner) acts(link string) {
	v.t.Helper()
	path := "/dashboard/readers/" + link
	own := path + "/links/" + link
	s := v.send(v.open(path), own+"/preview", nil)
	require.Equal(v.t, http.StatusOK, s.status)
	require.Contains(v.t, s.path, "/a/")
	code, err := v.http.Get(v.site + own + "/qr?format=svg")
	require.NoError(v.t, err)
	require.NoError(v.t, code.Body.Close())
	require.Equal(v.t, "image/svg+xml", code.Header.Get("Content-Type"))
	s = v.send(v.open(path), path+"/export", nil)
	require.Equal(v.t, http.StatusOK, s.status)
	s.has("reader13@example.com")
	_, log := v.api("GET", "/api/v1/audit-log?action=export-person", nil)
	require.Len(v.t, log["data"], 1)

	_, submissions := v.api("GET", "/api/v1/analytics/readers/"+link, nil)
	form := submissions["submissions"].([]any)[0].(object)["id"].(string)
	v.send(v.open(path), path+"/forms/"+form+"/delete", nil)
	v.open(path).lacks("/forms/")
	v.send(v.open(path), own+"/delete", nil)
	status, _ := v.api("GET", "/api/v1/access-links/"+link, nil)
	require.Equal(v.t, http.StatusNotFound, status)
}

// strangers are sessions that may less: they see no forms, and the API refuses what they forge.
func (v *owner) strangers(path, id string) {
	v.t.Helper()
	analyst := v.signInWithKey("read", "leads")
	s := analyst.open(path)
	require.Equal(v.t, http.StatusOK, s.status)
	s.has("reader26@example.com")
	for _, action := range []string{path, path + "/active", path + "/archive", path + "/duplicate", path + "/delete",
		path + "/recipients"} {
		s.lacks(`action="`+action, action)
		require.Equal(v.t, http.StatusForbidden,
			analyst.forge(action, url.Values{"confirm": {"spring"}, "title": {"x"}, "emails": {"eve@example.com"}}).status,
			action)
	}
	analyst.open("/dashboard/links/new").has("You have read-only access")
	blind := v.signInWithKey("read", "write")
	s = blind.open(path)
	s.lacks("@example.com")
	require.Equal(v.t, http.StatusForbidden, blind.open(path+"/submissions.csv").status)
	_, l := v.api("GET", "/api/v1/generic-links/"+id, nil)
	require.Equal(v.t, "Summer", l["title"])
}

// links compares the numbers of the list and of each link with the API.
func (v *owner) links(t *testing.T, p span) {
	t.Helper()
	all := v.ask(`{"metrics":["visitors","submissions","submission_rate","people","people_finished","people_finish_rate"],"dimensions":["generic_link_id"],` + p.whole() + `}`)
	numbers := map[string]map[string]any{}
	for _, r := range all.Rows {
		if id, ok := r["generic_link_id"].(string); ok {
			numbers[id] = r
		}
	}
	require.NotEmpty(t, numbers)
	screen := v.open("/dashboard/links?" + p.query)
	list := screen.find("table", "links")[0]
	found := 0
	var listed []string
	for n := range list.Descendants() {
		if n.Data != "tr" || n.Parent.Data != "tbody" {
			continue
		}
		var id string
		for a := range n.Descendants() {
			if a.Data == "a" && strings.HasPrefix(attr(a, "href"), "/dashboard/links/") {
				id, _, _ = strings.Cut(strings.TrimPrefix(attr(a, "href"), "/dashboard/links/"), "?")
			}
		}
		listed = append(listed, id)
		row, known := numbers[id]
		if !known {
			row = map[string]any{"visitors": 0, "submissions": 0, "submission_rate": nil, "people": 0,
				"people_finished": 0, "people_finish_rate": nil}
		} else {
			found++
		}
		for _, metric := range []string{"visitors", "submissions", "submission_rate", "people", "people_finished",
			"people_finish_rate"} {
			require.Equal(t, []string{exact(row[metric])}, shown(n, metric), "%s of %s", metric, id)
		}
		if p.days() == 30 || len(listed) == 1 {
			v.link(t, p, id)
		}
	}
	require.NotZero(t, found)
	for _, metric := range []string{"visitors", "submissions", "people_finished"} {
		ranked := v.open("/dashboard/links?"+p.query+"&sort="+metric).find("table", "links")[0]
		require.True(t, slices.IsSortedFunc(shown(ranked, metric), func(a, b string) int {
			x, err := strconv.ParseFloat(a, 64)
			require.NoError(t, err)
			y, err := strconv.ParseFloat(b, 64)
			require.NoError(t, err)
			return cmp.Compare(y, x)
		}), metric)
	}
	these := v.ask(`{"metrics":["visitors"],"filters":{"generic_link_id":["` + strings.Join(listed,
		`","`) + `"]},` + p.whole() + `}`)
	require.Equal(t, []string{exact(these.ExcludedBots)}, shown(screen.root, "excluded_bots"))
	screen.requireAllCompared()
}

// link compares the numbers of one link.
func (v *owner) link(t *testing.T, p span, id string) {
	t.Helper()
	s := v.open("/dashboard/links/" + id + "?" + p.query)
	only := `"filters":{"generic_link_id":["` + id + `"]},`
	totals := v.ask("{" + allMetrics + only + p.bounds() + `}`)
	strip := s.find("section", "strip")[0]
	for _, metric := range slices.DeleteFunc(totals.tileMetrics(),
		func(metric string) bool { return metric == "reading_ms" }) {
		require.Equal(t, []string{exact(totals.Totals[metric])}, shown(strip, metric), "%s of %s", metric, id)
	}
	numbers := screen{t: t, root: strip}
	require.NotEmpty(t, numbers.linkTo("#submissions"), "forms lead to the submissions")
	people := v.open(numbers.linkTo("/dashboard/readers?", "generic_link_id="+id))
	require.Equal(t, http.StatusOK, people.status)
	among := v.ask(`{"metrics":["people"],` + only + p.bounds() + `}`)
	require.Equal(t, []string{exact(among.Totals["people"])},
		shown(people.find("h1", "")[0], "people"), "the people of %s", id)
	s.requireOnly(s.find("h1", "")[0], totals.Totals)
	require.Equal(t, []string{exact(totals.ExcludedBots)}, shown(s.root, "excluded_bots"))
	for _, metric := range []string{"visitors", "submissions"} {
		require.Equal(t, totals.column(metric), shown(s.find("figure", "chart")[0], metric), "%s of %s over time", metric, id)
	}
	tables := s.find("table", "sources")
	for _, dimension := range []string{"utm_source", "utm_campaign", "referrer_host"} {
		sources := v.ask(`{"metrics":["visitors","submissions","submission_rate","people","people_finish_rate"],"dimensions":["` + dimension + `"],"limit":10,` + only + p.whole() + `}`)
		if len(sources.Rows) == 0 {
			continue
		}
		require.NotEmpty(t, tables, dimension)
		s.requireRows(tables[0], sources, "visitors", "submissions", "submission_rate", "people", "people_finish_rate")
		tables = tables[1:]
	}
	require.Empty(t, tables)
	s.requireAllCompared()
}

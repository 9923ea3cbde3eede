package main

import (
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"lodestone/cmd/lodestone/demo"
	"lodestone/pkg/client"
	"lodestone/pkg/test/enginetest"
)

// plantPeople publishes a document, and lets people come to it in every way: by the form, once and
// twice, and by both links that it gives; by links of the API, one of them by two links; without
// reading; and a bot. Their browsers share an address, so more forms are sent than visitors are
// counted.
func (v *owner) plantPeople(t *testing.T, u *up) (magnet, link string) {
	t.Helper()
	before := map[string]bool{}
	for _, m := range v.magnetsList() {
		before[m.ID] = true
	}
	s := v.upload(v.open("/dashboard/new"), "/dashboard/new", "planted.pdf", demo.Guide(),
		map[string]string{"title": "Planted", "slug": "planted"})
	require.Equal(t, http.StatusOK, s.status, s.text)
	var pages int
	for _, m := range v.magnetsList() {
		if !before[m.ID] {
			magnet, pages = m.ID, *m.PageCount
		}
	}
	var links client.Page[client.GenericLink]
	v.call(http.MethodGet, "/api/v1/generic-links?lead_magnet_id="+magnet, "", &links)
	link = links.Data[0].ID
	person := visitor{t, &http.Client{Timeout: time.Minute, Transport: browserAgent(adasAgent)}}
	_, landing := person.send(http.MethodGet, v.site+"/l/planted", "", "")
	person.send(http.MethodGet, html.UnescapeString(pixel.FindString(landing)), "", "")
	for _, name := range []string{"ann", "ann", "bob", "cid"} {
		person.submit(v.site+"/l/planted", url.Values{"email": {name + "@people.example"}, "utm_source": {"planted"}})
	}
	for _, name := range []string{"dora", "dora", "egon", "fay"} {
		v.call(http.MethodPost, "/api/v1/access-links", `{"lead_magnet_id":"`+magnet+`","email":"`+name+
			`@people.example"}`, &struct{}{})
	}
	var made client.Page[client.AccessLink]
	v.call(http.MethodGet, "/api/v1/access-links?per_page=100&lead_magnet_id="+magnet, "", &made)
	of := map[string][]client.AccessLink{}
	for _, l := range made.Data {
		name, _, _ := strings.Cut(l.Email, "@")
		of[name] = append(of[name], l)
	}
	require.Greater(t, len(of["ann"]), 1, "the form gave a link in the browser and one by mail")
	view := func(l client.AccessLink, page int, agent string) {
		u.event(t, l, agent, map[string]any{"event_type": "page_viewed", "session_id": uuid.NewString(),
			"event_data": map[string]any{"page": page, "duration_ms": 2000}})
	}
	view(of["ann"][0], 1, adasAgent)
	view(of["ann"][1], pages, adasAgent)
	view(of["bob"][0], 2, adasAgent)
	view(of["dora"][0], 1, adasAgent)
	view(of["dora"][1], 3, adasAgent)
	view(of["egon"][0], pages, adasAgent)
	view(of["fay"][0], 1, "Googlebot/2.1 (+http://www.google.com/bot.html)")
	u.download(t, of["egon"][0], adasAgent)
	return magnet, link
}

// browserAgent is a transport that calls itself a browser.
type browserAgent string

// RoundTrip implements http.RoundTripper.
func (a browserAgent) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("User-Agent", string(a))
	return http.DefaultTransport.RoundTrip(r)
}

// pixel is the picture of a landing page that counts a visitor without scripts.
var pixel = regexp.MustCompile(`[^"]+/v1/pixel\.gif\?[^"]+`)

var percentage = regexp.MustCompile(`(\d[\d,]*) %`)

// planted compares every screen about planted people with what they did.
func (v *owner) planted(t *testing.T, u *up) {
	t.Helper()
	magnet, link := v.plantPeople(t, u)
	p := lastDays(7, utcDay())
	only := `"filters":{"lead_magnet_id":["` + magnet + `"]},`
	var total reported
	require.Eventually(t, func() bool {
		total = v.ask("{" + allMetrics + only + p.bounds() + "}")
		return total.Totals["people"] == 4.0 && total.Totals["people_downloaded"] == 1.0 &&
			total.Totals["submissions"] == 3.0 && total.Totals["visitors"] == 1.0 && total.ExcludedBots > 0
	}, enginetest.Timeout, seldom, "%v", &total)
	for metric, want := range map[string]float64{
		"verified": 3, "confirmations": 0, "people_finished": 2, "people_without_form": 2, "people_finish_rate": 0.5,
		"people_download_rate": 0.25, "submission_rate": 3,
	} {
		require.InDelta(t, want, total.Totals[metric], 1e-9, metric)
	}
	v.magnet(t, p, magnet, "", total)
	v.link(t, p, link)
	var share struct{ URL string }
	v.call(http.MethodPost, "/api/v1/lead-magnets/"+magnet+"/shares", "{}", &share)
	for _, path := range []string{
		"/dashboard/magnets/" + magnet, "/dashboard/links/" + link, "/dashboard/links?magnet=" + magnet,
		strings.TrimPrefix(share.URL, v.site),
	} {
		s := v.open(path)
		for node := range s.root.Descendants() { // text by text: cells stand beside each other
			if node.Type != html.TextNode {
				continue
			}
			for _, found := range percentage.FindAllStringSubmatch(node.Data, -1) {
				n, err := strconv.Atoi(strings.ReplaceAll(found[1], ",", ""))
				require.NoError(t, err)
				require.LessOrEqual(t, n, 100, "%s says %s", path, found[0])
			}
		}
		require.Regexp(t, `(?i)more forms than counted visitors|more than the .* counted visitor`, s.text,
			"%s says why there is no rate", path)
		require.NotContains(t, s.text, "Confirmed", "%s: nothing is confirmed there", path)
	}
	shown := v.open("/dashboard/magnets/" + magnet)
	require.Contains(t, v.open(shown.linkTo("/dashboard/readers?", "from_form=false", magnet)).text, "dora@people.example")
	v.keepsTheList(t, magnet)
}

// keepsTheList goes from a list that was searched, filtered and ordered to a person, and back to
// the same list.
func (v *owner) keepsTheList(t *testing.T, magnet string) {
	t.Helper()
	list := "/dashboard/readers?" + url.Values{"q": {"dora"}, "lead_magnet_id": {magnet}, "sort": {"-score"},
		"finished": {"false"}, "days": {"7"}}.Encode()
	reader := v.open(v.open(list).linkTo("/dashboard/readers/", "list="))
	back := v.open(reader.linkTo("/dashboard/readers?", "q=dora"))
	require.Contains(t, back.text, "dora@people.example")
	require.NotContains(t, back.text, "egon@people.example")
	require.Equal(t, list, reader.linkTo("/dashboard/readers?", "q=dora"))
	other := v.open(strings.Split(v.open(list).linkTo("/dashboard/readers/", "list="), "?")[0] + "?list=" +
		url.QueryEscape("q=dora&next=https://example.com"))
	require.NotContains(t, other.linkTo("/dashboard/readers?", "q=dora"), "example.com",
		"the address of the list says what a list is of, nothing else")
}

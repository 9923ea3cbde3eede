package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"lodestone/pkg/engine/enginetest"
)

// owner is the browser of an owner who is signed in to the dashboard, without scripts.
type owner struct {
	t    *testing.T
	site string
	key  string // API key of the same account
	http *http.Client
}

// signIn opens the address that `lodestone up` printed.
func signIn(t *testing.T, u *up) *owner {
	t.Helper()
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	v := &owner{t: t, site: u.env["LODESTONE_URL"], key: u.env["LODESTONE_API_KEY"], http: &http.Client{Jar: secureJar{jar}, Timeout: time.Minute}}
	res, err := v.http.Get(u.env["LODESTONE_DASHBOARD_URL"])
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.Equal(t, "/dashboard", res.Request.URL.Path)
	return v
}

// secureJar sends cookies with Secure to this machine, as browsers do.
type secureJar struct{ *cookiejar.Jar }

func (j secureJar) SetCookies(u *url.URL, cookies []*http.Cookie) {
	j.Jar.SetCookies(https(u), cookies)
}

func (j secureJar) Cookies(u *url.URL) []*http.Cookie { return j.Jar.Cookies(https(u)) }

func https(u *url.URL) *url.URL {
	secure := *u
	secure.Scheme = "https"
	return &secure
}

// screen is a page of the dashboard as a browser reads it.
type screen struct {
	t      *testing.T
	status int
	text   string
	root   *html.Node
	path   string
}

func (v *owner) open(path string) screen {
	v.t.Helper()
	res, err := v.http.Get(v.site + path)
	require.NoError(v.t, err)
	return v.read(res)
}

func (v *owner) read(res *http.Response) screen {
	v.t.Helper()
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	require.NoError(v.t, err)
	root, err := html.Parse(bytes.NewReader(text))
	require.NoError(v.t, err)
	return screen{v.t, res.StatusCode, string(text), root, res.Request.URL.RequestURI()}
}

// send posts a form of a screen, with the values of its fields changed.
func (v *owner) send(s screen, action string, change url.Values) screen {
	v.t.Helper()
	values := url.Values{}
	found := false
	for n := range s.root.Descendants() {
		if n.Data == "form" && attr(n, "action") == action {
			found = true
			values = fields(n)
			break
		}
	}
	require.True(v.t, found, "%s has no form to %s", s.path, action)
	maps.Copy(values, change)
	res, err := v.http.PostForm(v.site+action, values)
	require.NoError(v.t, err)
	return v.read(res)
}

// fields are what a browser sends of a form that no one changed.
func fields(form *html.Node) url.Values {
	values := url.Values{}
	for n := range form.Descendants() {
		name := attr(n, "name")
		switch {
		case name == "":
		case n.Data == "textarea":
			values.Add(name, strings.TrimPrefix(textOf(n), "\n"))
		case n.Data == "select":
			for o := range n.Descendants() {
				if o.Data == "option" && slices.ContainsFunc(o.Attr, func(a html.Attribute) bool { return a.Key == "selected" }) {
					values.Add(name, attr(o, "value"))
				}
			}
		case attr(n, "type") == "checkbox" && !slices.ContainsFunc(n.Attr, func(a html.Attribute) bool { return a.Key == "checked" }):
		case n.Data == "input" || n.Data == "button":
			values.Add(name, attr(n, "value"))
		}
	}
	return values
}

func attr(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

func textOf(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data)
		}
	}
	return b.String()
}

// find returns the elements of a screen with a class, or all with "".
func (s screen) find(tag, class string) (list []*html.Node) {
	for n := range s.root.Descendants() {
		if n.Type == html.ElementNode && n.Data == tag && (class == "" || slices.Contains(strings.Fields(attr(n, "class")), class)) {
			list = append(list, n)
		}
	}
	return list
}

// shown returns the exact numbers of the metrics below a node, in order.
func shown(n *html.Node, metric string) (list []string) {
	for d := range n.Descendants() {
		if attr(d, "data-metric") == metric {
			list = append(list, attr(d, "data-value"))
		}
	}
	return list
}

// ask asks the API a question, and returns the answer.
func (v *owner) ask(question string) (answer struct {
	Rows         []map[string]any `json:"rows"`
	Totals       map[string]any   `json:"totals"`
	ExcludedBots float64          `json:"excluded_bots"`
}) {
	v.t.Helper()
	req, err := http.NewRequestWithContext(v.t.Context(), http.MethodPost, v.site+"/api/v1/analytics/query", strings.NewReader(question))
	require.NoError(v.t, err)
	req.Header.Set("Authorization", "Bearer "+v.key)
	req.Header.Set("Content-Type", "application/json")
	res, err := v.http.Do(req)
	require.NoError(v.t, err)
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	require.NoError(v.t, err)
	require.Equal(v.t, http.StatusOK, res.StatusCode, "%s", text)
	var all struct{ Data []json.RawMessage }
	require.NoError(v.t, json.Unmarshal(text, &all))
	require.NoError(v.t, json.Unmarshal(all.Data[0], &answer))
	return answer
}

// exact is a number as screens write it.
func exact(v any) string {
	if v == nil {
		return ""
	}
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(text)
}

// Every number of the dashboard is the one that the API answers.
func TestDashboardShowsWhatTheAPIAnswers(t *testing.T) {
	t.Parallel()
	u := newUp(t)
	u.start()
	past := launch(t, u.dir, nil, "demo", "--days", "20", "--seed", "3")
	require.Zero(t, past.wait(), "%s", past.out)
	v := signIn(t, u)

	v.overview(t)
	u.interrupt(enginetest.Timeout)
}

func (v *owner) overview(t *testing.T) {
	t.Helper()
	for _, days := range []int{7, 30} {
		s := v.open(fmt.Sprintf("/dashboard?days=%d", days))
		require.Equal(t, http.StatusOK, s.status)
		today := time.Now().UTC()
		bounds := fmt.Sprintf(`"from":"%s","to":"%s"`, today.AddDate(0, 0, 1-days).Format(time.DateOnly), today.AddDate(0, 0, 1).Format(time.DateOnly))
		total := v.ask(`{"metrics":["visitors","submissions","submission_rate","verified","readers","finished","finish_rate","downloads","download_rate"],"interval":"day",` + bounds + `}`)
		tiles := s.find("section", "tiles")
		require.Len(t, tiles, 1)
		for metric, want := range total.Totals {
			require.Equal(t, []string{exact(want)}, shown(tiles[0], metric), "%s of %d days", metric, days)
		}
		require.NotZero(t, total.Totals["readers"])
		require.Equal(t, []string{exact(total.ExcludedBots)}, shown(s.root, "excluded_bots"))

		var byDay []string
		for _, r := range total.Rows {
			byDay = append(byDay, exact(r["readers"]))
		}
		tables := s.find("table", "")
		require.Equal(t, byDay, shown(tables[0], "readers"), "the table behind the tiles")
		require.Equal(t, byDay, shown(s.find("figure", "chart")[0], "readers"), "the table behind the chart")

		magnets := v.ask(`{"metrics":["readers","link_views","submissions","finish_rate","downloads"],"dimensions":["lead_magnet_id"],` + bounds + `}`)
		list := s.find("table", "magnets")[0]
		for _, metric := range []string{"readers", "link_views", "submissions", "downloads"} {
			var want []string
			for _, r := range magnets.Rows {
				want = append(want, exact(r[metric]))
			}
			require.Equal(t, want, shown(list, metric)[:len(want)], metric)
		}
	}
}

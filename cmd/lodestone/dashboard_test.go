package main

import (
	"bytes"
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
)

// owner is the browser of an owner who is signed in to the dashboard, without scripts.
type owner struct {
	t    *testing.T
	site string
	key  string // API key of the same account
	http *http.Client
}

// newOwner returns a browser that is not signed in.
func newOwner(t *testing.T, site, key string) *owner {
	t.Helper()
	jar, err := cookiejar.New(nil)
	require.NoError(t, err)
	return &owner{t: t, site: site, key: key, http: &http.Client{Jar: secureJar{jar}, Timeout: time.Minute}}
}

// signIn opens the address that `lodestone up` wrote down.
func signIn(t *testing.T, u *up) *owner {
	t.Helper()
	v := newOwner(t, u.env["LODESTONE_URL"], u.env["LODESTONE_API_KEY"])
	v.enter(v.still().Get(u.env["LODESTONE_DASHBOARD_URL"]))
	return v
}

// still is the browser as one that follows no redirect.
func (v *owner) still() *http.Client {
	client := *v.http
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &client
}

// enter asserts that the answer leads to the overview. It does not open it: for ClickHouse, that is
// the dearest of the screens.
func (v *owner) enter(answer *http.Response, err error) {
	v.t.Helper()
	require.NoError(v.t, err)
	require.NoError(v.t, answer.Body.Close())
	require.Equal(v.t, http.StatusSeeOther, answer.StatusCode)
	require.Equal(v.t, "/dashboard", answer.Header.Get("Location"))
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
	res, err := v.http.PostForm(v.site+action, s.filled(action, change))
	require.NoError(v.t, err)
	return v.read(res)
}

// filled returns the values of a form of the screen, with those of some fields changed.
func (s screen) filled(action string, change url.Values) url.Values {
	s.t.Helper()
	for n := range s.root.Descendants() {
		if n.Data == "form" && attr(n, "action") == action {
			values := fields(n)
			maps.Copy(values, change)
			return values
		}
	}
	require.Fail(s.t, s.path+" has no form to "+action)
	return nil
}

// fields returns the values that a browser sends for an unchanged form.
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
		case attr(n, "type") == "checkbox" && !slices.ContainsFunc(n.Attr,
			func(a html.Attribute) bool { return a.Key == "checked" }):
		case n.Data == "button" && attr(n, "formaction") != "": // it was not pressed
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
		if n.Type == html.ElementNode && n.Data == tag &&
			(class == "" || slices.Contains(strings.Fields(attr(n, "class")), class)) {
			list = append(list, n)
		}
	}
	return list
}

// shown returns the exact numbers of the metrics below a node, in order, to be compared with those
// of the API.
func shown(n *html.Node, metric string) (list []string) {
	for d := range n.Descendants() {
		if attr(d, "data-metric") == metric {
			list = append(list, attr(d, "data-value"))
			d.Attr = append(d.Attr, html.Attribute{Key: compared})
		}
	}
	return list
}

// compared is the attribute of a number that shown has returned.
const compared = "data-compared"

// requireAllCompared fails for a screen with a number that nothing was compared with.
func (s screen) requireAllCompared() {
	s.t.Helper()
	var left []string
	numbers := 0
	for d := range s.root.Descendants() {
		if d.Type != html.ElementNode || !slices.ContainsFunc(d.Attr,
			func(a html.Attribute) bool { return a.Key == "data-metric" }) {
			continue
		}
		numbers++
		if !slices.ContainsFunc(d.Attr, func(a html.Attribute) bool { return a.Key == compared }) {
			left = append(left, attr(d, "data-metric")+" = "+attr(d, "data-value")+" in "+
				strings.Join(strings.Fields(textOf(d.Parent)), " "))
		}
	}
	require.Empty(s.t, left, "%s shows numbers that are compared with none of the API", s.path)
	require.NotZero(s.t, numbers, s.path)
}

// byID returns the element with an id, nil if there is none; byName that with a name.
func (s screen) byID(id string) *html.Node { return s.by("id", id) }

func (s screen) byName(name string) *html.Node { return s.by("name", name) }

func (s screen) by(key, value string) *html.Node {
	for n := range s.root.Descendants() {
		if n.Type == html.ElementNode && attr(n, key) == value {
			return n
		}
	}
	return nil
}

// linkTo returns the address of a link that has all of these parts, "" if there is none.
func (s screen) linkTo(parts ...string) string {
	for _, a := range s.find("a", "") {
		if !slices.ContainsFunc(parts, func(p string) bool { return !strings.Contains(attr(a, "href"), p) }) {
			return attr(a, "href")
		}
	}
	return ""
}

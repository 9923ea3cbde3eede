package main

import (
	"encoding/csv"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"
)

// rowsOf returns the first words of the rows of a table.
func (s screen) rowsOf(table string) (list []string) {
	s.t.Helper()
	for _, found := range s.find("table", table) {
		for n := range found.Descendants() {
			if n.Data != "th" || attr(n, "scope") != "row" {
				continue
			}
			for text := range n.Descendants() {
				if words := strings.TrimSpace(text.Data); text.Type == html.TextNode && words != "" {
					list = append(list, words)
					break
				}
			}
		}
	}
	return list
}

// file returns a column of a CSV file that a screen links to.
func (v *owner) file(address, column string) (list []string) {
	v.t.Helper()
	res, err := v.http.Get(v.site + address)
	require.NoError(v.t, err)
	defer func() { _ = res.Body.Close() }()
	require.Equal(v.t, http.StatusOK, res.StatusCode, address)
	text, err := io.ReadAll(res.Body)
	require.NoError(v.t, err)
	rows, err := csv.NewReader(strings.NewReader(strings.TrimPrefix(string(text), "\ufeff"))).ReadAll()
	require.NoError(v.t, err)
	for i, name := range rows[0] {
		for _, row := range rows[1:] {
			if name == column {
				list = append(list, row[i])
			}
		}
	}
	return list
}

// emails returns the addresses of a list of the API, on all its pages.
func (v *owner) emails(path string, query url.Values) (list []string) {
	v.t.Helper()
	list = []string{}
	for query.Set("per_page", "100"); ; {
		var page struct {
			Data       []struct{ Email string }
			Pagination struct {
				NextCursor *string `json:"next_cursor"`
			}
		}
		v.call(http.MethodGet, path+"?"+query.Encode(), "", &page)
		for _, one := range page.Data {
			list = append(list, one.Email)
		}
		if page.Pagination.NextCursor == nil {
			return list
		}
		query.Set("cursor", *page.Pagination.NextCursor)
	}
}

// filters compares filtered lists and reports with what the API answers: the rows of the screen,
// and those of its file.
func (v *owner) filters(t *testing.T, p span) {
	t.Helper()
	const readers = "/dashboard/readers"
	for _, filter := range []string{
		"utm_source=newsletter", "utm_campaign=weekly-letter&finished=true", "without=utm_campaign",
		"device=mobile&downloaded=true", "opened=false", "opened=false&utm_source=google",
		"status=New&utm_source=webinar", "status=Won", "stopped_at=3", "q=acme",
	} {
		s := v.open(readers + "?" + filter + "&" + p.query)
		require.Equal(t, http.StatusOK, s.status, filter)
		query, err := url.ParseQuery(p.times(url.Values{}) + "&" + filter)
		require.NoError(t, err)
		want := v.emails("/api/v1/analytics/readers", query)
		require.Equal(t, want[:min(len(want), 50)], append([]string{}, s.rowsOf("people")...), filter)
		require.ElementsMatch(t, want, v.file(s.linkTo("/dashboard/readers.csv?"), "email"), filter)
		if filter == "status=Won" {
			require.Empty(t, want)
		} else {
			require.NotEmpty(t, want, filter)
		}
	}

	// A chip takes its filter away, and a person leads back to the list.
	s := v.open(readers + "?utm_source=newsletter&device=mobile&" + p.query)
	s.has("Source: newsletter")
	without := v.open(attr(s.find("a", "chip")[0], "href"))
	without.lacks("Source: newsletter")
	without.has("Device: mobile")
	person := v.open(firstLink(s))
	back := person.linkTo("/dashboard/readers?", "utm_source=newsletter", "device=mobile")
	require.Equal(t, s.rowsOf("people"), v.open(back).rowsOf("people"))

	// A filter is chosen from what there is, and a list that is narrowed is kept under a name.
	s = v.open(readers + "?finished=true&add=utm_campaign&" + p.query)
	form := s.find("form", "add-filter")[0]
	chosen := fields(form)
	chosen.Set("value", "utm_campaign=weekly-letter")
	s = v.open(attr(form, "action") + "?" + chosen.Encode())
	s.has("Campaign: weekly-letter")
	require.Contains(t, s.path, readers)
	saved := v.send(s, "/dashboard/views", url.Values{"name": {"Weekly, finished"}})
	at := saved.linkTo("utm_campaign=weekly-letter", "finished=true")
	require.NotEmpty(t, at)
	again := v.send(s, "/dashboard/views", url.Values{"name": {"Weekly, finished"}})
	require.Equal(t, 1, strings.Count(again.text, "Weekly, finished</a>"), "the view is replaced")
	_, views := v.api("GET", "/api/v1/views?screen=readers", nil)
	id := views["data"].([]any)[0].(object)["id"].(string)
	v.send(again, "/dashboard/views/"+id+"/delete", nil).lacks("Weekly, finished")
	require.Equal(t, http.StatusForbidden, v.signInWithKey("read", "leads").forge("/dashboard/views",
		url.Values{"screen": {"readers"}, "name": {"planted"}, "to": {readers}}).status)

	// Reports are narrowed likewise, and their numbers lead to the people behind them.
	only := `"filters":{"utm_campaign":["weekly-letter"]},`
	s = v.open("/dashboard?utm_campaign=weekly-letter&" + p.query)
	s.requireTop(v.ask("{" + allMetrics + only + p.bounds() + "}"))
	require.NotEmpty(t, s.linkTo("/dashboard/readers?", "utm_campaign=weekly-letter", "finished=true"))
	s = v.open("/dashboard?device=mobile&" + p.query)
	s.has("Forms know no device")
	require.Equal(t, []string{exact(v.ask(`{"metrics":["people"],"filters":{"device":["mobile"]},` + p.whole() + `}`).Totals["people"])},
		shown(s.find("h1", "")[0], "people"))

	// Submissions, by where they came from and how far they are.
	_, links := v.api("GET", "/api/v1/generic-links?sort=-submission_count", nil)
	link := links["data"].([]any)[0].(object)["id"].(string)
	for _, filter := range []string{"state=viewed&utm_campaign=weekly-letter", "state=ready", "without=utm_source"} {
		query, err := url.ParseQuery(filter)
		require.NoError(t, err)
		want := v.emails("/api/v1/generic-links/"+link+"/submissions", query)
		s := v.open("/dashboard/links/" + link + "?" + filter)
		require.Equal(t, want[:min(len(want), 25)], append([]string{}, s.rowsOf("submissions")...), filter)
		if len(want) > 0 {
			require.Equal(t, want, v.file(s.linkTo("submissions.csv?"), "email"), filter)
		}
	}
	list := v.open("/dashboard/links?utm_source=newsletter&sort=submissions")
	require.Contains(t, v.open(list.linkTo("/dashboard/links/"+link)).linkTo("/dashboard/links?"), "sort=submissions")
	v.open("/dashboard/links/" + link + "?state=ready").has("the submissions below, not the numbers")
	v.open("/dashboard/links/" + link + "?utm_source=newsletter").lacks("the submissions below, not the numbers")
	v.keepsFilters(t, p, link)
}

// keepsFilters follows links from one screen to another, and back: what both can be filtered by
// stays. What is not filtered is named.
func (v *owner) keepsFilters(t *testing.T, p span, link string) {
	t.Helper()
	const filters, mobile = "utm_campaign=weekly-letter&utm_source=newsletter", "device=mobile"
	all := filters + "&" + p.query
	to := func(s screen, path string, more ...string) string {
		address := s.linkTo(slices.Concat([]string{path}, strings.Split(all, "&"), more)...)
		require.NotEmpty(t, address, "%s to %s", s.path, path)
		return address
	}
	s := v.open("/dashboard?" + mobile + "&" + all)
	s.has("Does not follow the filters: Source, Campaign, Device.")
	to(s, "/dashboard/links?", mobile)
	s = v.open(to(s, "/dashboard/magnets/", mobile))
	to(s, "/dashboard?", mobile)
	to(s, "/dashboard/magnets/", mobile, "version=1#pages")
	to(s, "/dashboard/links?", mobile, "lead_magnet_id=")
	of := v.open(to(s, "/dashboard/links/"))
	to(of, "/dashboard/links?", mobile)
	to(of, "/dashboard/magnets/", mobile)
	s = v.open("/dashboard/magnets/" + v.magnetOf(link) + "?" + all)
	s.has("Returning readers")
	s = v.open(to(s, "/dashboard/links/"+link+"?"))
	to(s, "/dashboard/links?")
	to(s, "/dashboard/magnets/")
	to(v.open("/dashboard?generic_link_id="+link+"&"+all), "/dashboard/links/"+link+"?")

	// Who has no source and no campaign has neither, on the screen and in the list.
	const none = "without=utm_source&without=utm_campaign"
	s = v.open("/dashboard?" + none + "&" + p.query)
	s.has("Source: none")
	s.has("Campaign: none")
	readers := v.open(s.linkTo("/dashboard/readers?", none, p.query))
	n := v.ask(`{"metrics":["people"],"filters":{"utm_source":[null],"utm_campaign":[null]},` + p.whole() + `}`).Totals["people"]
	require.Equal(t, []string{exact(n)}, shown(readers.find("h1", "")[0], "people"))

	// Forms know no device: links are not ordered by a number that is not shown.
	list := v.open("/dashboard/links?sort=submissions&device=mobile&" + p.query)
	require.Equal(t, v.open("/dashboard/links?device=mobile&"+p.query).rowsOf("links"), list.rowsOf("links"))
	require.NotContains(t, list.text, "Most forms")
	require.Empty(t, strings.Join(shown(list.find("table", "links")[0], "submissions"), ""))
}

// magnetOf returns the id of the lead magnet of a link.
func (v *owner) magnetOf(link string) string {
	v.t.Helper()
	_, found := v.api("GET", "/api/v1/generic-links/"+link, nil)
	return found["lead_magnet_id"].(string)
}

// firstLink returns the address of the first person of a list.
func firstLink(s screen) string {
	for n := range s.find("table", "people")[0].Descendants() {
		if n.Data == "a" && strings.Contains(attr(n, "href"), "/dashboard/readers/") {
			return attr(n, "href")
		}
	}
	return ""
}

package crud_test

import (
	"encoding/csv"
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"

	"lodestone/crud"
	"lodestone/crud/account"
)

// The recipients of a link have the bar of the other lists: chips, views, and a file of what they
// show. What led there is led back to.
func TestRecipientsAreFiltered(t *testing.T) {
	t.Parallel()
	f := start(t)
	u := f.user(t, account.Team)
	link := u.link(t, u.magnet(t).ID).ID
	u.invite(t, link, "Name;E-Mail\nAda;ada@example.com\nBob;bob@example.com\n")
	b := u.signIn(t)
	screen := "/dashboard/links/" + link + "/recipients"

	all := b.get(screen)
	require.Contains(t, all.text, "No filters")
	require.Contains(t, all.text, `href="`+screen+`?add=invited"`)
	p := b.get(screen + "?q=ada&state=added&page=1&list=utm_source%3Dnews")
	require.Equal(t, http.StatusOK, p.status)
	text := html.UnescapeString(p.text)
	require.Contains(t, text, "<span>State: not sent</span>")
	require.Contains(t, text, `href="`+screen+`?list=utm_source%3Dnews&q=ada"`, "the chip can be removed")
	require.Contains(t, text, `href="/dashboard/links/`+link+`?utm_source=news"`, "the link is led back to")
	require.Contains(t, text, `href="`+screen+`.csv?q=ada&state=added"`)
	file := b.get(screen + ".csv?q=ada&state=added").text
	require.Contains(t, file, "ada@example.com")
	require.NotContains(t, file, "bob@example.com")
	require.NotContains(t, b.get(screen+".csv?state=opened").text, "@example.com")

	saved := b.post(p, "/dashboard/views", url.Values{"screen": {"recipients"}, "name": {"Not sent"},
		"to": {screen + "?q=ada&state=added&list=x&added=2"}})
	require.Equal(t, http.StatusSeeOther, saved.status, saved.text)
	listed := html.UnescapeString(b.get(screen + "?state=added&q=ada&added=2").text)
	require.Contains(t, listed, `href="`+screen+`?q=ada&state=added" aria-current="true">Not sent<`)
	refused := b.post(p, screen+"/send", url.Values{"subject": {""}, "text": {""}})
	require.Equal(t, http.StatusUnprocessableEntity, refused.status)
	require.Contains(t, refused.text, "bob@example.com", "the whole list is shown again")
}

// numbers answers questions of metrics: the visitors of the ids asked for, in their order.
func numbers(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var asked struct {
			Queries []struct {
				ID         string           `json:"id"`
				Metrics    []string         `json:"metrics"`
				Dimensions []string         `json:"dimensions"`
				Filters    map[string][]any `json:"filters"`
			} `json:"queries"`
		}
		if err := json.UnmarshalRead(r.Body, &asked); err != nil {
			t.Error(err)
		}
		var answers []any
		for _, q := range asked.Queries {
			rows, totals := []any{}, map[string]any{}
			for _, metric := range q.Metrics {
				totals[metric] = 0
			}
			for _, dimension := range q.Dimensions {
				if dimension == "utm_source" { // and more than have a row
					rows = append(rows, map[string]any{dimension: "news"}, map[string]any{"other": true})
				}
				for i, id := range q.Filters[dimension] {
					row := map[string]any{dimension: id}
					for _, metric := range q.Metrics {
						row[metric] = i
					}
					rows = append(rows, row)
				}
			}
			answers = append(answers, map[string]any{"id": q.ID, "rows": rows, "totals": totals,
				"as_of": "2026-01-01T00:00:00.000Z"})
		}
		w.Header().Set("Content-Type", "application/json")
		if err := json.MarshalWrite(w, map[string]any{"data": answers}); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// The files of links and documents are their lists: all rows, as filtered and ordered. What is
// beyond the first choices of a filter can be searched or typed.
func TestFilesOfLists(t *testing.T) {
	t.Parallel()
	f := start(t, func(c *crud.Config) { c.QueryURL = numbers(t) })
	u := f.user(t, account.Team)
	magnet := u.magnet(t).ID
	for i := range 105 {
		name := fmt.Sprint("Link ", i)
		if i == 104 {
			name = "=1+1"
		}
		r := u.post(t, linksPath, fmt.Sprintf(`{"lead_magnet_id":%q,"name":%q}`, magnet, name))
		require.Equal(t, http.StatusCreated, r.status, r.body)
	}
	b := u.signIn(t)
	file := func(path string) (rows [][]string) {
		t.Helper()
		p := b.get(path)
		require.Equal(t, http.StatusOK, p.status, p.text)
		require.Contains(t, p.header.Get("Content-Disposition"), "attachment")
		rows, err := csv.NewReader(strings.NewReader(strings.TrimPrefix(p.text, "\ufeff"))).ReadAll()
		require.NoError(t, err)
		return rows[1:]
	}
	newest := file("/dashboard/links.csv")
	require.Len(t, newest, 105)
	require.Equal(t, []string{"'=1+1", "Link 103"}, []string{newest[0][0], newest[1][0]})
	ranked := file("/dashboard/links.csv?sort=visitors&q=Link+10")
	require.Len(t, ranked, 5)
	require.Equal(t, []string{"Link 10", "4"}, []string{ranked[0][0], ranked[0][5]})
	without := file("/dashboard/links.csv?sort=submissions&device=mobile")
	require.Equal(t, []string{"'=1+1", "0", ""}, []string{without[0][0], without[0][5], without[0][6]},
		"forms know no device: the newest is first, without a number of forms")
	second := html.UnescapeString(b.get("/dashboard/links?sort=visitors&device=mobile&page=2&add=country&find=a&q=").text)
	require.Contains(t, second, `href="/dashboard/links.csv?device=mobile&sort=visitors"`)
	require.Contains(t, second, `href="/dashboard/links?device=mobile&page=3&sort=visitors"`)

	require.Equal(t, http.StatusOK, u.patch(t, "/api/v1/lead-magnets/"+magnet, `{"title":"The Oldest"}`).status)
	for range 101 {
		u.magnet(t)
	}
	choose := b.get("/dashboard/links?add=lead_magnet_id").text
	require.Contains(t, choose, "There are 102.")
	require.NotContains(t, choose, magnet)
	require.Contains(t, b.get("/dashboard/links?add=lead_magnet_id&find=oldest").text, "lead_magnet_id="+magnet)
	require.Contains(t, b.get("/dashboard/links?add=lead_magnet_id&find=nosuch").text, `value="nosuch"`)
	typed := b.get("/dashboard/links?add=utm_source").text
	require.Contains(t, typed, `<datalist id="values"><option value="news">`)
	require.Contains(t, typed, `href="/dashboard/links?without=utm_source"`)
	require.Equal(t, "/dashboard/links?utm_source=a%3Db",
		b.get("/dashboard/filter?to=/dashboard/links&filter=utm_source&text=a%3Db").header.Get("Location"))
	require.Len(t, file("/dashboard/documents.csv"), 102)
	require.Len(t, file("/dashboard/documents.csv?lead_magnet_id="+magnet), 1)
}

// A file without numbers would look like one of zeros.
func TestFilesWithoutNumbers(t *testing.T) {
	t.Parallel()
	f := start(t, func(c *crud.Config) { c.QueryURL = "http://127.0.0.1:1" })
	u := f.user(t, account.Team)
	u.link(t, u.magnet(t).ID)
	b := u.signIn(t)
	for _, path := range []string{"/dashboard/links.csv", "/dashboard/links.csv?sort=people", "/dashboard/documents.csv"} {
		p := b.get(path)
		require.Equal(t, http.StatusServiceUnavailable, p.status, path)
		require.Contains(t, p.text, "Try again", path)
	}
}

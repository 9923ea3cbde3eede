package crud_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/crud/account"
	"lodestone/pkg/client"
	"lodestone/pkg/problem"
	"lodestone/pkg/test/clienttest"
)

var submitted = time.Date(2026, 3, 1, 9, 30, 0, 0, time.UTC)

func TestSubmission(t *testing.T) {
	t.Parallel()
	f := start(t)
	u := f.user(t, account.Team)
	m := u.magnet(t)
	named, err := u.CreateGenericLink(t.Context(), client.NewGenericLink{LeadMagnetID: m.ID, CollectName: true})
	require.NoError(t, err)
	plain := u.link(t, m.ID)
	path := linksPath + "/" + named.ID + "/submissions"
	empty := u.get(t, path).object(t)
	require.Equal(t, map[string]any{
		"data": []any{}, "pagination": map[string]any{"page": 1.0, "per_page": 50.0, "total": 0.0,
			"total_pages": 0.0, "next_cursor": nil},
	}, empty)

	first, _ := u.submit(t, named, "Jo@Example.com", submitted)
	second, _ := u.submit(t, named, "al@example.com", submitted.Add(time.Millisecond))
	other, _ := u.submit(t, plain, "jo@example.com", submitted)
	_, err = f.db.Unscoped().Exec(t.Context(), `UPDATE submissions SET name = 'Jo Doe', verified = true,
		utm = '{"utm_source":"news"}', consented_at = '2026-03-01T09:30:00Z', verification_required = true WHERE id IN ($1, $2)`, first, other)
	require.NoError(t, err)
	_, err = f.db.Unscoped().Exec(t.Context(), `INSERT INTO access_link_counts
		SELECT id, account_id, 3, '2026-03-02T00:00:00Z', '2026-03-03T00:00:00.5Z' FROM access_links WHERE submission_id IN ($1, $2)`, first, other)
	require.NoError(t, err)
	want := map[string]any{
		"id": first, "generic_link_id": named.ID, "email": "Jo@Example.com", "name": "Jo Doe", "verified": true,
		"viewed": true, "view_count": 3.0,
		"submitted_at": "2026-03-01T09:30:00.000Z", "first_viewed_at": "2026-03-02T00:00:00.000Z",
		"last_viewed_at": "2026-03-03T00:00:00.500Z",
		"state":          "viewed", "utm": map[string]any{"utm_source": "news"}, "consented_at": "2026-03-01T09:30:00.000Z",
		"answers": map[string]any{}, "agreements": []any{}, "verification_ends_at": nil,
	}
	fresh := map[string]any{
		"id": second, "generic_link_id": named.ID, "email": "al@example.com", "name": nil, "verified": false,
		"viewed": false, "view_count": 0.0,
		"submitted_at": "2026-03-01T09:30:00.001Z", "first_viewed_at": nil, "last_viewed_at": nil,
		"state": "ready", "utm": nil, "consented_at": nil, "answers": map[string]any{}, "agreements": []any{},
		"verification_ends_at": nil,
	}
	r := u.get(t, path)
	require.Equal(t, []any{fresh, want}, r.object(t)["data"])
	require.Equal(t, `<`+path+`?page=1&per_page=50>; rel="first", <`+path+`?page=1&per_page=50>; rel="last"`,
		r.header.Get("Link"))

	_, err = f.db.Unscoped().Exec(t.Context(), `UPDATE submissions SET verification_required = true WHERE id = $1`, second)
	require.NoError(t, err)
	fresh["state"] = "awaiting_verification"
	require.Equal(t, fresh, u.get(t, path).object(t)["data"].([]any)[0])

	// A filter chooses the same for the list in both orders and for the file.
	for query, want := range map[string][]string{
		"state=viewed": {"Jo@Example.com"}, "state=awaiting_verification": {"al@example.com"}, "state=ready": nil,
		"utm_source=news": {"Jo@Example.com"}, "utm_source=new": nil, "utm_campaign=spring": nil,
		"without=utm_source": {"al@example.com"}, "without=utm_campaign": {"al@example.com", "Jo@Example.com"},
		"without=utm_campaign&state=viewed&q=jo":  {"Jo@Example.com"},
		"without=utm_campaign&without=utm_source": {"al@example.com"},
	} {
		var list []string
		for _, one := range u.get(t, path+"?"+query).object(t)["data"].([]any) {
			list = append(list, one.(map[string]any)["email"].(string))
		}
		require.Equal(t, want, list, query)
		oldest := u.get(t, path+"?sort=submitted_at&"+query).object(t)
		require.Len(t, oldest["data"], len(want), query)
		require.EqualValues(t, len(want), oldest["pagination"].(map[string]any)["total"], query)
		var file []string
		for line := range strings.Lines(u.get(t, path+"/export?format=ndjson&"+query).body) {
			var one struct{ Email string }
			require.NoError(t, json.Unmarshal([]byte(line), &one))
			file = append(file, one.Email)
		}
		require.Equal(t, want, file, query)
	}
	cursor := u.get(t, path+"?per_page=1").object(t)["pagination"].(map[string]any)["next_cursor"].(string)
	require.Equal(t, "cursor", fields(u.get(t, path+"?state=viewed&per_page=1&cursor="+cursor).problem(t)))

	// Where no names are collected there is no such field, whatever is stored.
	list := u.get(t, linksPath+"/"+plain.ID+"/submissions").object(t)["data"].([]any)
	require.Len(t, list, 1)
	require.NotContains(t, list[0], "name")
	_, err = u.UpdateGenericLink(t.Context(), plain.ID, clienttest.GenericLinkChanges{CollectName: new(true)})
	require.NoError(t, err)
	page, err := u.Submissions(t.Context(), plain.ID, client.SubmissionFilter{})
	require.NoError(t, err)
	require.Equal(t, "Jo Doe", *page.Data[0].Name)
}

// One submission goes, with what webhooks were sent about it; the other of the link and the access
// links stay.
func TestDeleteSubmission(t *testing.T) {
	t.Parallel()
	f := start(t)
	u, other := f.user(t, account.Team), f.user(t, account.Team)
	u.echo(t)
	link := u.link(t, u.file(t))
	for _, address := range []string{"ada@example.com", "bob@example.com"} {
		page, err := f.http.PostForm(f.url+"/l/"+link.Slug, url.Values{"email": {address}})
		require.NoError(t, err)
		require.NoError(t, page.Body.Close())
	}
	list := func() []client.Submission {
		t.Helper()
		page, err := u.Submissions(t.Context(), link.ID, client.SubmissionFilter{})
		require.NoError(t, err)
		return page.Data
	}
	found := list()
	require.Len(t, found, 2)
	require.Equal(t, "ada@example.com", found[1].Email)
	ada := found[1].ID
	links := u.get(t, accessPath+"?email=ada@example.com").object(t)["data"].([]any)
	require.NotEmpty(t, links)

	require.True(t, problem.Is(other.DeleteSubmission(t.Context(), ada), problem.NotFound))
	require.NoError(t, u.DeleteSubmission(t.Context(), ada))
	require.True(t, problem.Is(u.DeleteSubmission(t.Context(), ada), problem.NotFound))
	found = list()
	require.Len(t, found, 1)
	require.Equal(t, "bob@example.com", found[0].Email)
	require.EqualValues(t, 1, u.get(t, linksPath+"/"+link.ID).object(t)["submission_count"])
	for _, l := range links {
		left := u.get(t, accessPath+"/"+l.(map[string]any)["id"].(string)).object(t)
		require.Nil(t, left["submission_id"])
		require.Equal(t, link.ID, left["generic_link_id"])
	}

	// The address is not remembered: it is a new submission.
	page, err := f.http.PostForm(f.url+"/l/"+link.Slug, url.Values{"email": {"ada@example.com"}})
	require.NoError(t, err)
	require.NoError(t, page.Body.Close())
	require.Len(t, list(), 2)
	require.NotEqual(t, ada, list()[0].ID)
}

func TestSubmissionFilters(t *testing.T) {
	t.Parallel()
	f := start(t)
	u := f.user(t, account.Team)
	link := u.link(t, u.magnet(t).ID)
	var ids []string
	for i := range 5 { // a second apart
		id, _ := u.submit(t, link, fmt.Sprintf("%d@example.com", i), submitted.Add(time.Duration(i)*time.Second))
		ids = append([]string{id}, ids...)
	}
	path := linksPath + "/" + link.ID + "/submissions"
	for query, want := range map[string][]string{
		"since=2026-03-01T09:30:02Z":                             ids[:2], // strictly after
		"until=2026-03-01T09:30:02Z":                             ids[3:], // strictly before
		"since=2026-03-01T09:30:01Z&until=2026-03-01T09:30:03Z":  ids[2:3],
		"since=2026-03-01T09:30:01.999Z":                         ids[:3],
		"since=2026-03-01T09:30:01.9999999Z":                     ids[:3],
		"since=2026-03-01T10:30:02%2B01:00":                      ids[:2],
		"since=2026-03-01":                                       ids,
		"until=2026-03-01":                                       nil,
		"since=2026-03-02":                                       nil,
		"since=2026-03-01T09:30:02Z&until=2026-03-01T09:30:02Z":  nil,
		"since=0001-01-01&until=9999-12-31T23:59:59.999Z":        ids,
		"since=2026-03-01T09:30:00Z&per_page=2&page=2":           ids[2:4],
		"until=2026-03-01T09:30:04Z&per_page=100&page=1":         ids[1:],
		"since=2026-03-01T09:30:00Z&per_page=1&page=2147483647":  nil,
		"since=2026-03-01T09:30:00.000000000Z&page=1&per_page=3": ids[:3],
		"q=3@EXAMPLE":                     ids[1:2],
		"q=example.com&per_page=2&page=2": ids[2:4],
		"q=1@&since=2026-03-01T09:30:02Z": nil,
		"q=%25":                           nil, // no pattern
	} {
		r := u.get(t, path+"?"+query)
		var got []string
		for _, s := range r.object(t)["data"].([]any) {
			got = append(got, s.(map[string]any)["id"].(string))
		}
		require.Equal(t, want, got, query)
	}
	for query, field := range map[string]string{
		"page=0": "page", "page=-1": "page", "per_page=0": "per_page", "per_page=101": "per_page", "since=yesterday": "since",
		"until=2026-02-30": "until",
		"since=":           "since", "since=2026-03-01T25:00:00Z": "since", "since=1772357400": "since", "cursor=x": "cursor",
		"cursor=": "cursor", "q=%00": "q", "q=": "q",
		"cursor=e30": "cursor", "page=1&cursor=e30": "page", "email=jo@example.com": "email",
		"since=2026-03-02&until=2026-03-01": "since",
		"since=2026-03-01T10:30:02+01:00":   "since", "since=2026-03-01&since=2026-03-01": "since",
		"until=2026-W10": "until", "since=2026-366": "since",
		"since=26-03-01": "since", "since=2026-3-1": "since", "since=2026-03-01%2009:30": "since",
		"until=2026-03-01T09:30:60Z": "until",
	} {
		p := u.get(t, path+"?"+query).problem(t)
		require.Equal(t, problem.InvalidParameter, p.Code, query)
		require.Equal(t, field, fields(p), query)
	}
	for _, id := range []string{uuid.NewString(), "x"} {
		require.Equal(t, problem.NotFound, u.get(t, linksPath+"/"+id+"/submissions").problem(t).Code)
	}
	// The address in the filter of a link, and in the list, stays out of the log.
	require.NotContains(t, f.log.String(), "xample.com")
}

// Pages and cursors show the same list, in both directions of the Link header.
func TestSubmissionPages(t *testing.T) {
	t.Parallel()
	u := start(t).user(t, account.Team)
	link, second := u.link(t, u.magnet(t).ID), u.link(t, u.magnet(t).ID)
	for i := range 23 {
		// four at each time
		u.submit(t, link, fmt.Sprintf("%d@example.com", i), submitted.Add(time.Duration(i/4)*time.Millisecond))
	}
	path := linksPath + "/" + link.ID + "/submissions?since=2026-01-01&per_page=5"
	var pages, cursors [][]any
	for n := range 5 {
		body := u.get(t, fmt.Sprintf("%s&page=%d", path, n+1)).object(t)
		pages = append(pages, body["data"].([]any))
		require.EqualValues(t, 23, body["pagination"].(map[string]any)["total"])
		require.Equal(t, n < 4, body["pagination"].(map[string]any)["next_cursor"] != nil)
	}
	require.Len(t, slices.Concat(pages...), 23)
	next := path
	for next != "" {
		r := u.get(t, next)
		body := r.object(t)
		cursors = append(cursors, body["data"].([]any))
		require.EqualValues(t, 23, body["pagination"].(map[string]any)["total"])
		cursor, more := body["pagination"].(map[string]any)["next_cursor"].(string)
		next = ""
		if more {
			next = path + "&cursor=" + url.QueryEscape(cursor)
			if len(cursors) > 1 { // the header leads to the same
				require.Contains(t, r.header.Get("Link"), `rel="next"`)
				require.Contains(t, r.header.Get("Link"), "cursor="+url.QueryEscape(cursor))
			}
			// It belongs to this list, and to no other.
			for _, other := range []string{
				linksPath + "/" + second.ID + "/submissions?since=2026-01-01&per_page=5",
				linksPath + "/" + link.ID + "/submissions?per_page=5",
				linksPath + "/" + link.ID + "/submissions?until=2026-01-01&per_page=5",
			} {
				require.Equal(t, "cursor", fields(u.get(t, other+"&cursor="+cursor).problem(t)))
			}
			flipped := strings.Map(func(r rune) rune {
				if r == 'a' {
					return 'b'
				}
				return r
			}, cursor)
			if flipped != cursor {
				require.Contains(t, []int{http.StatusOK, http.StatusBadRequest}, u.get(t, path+"&cursor="+flipped).status)
			}
		}
	}
	require.Equal(t, pages, cursors)

	// The oldest first, they are the same the other way round, by pages and by cursors.
	want := slices.Concat(pages...)
	slices.Reverse(want)
	var byPage, byCursor []any
	for n := range 5 {
		byPage = append(byPage, u.get(t, fmt.Sprintf("%s&sort=submitted_at&page=%d", path, n+1)).object(t)["data"].([]any)...)
	}
	for next = path + "&sort=submitted_at"; next != ""; {
		body := u.get(t, next).object(t)
		byCursor = append(byCursor, body["data"].([]any)...)
		cursor, more := body["pagination"].(map[string]any)["next_cursor"].(string)
		next = ""
		if more {
			next = path + "&sort=submitted_at&cursor=" + url.QueryEscape(cursor)
			require.Equal(t, "cursor", fields(u.get(t, path+"&cursor="+url.QueryEscape(cursor)).problem(t)),
				"it belongs to the other order")
			// before all that are listed
			u.submit(t, link, fmt.Sprintf("late%d@example.com", len(byCursor)), submitted.Add(-time.Hour))
		}
	}
	require.Equal(t, want, byPage)
	require.Equal(t, want, byCursor)
	require.Equal(t, "sort", fields(u.get(t, path+"&sort=email").problem(t)))
}

// While submissions come in, a walk by cursors shows each of those that were there once, in order.
func TestSubmissionWalkWhileAdding(t *testing.T) {
	t.Parallel()
	f := start(t)
	u := f.user(t, account.Team)
	link := u.link(t, u.magnet(t).ID)
	add := func(n int) {
		_, err := f.db.Unscoped().Exec(t.Context(), `INSERT INTO submissions (id, account_id, generic_link_id, email, email_key, submitted_at)
			SELECT gen_random_uuid(), $1, $2, e AS email, e AS email_key, clock_timestamp()
			FROM (SELECT gen_random_uuid()::text AS e FROM generate_series(1, $3)) AS x`, u.account, link.ID, n)
		require.NoError(t, err)
	}
	_, err := f.db.Unscoped().Exec(t.Context(), `INSERT INTO submissions (id, account_id, generic_link_id, email, email_key, submitted_at)
		SELECT gen_random_uuid(), $1, $2, e AS email, e AS email_key, now() - (n / 7) * interval '1 millisecond'
		FROM (SELECT n, n::text AS e FROM generate_series(1, 700) AS n) AS x`, u.account, link.ID)
	require.NoError(t, err)
	random := rand.New(rand.NewPCG(1, 2))
	for range 5 {
		before := map[string]bool{}
		rows, err := f.db.Unscoped().Query(t.Context(), "SELECT id::text FROM submissions WHERE account_id = $1", u.account)
		require.NoError(t, err)
		for rows.Next() {
			var id string
			require.NoError(t, rows.Scan(&id))
			before[id] = true
		}
		require.NoError(t, rows.Err())
		seen := map[string]bool{}
		filter := client.SubmissionFilter{Paging: client.Paging{PerPage: 20 + random.IntN(81)}}
		last, old := time.Now().Add(time.Hour), 0
		for {
			page, err := u.Submissions(t.Context(), link.ID, filter)
			require.NoError(t, err)
			for _, s := range page.Data {
				require.False(t, seen[s.ID], "shown twice")
				require.False(t, s.SubmittedAt.After(last), "out of order")
				seen[s.ID], last = true, s.SubmittedAt
				if before[s.ID] {
					old++
				}
			}
			if page.Pagination.NextCursor == nil {
				break
			}
			filter.Cursor = *page.Pagination.NextCursor
			add(1 + random.IntN(10))
		}
		require.Len(t, before, old, "skipped")
	}
}

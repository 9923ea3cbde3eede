package crud_test

import (
	"bytes"
	"maps"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lodestone/crud/account"
	"lodestone/pkg/problem"
	"lodestone/pkg/test"
)

func TestChangeLeadMagnet(t *testing.T) {
	t.Parallel()
	u := start(t).user(t, account.Team)
	r := u.post(t, "/api/v1/lead-magnets", `{"title":"T","description":"D"}`)
	want, path := r.object(t), r.header.Get("Location")
	for _, step := range []struct {
		body string
		set  map[string]any
	}{
		{`{"title":"New"}`, map[string]any{"title": "New"}},
		{`{"description":null}`, map[string]any{"description": nil}},
		{`{"is_active":false,"description":"x\ty"}`, map[string]any{"is_active": false, "description": "x\ty"}},
		{`{"is_active":true}`, map[string]any{"is_active": true}},
		{`{"author":"Ada","author_about":"Writes\nprograms."}`,
			map[string]any{"author": "Ada", "author_about": "Writes\nprograms."}},
		{`{"end_text":"Thanks.","end_button":"Next","end_url":"https://example.com/next"}`,
			map[string]any{"end_text": "Thanks.", "end_button": "Next", "end_url": "https://example.com/next"}},
		{`{"downloadable":false}`, map[string]any{"downloadable": false}},
		{`{"title":"Newer"}`, map[string]any{"title": "Newer"}},
		{`{"downloadable":true}`, map[string]any{"downloadable": true}},
		{`{"end_button":null,"end_url":null,"author":null}`,
			map[string]any{"end_button": nil, "end_url": nil, "author": nil}},
	} {
		got := u.patch(t, path, step.body).object(t)
		maps.Copy(want, step.set)
		want["updated_at"] = got["updated_at"]
		require.Equal(t, want, got, step.body)
		require.Equal(t, want, u.get(t, path).object(t))
	}
	require.Equal(t, want, u.patch(t, path, "{}").object(t))
	for body, field := range map[string]string{
		`{"title":null}`: "title", `{"title":" "}`: "title", `{"is_active":null}`: "is_active",
		`{"downloadable":null}`: "downloadable", `{"downloadable":"no"}`: "downloadable", `{"file_name":"x"}`: "file_name",
		`{"page_count":1}`:        "page_count",
		`{"access_link_count":0}`: "access_link_count", `{"description":"\u0000"}`: "description",
		`{"file_version":1}`: "file_version",
		`{"author":""}`:      "author", `{"end_button":"Next"}`: "end_button",
		`{"end_url":"https://example.com/"}`:                               "end_button",
		`{"end_button":"Next","end_url":"javascript:alert(1)"}`:            "end_url",
		`{"end_button":"Next","end_url":"https://user:word@example.com/"}`: "end_url",
	} {
		p := u.patch(t, path, body).problem(t)
		require.Equal(t, problem.ValidationError, p.Code, body)
		require.Equal(t, field, fields(p), body)
	}
	require.Equal(t, want, u.get(t, path).object(t))

	// A new file is a change as well.
	tag := u.get(t, path).header.Get("ETag")
	_, err := u.UploadFile(t.Context(), want["id"].(string), "a.pdf", bytes.NewReader(test.StripPDF(1, 0)))
	require.NoError(t, err)
	require.Equal(t, http.StatusPreconditionFailed, u.patch(t, path, `{"title":"x"}`, "If-Match", tag).status)
}

func TestDeleteLeadMagnet(t *testing.T) {
	t.Parallel()
	f := startAlone(t)
	u, bystander := f.user(t, account.Team), f.user(t, account.Team)
	m, other := u.magnet(t), u.magnet(t)
	path := "/api/v1/lead-magnets/" + m.ID
	_, err := u.UploadFile(t.Context(), m.ID, "a.pdf", bytes.NewReader(test.StripPDF(1, 2<<20)))
	require.NoError(t, err)
	link := u.link(t, m.ID)
	u.submit(t, link, "jo@example.com", time.Now())
	u.submit(t, u.link(t, other.ID), "jo@example.com", time.Now())
	bystander.submit(t, bystander.link(t, bystander.magnet(t).ID), "jo@example.com", time.Now())

	before := f.dump(t)
	for _, query := range []string{"", "?cascade=false"} {
		r := u.remove(t, path+query)
		require.Equal(t, http.StatusConflict, r.status)
		p := r.problem(t)
		require.Equal(t, problem.Conflict, p.Code)
		require.Contains(t, p.Detail, "generic links: 1, access links: 1")
		require.Contains(t, p.Detail, "cascade=true")
	}
	for _, query := range []string{"?cascade=yes", "?cascade=", "?cascade=TRUE", "?cascade=1", "?cascade",
		"?cascade=true&cascade=true"} {
		require.Equal(t, problem.InvalidParameter, u.remove(t, path+query).problem(t).Code, query)
	}
	require.Equal(t, before, f.dump(t))

	require.Equal(t, http.StatusNoContent, u.remove(t, path+"?cascade=true").status)
	after := f.unlogged(t)
	require.NotContains(t, after, m.ID, "nothing is left of it")
	require.NotContains(t, after, link.ID)
	for table, left := range map[string]int{"lead_magnets": 2, "generic_links": 2, "submissions": 2, "access_links": 2,
		"lead_magnet_files": 0, "lead_magnet_file_chunks": 0} {
		require.Equal(t, left, f.count(t, table), table)
	}
	require.Equal(t, problem.NotFound, u.remove(t, path+"?cascade=true").problem(t).Code)
	require.Equal(t, problem.NotFound, u.get(t, path+"/file").problem(t).Code)

	// One without links goes without being asked twice, with its file.
	m = u.magnet(t)
	_, err = u.UploadFile(t.Context(), m.ID, "a.pdf", bytes.NewReader(test.StripPDF(1, 0)))
	require.NoError(t, err)
	require.Equal(t, http.StatusNoContent, u.remove(t, "/api/v1/lead-magnets/"+m.ID).status)
	require.Equal(t, after, f.unlogged(t))
}

package crud_test

import (
	"fmt"
	"maps"
	"net/http"
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

func TestChangeAccessLink(t *testing.T) {
	t.Parallel()
	f := start(t)
	u := f.user(t, account.Team)
	m := u.magnet(t)
	r := u.post(t, accessPath,
		`{"lead_magnet_id":"`+m.ID+`","email":"jo@example.com","max_views":5,"expires_at":"2099-01-01"}`)
	want, path := r.object(t), r.header.Get("Location")
	for _, step := range []struct {
		body string
		set  map[string]any
	}{
		{`{"max_views":1}`, map[string]any{"max_views": 1.0}},
		{`{"max_views":null}`, map[string]any{"max_views": nil}},
		{`{"max_views":10000,"expires_at":null}`, map[string]any{"max_views": 10000.0, "expires_at": nil}},
		{`{"expires_at":"2098-06-01T12:00:00.123456+02:00"}`, map[string]any{"expires_at": "2098-06-01T10:00:00.123Z"}},
		{`{"is_active":false}`, map[string]any{"is_active": false}},
		{`{"is_active":true,"max_views":null}`, map[string]any{"is_active": true, "max_views": nil}},
	} {
		got := u.patch(t, path, step.body).object(t)
		maps.Copy(want, step.set)
		want["updated_at"] = got["updated_at"]
		require.Equal(t, want, got, step.body)
		require.Equal(t, want, u.get(t, path).object(t))
	}
	require.Equal(t, want, u.patch(t, path, "{}").object(t))
	for body, field := range map[string]string{
		`{"email":"al@example.com"}`: "email", `{"lead_magnet_id":"` + m.ID + `"}`: "lead_magnet_id",
		`{"max_views":0}`: "max_views", `{"max_views":10001}`: "max_views",
		`{"is_active":null}`: "is_active", `{"expires_at":"2020-01-01"}`: "expires_at", `{"expires_at":"soon"}`: "expires_at",
		`{"view_count":0}`:        "view_count",
		`{"tracking_token":null}`: "tracking_token", `{"opened_count":0}`: "opened_count",
	} {
		p := u.patch(t, path, body).problem(t)
		require.Equal(t, problem.ValidationError, p.Code, body)
		require.Equal(t, field, fields(p), body)
	}
	require.Equal(t, want, u.get(t, path).object(t))
	require.Equal(t, http.StatusNoContent, u.remove(t, path).status)
	require.Equal(t, problem.NotFound, u.remove(t, path).problem(t).Code)
	require.Equal(t, problem.NotFound, u.get(t, path).problem(t).Code)
	require.Equal(t, problem.NotFound, u.patch(t, path, `{"is_active":true}`).problem(t).Code)
	require.Zero(t, u.count(t, "access_links"))
}

func TestBulkLinks(t *testing.T) {
	t.Parallel()
	f := start(t)
	u := f.user(t, account.Team)
	m := u.magnet(t)
	path := "/api/v1/lead-magnets/" + m.ID + "/bulk-links"
	r := u.post(t, path,
		`{"emails":["Zoe@example.com","al@example.com","jo@example.com"],"max_views":3,"expires_at":"2099-01-01"}`)
	require.Equal(t, http.StatusCreated, r.status, r.body)
	require.Equal(t, accessPath+"?lead_magnet_id="+m.ID, r.header.Get("Location"))
	made := r.object(t)["data"].([]any)
	require.Len(t, made, 3)
	tokens := map[any]bool{}
	for i, address := range []string{"Zoe@example.com", "al@example.com", "jo@example.com"} {
		link := made[i].(map[string]any)
		require.Equal(t, address, link["email"], "in the order of the addresses")
		require.EqualValues(t, 3, link["max_views"])
		require.Equal(t, "2099-01-01T00:00:00.000Z", link["expires_at"])
		require.Equal(t, link, u.get(t, accessPath+"/"+link["id"].(string)).object(t))
		tokens[link["url"]] = true
	}
	require.Len(t, tokens, 3)
	list, err := u.AccessLinks(t.Context(), client.AccessLinkFilter{LeadMagnetID: m.ID})
	require.NoError(t, err)
	require.EqualValues(t, 3, list.Pagination.Total)

	before := f.dump(t, u.account)
	for name, test := range map[string]struct {
		body, fields string
	}{
		"none":         {`{}`, "emails"},
		"null":         {`{"emails":null}`, "emails"},
		"empty":        {`{"emails":[]}`, "emails"},
		"one bad":      {`{"emails":["a@example.com","b@example.com","c@example.com","d"]}`, "emails[3]"},
		"null element": {`{"emails":["a@example.com",null]}`, "emails[1]"},
		"number":       {`{"emails":[1]}`, "emails[0]"},
		"twice":        {`{"emails":["a@example.com","b@example.com","A@Example.com"]}`, "emails[2]"},
		"several": {`{"emails":["a","b@example.com","b@example.com","c d@example.com"]}`,
			"emails[0] emails[2] emails[3]"},
		"header":         {`{"emails":["a@example.com\r\nBcc: x@example.com"]}`, "emails[0]"},
		"views":          {`{"emails":["a@example.com"],"max_views":0}`, "max_views"},
		"past":           {`{"emails":["a","b@example.com"],"expires_at":"2020-01-01"}`, "emails[0] expires_at"},
		"lead magnet id": {`{"emails":["a@example.com"],"lead_magnet_id":"` + m.ID + `"}`, "lead_magnet_id"},
	} {
		p := u.post(t, path, test.body).problem(t)
		require.Equal(t, problem.ValidationError, p.Code, name)
		require.Equal(t, test.fields, fields(p), name)
	}
	many := func(n int) string {
		list := make([]string, n)
		for i := range list {
			list[i] = fmt.Sprintf(`"%d@example.com"`, i)
		}
		return `{"emails":[` + strings.Join(list, ",") + `]}`
	}
	require.Equal(t, "emails", fields(u.post(t, path, many(1001)).problem(t)))
	wrong := u.post(t, path, strings.ReplaceAll(many(1000), "example.com", "")).problem(t)
	require.Len(t, wrong.Errors, 100, "an answer has an end")
	_, err = u.UpdateLeadMagnet(t.Context(), m.ID, clienttest.LeadMagnetChanges{IsActive: new(false)})
	require.NoError(t, err)
	require.Equal(t, problem.Conflict, u.post(t, path, many(1)).problem(t).Code)
	_, err = u.UpdateLeadMagnet(t.Context(), m.ID, clienttest.LeadMagnetChanges{IsActive: new(true)})
	require.NoError(t, err)
	require.Equal(t, problem.NotFound,
		u.post(t, strings.Replace(path, m.ID, uuid.NewString(), 1), many(1)).problem(t).Code)
	lines := func(dump string) (access []string) {
		for l := range strings.SplitSeq(dump, "\n") {
			if strings.HasPrefix(l, "access_links ") {
				access = append(access, l)
			}
		}
		return access
	}
	require.Equal(t, lines(before), lines(f.dump(t, u.account)), "all or none")

	links, err := u.CreateAccessLinks(t.Context(), m.ID, clienttest.NewAccessLinks{Emails: emails(1000)})
	require.NoError(t, err)
	require.Len(t, links, 1000)
	ids := make([]string, len(links))
	for i, l := range links {
		require.Equal(t, fmt.Sprintf("%d@example.com", i), l.Email)
		ids[i] = l.ID
	}
	slices.Sort(ids)
	require.Len(t, slices.Compact(ids), 1000)
}

func emails(n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf("%d@example.com", i)
	}
	return list
}

// Each filter alone and together with others; the order and the total agree.
func TestAccessLinksOfSubmission(t *testing.T) {
	t.Parallel()
	f := start(t)
	u := f.user(t, account.Team)
	link := u.link(t, u.magnet(t).ID)
	submission, access := u.submit(t, link, "jo@example.com", time.Now())
	u.submit(t, link, "al@example.com", time.Now())
	page, err := u.AccessLinks(t.Context(), client.AccessLinkFilter{SubmissionID: submission, Email: "JO@example.com",
		LeadMagnetID: link.LeadMagnetID, IsActive: new(true)})
	require.NoError(t, err)
	require.Len(t, page.Data, 1)
	require.Equal(t, access, page.Data[0].ID)
	_, err = u.UpdateAccessLink(t.Context(), access, clienttest.AccessLinkChanges{IsActive: new(false)})
	require.NoError(t, err)
	page, err = u.AccessLinks(t.Context(), client.AccessLinkFilter{SubmissionID: submission, IsActive: new(true)})
	require.NoError(t, err)
	require.Empty(t, page.Data)
}

// A submission counts the views of the links that it has: of one that is deleted it counts none, at
// once, since nothing looks at a link any more that is gone.
func TestADeletedAccessLinkLeavesItsSubmissionNoViews(t *testing.T) {
	t.Parallel()
	f := start(t)
	u := f.user(t, account.Team)
	link := u.link(t, u.magnet(t).ID)
	_, first := u.submit(t, link, "jo@example.com", submitted)
	second := uuid.NewString()
	exec := func(sql string, args ...any) {
		t.Helper()
		_, err := f.db.Unscoped().Exec(t.Context(), sql, args...)
		require.NoError(t, err)
	}
	exec(`INSERT INTO access_links (id, account_id, lead_magnet_id, generic_link_id, submission_id, email, email_key, token_hash, token_sealed, token_key)
		SELECT $1::uuid, account_id, lead_magnet_id, generic_link_id, submission_id, email, email_key, sha256($1::uuid::text::bytea), '', 0 FROM access_links WHERE id = $2`, second, first)
	exec(`INSERT INTO access_link_counts VALUES ($1, $3, 2, '2026-03-02T00:00:00Z', '2026-03-05T00:00:00Z'), ($2, $3, 1, '2026-03-03T00:00:00Z', '2026-03-03T00:00:00Z')`, first, second, u.account)
	counters := func() []any {
		s := u.get(t, linksPath+"/"+link.ID+"/submissions").object(t)["data"].([]any)[0].(map[string]any)
		return []any{s["view_count"], s["viewed"], s["first_viewed_at"], s["last_viewed_at"]}
	}

	require.Equal(t, http.StatusPreconditionFailed, u.send(t, http.MethodDelete, accessPath+"/"+first, http.NoBody,
		"If-Match", `"999"`).status)
	require.Equal(t, []any{3.0, true, "2026-03-02T00:00:00.000Z", "2026-03-05T00:00:00.000Z"}, counters())
	require.Equal(t, http.StatusNoContent, u.remove(t, accessPath+"/"+first).status)
	require.Equal(t, []any{1.0, true, "2026-03-03T00:00:00.000Z", "2026-03-03T00:00:00.000Z"}, counters())
	require.Equal(t, http.StatusNoContent, u.remove(t, accessPath+"/"+second).status)
	require.Equal(t, []any{0.0, false, nil, nil}, counters())
}

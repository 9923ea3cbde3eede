package crud_test

import (
	"context"
	"maps"
	"net/http"
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

// A change sets what it has, clears what is null, and leaves the rest as it is.
func TestChangeGenericLink(t *testing.T) {
	t.Parallel()
	u := start(t).user(t, account.Team)
	m := u.magnet(t)
	r := u.post(t, linksPath,
		`{"lead_magnet_id":"`+m.ID+
			`","slug":"before","title":"T","description":"D","thumbnail_url":"https://example.com/a.png"}`)
	want := r.object(t)
	path := r.header.Get("Location")
	for _, step := range []struct {
		body string
		set  map[string]any
	}{
		{`{"title":"New"}`, map[string]any{"title": "New"}},
		{`{"title":null}`, map[string]any{"title": nil}},
		{`{"title":null,"description":"a\nb"}`, map[string]any{"description": "a\nb"}},
		{`{"slug":"after"}`, map[string]any{"slug": "after", "url": site + "/l/after"}},
		{`{"slug":"after"}`, nil}, // its own slug is not taken
		{`{"collect_name":true,"require_verification":true}`,
			map[string]any{"collect_name": true, "require_verification": true}},
		{`{"collect_name":false}`, map[string]any{"collect_name": false}},
		{`{"language":"pl","show_readers":true,"show_pages":false}`,
			map[string]any{"language": "pl", "show_readers": true, "show_pages": false}},
		{`{"language":null,"show_contents":false}`, map[string]any{"language": nil, "show_contents": false}},
		{`{"thumbnail_url":null,"description":null}`, map[string]any{"thumbnail_url": nil, "description": nil}},
		{`{"thumbnail_url":"http://example.com"}`, map[string]any{"thumbnail_url": "http://example.com"}},
		{`{"button_text":"Go","consent_text":"I agree.","privacy_url":"https://example.com/p","redirect_url":"https://example.com/t"}`,
			map[string]any{"button_text": "Go", "consent_text": "I agree.", "privacy_url": "https://example.com/p",
				"redirect_url": "https://example.com/t"}},
		{`{"button_text":null,"privacy_url":null}`, map[string]any{"button_text": nil, "privacy_url": nil}},
		{`{"active":false}`, map[string]any{"active": false}},
		{`{"active":true,"slug":"third","title":"T","description":"","collect_name":true,"require_verification":false,"thumbnail_url":null}`,
			map[string]any{"active": true, "slug": "third", "url": site + "/l/third", "title": "T", "description": "",
				"collect_name": true, "require_verification": false, "thumbnail_url": nil}},
	} {
		got := u.patch(t, path, step.body).object(t)
		maps.Copy(want, step.set)
		require.GreaterOrEqual(t, got["updated_at"], want["updated_at"])
		want["updated_at"] = got["updated_at"]
		require.Equal(t, want, got, step.body)
		detail := u.get(t, path).object(t)
		delete(detail, "lead_magnet")
		require.Equal(t, want, detail, step.body)
	}
	// Nothing to change is no change, whatever the time.
	r = u.patch(t, path, " {} ")
	require.Equal(t, want, r.object(t))

	for body, field := range map[string]string{
		`{"slug":null}`: "slug", `{"collect_name":null}`: "collect_name",
		`{"require_verification":null}`: "require_verification", `{"active":null}`: "active",
		`{"lead_magnet_id":"` + m.ID + `"}`: "lead_magnet_id", `{"id":"x"}`: "id",
		`{"submission_count":0}`: "submission_count", `{"view_count":0}`: "view_count",
		`{"created_at":"2026-01-01"}`: "created_at", `{"url":"https://example.com"}`: "url", `{"colour":1}`: "colour",
		`{"title":""}`: "title", `{"title":" "}`: "title",
		`{"slug":"dashboard"}`: "slug", `{"slug":"-a-"}`: "slug", `{"thumbnail_url":"javascript:alert(1)"}`: "thumbnail_url",
		`{"thumbnail_url":""}`:           "thumbnail_url",
		`{"title":"fine","active":"no"}`: "active", `{"revision":5}`: "revision",
		`{"account_id":"` + uuid.NewString() + `"}`: "account_id",
	} {
		p := u.patch(t, path, body).problem(t)
		require.Equal(t, problem.ValidationError, p.Code, body)
		require.Equal(t, field, fields(p), body)
	}
	require.Equal(t, problem.InvalidJSON, u.patch(t, path, `{"title":"a","title":null}`).problem(t).Code)
	require.Equal(t, problem.NotFound, u.patch(t, linksPath+"/"+uuid.NewString(), `{}`).problem(t).Code)
	require.Equal(t, problem.NotFound, u.patch(t, linksPath+"/"+uuid.NewString(), `{"active":true}`).problem(t).Code)
	detail := u.get(t, path).object(t)
	delete(detail, "lead_magnet")
	require.Equal(t, want, detail)
}

func TestChangeToTakenSlug(t *testing.T) {
	t.Parallel()
	f := start(t)
	u, other := f.user(t, account.Team), f.user(t, account.Team)
	m := u.magnet(t)
	link := u.link(t, m.ID)
	taken, foreign := u.link(t, m.ID), other.link(t, other.magnet(t).ID)
	before := f.dump(t, u.account)
	for _, slug := range []string{taken.Slug, foreign.Slug} {
		r := u.patch(t, linksPath+"/"+link.ID, `{"slug":"`+slug+`","title":"x"}`)
		require.Equal(t, 400, r.status)
		p := r.problem(t)
		require.Equal(t, problem.SlugTaken, p.Code)
		require.Equal(t, "slug", fields(p))
	}
	require.Equal(t, before, f.dump(t, u.account))
}

// A slug that was once an account's is never another's: it is printed and mailed, and visitors come
// to it.
func TestSlugStaysWithItsAccount(t *testing.T) {
	t.Parallel()
	f := start(t)
	u, other := f.user(t, account.Team), f.user(t, account.Team)
	m, foreign := u.magnet(t), other.magnet(t)
	link, deleted, theirs := u.link(t, m.ID), u.link(t, m.ID), other.link(t, foreign.ID)
	require.NoError(t, u.DeleteGenericLink(t.Context(), deleted.ID))
	_, err := u.UpdateGenericLink(t.Context(), link.ID, clienttest.GenericLinkChanges{Slug: new("renamed-" + link.Slug)})
	require.NoError(t, err)
	for _, slug := range []string{deleted.Slug, link.Slug} {
		for _, r := range []reply{
			other.post(t, linksPath, `{"lead_magnet_id":"`+foreign.ID+`","slug":"`+slug+`"}`),
			other.patch(t, linksPath+"/"+theirs.ID, `{"slug":"`+slug+`"}`),
		} {
			require.Equal(t, 400, r.status)
			p := r.problem(t)
			require.Equal(t, problem.SlugTaken, p.Code)
			require.Equal(t, "slug", fields(p))
		}
	}
	// Its own account may use it again, and it stays its own.
	_, err = u.UpdateGenericLink(t.Context(), link.ID, clienttest.GenericLinkChanges{Slug: &link.Slug})
	require.NoError(t, err)
	again, err := u.CreateGenericLink(t.Context(), client.NewGenericLink{LeadMagnetID: m.ID, Slug: &deleted.Slug})
	require.NoError(t, err)
	require.NoError(t, u.DeleteGenericLink(t.Context(), again.ID))
	require.Equal(t, 400, other.post(t, linksPath, `{"lead_magnet_id":"`+foreign.ID+`","slug":"`+deleted.Slug+`"}`).status)
}

// A link that waits for another account's deletion of the same slug does not get it either.
func TestSlugIsNotTakenWhileItsLinkIsDeleted(t *testing.T) {
	t.Parallel()
	f := startAlone(t)
	u, other := f.user(t, account.Team), f.user(t, account.Team)
	link, foreign := u.link(t, u.magnet(t).ID), other.magnet(t)
	tx, err := f.db.Unscoped().Begin(t.Context())
	require.NoError(t, err)
	defer func() { _ = tx.Rollback(context.Background()) }()
	_, err = tx.Exec(t.Context(), `DELETE FROM generic_links WHERE id = $1`, link.ID)
	require.NoError(t, err)
	answered := make(chan reply, 1)
	go func() {
		answered <- other.post(t, linksPath, `{"lead_magnet_id":"`+foreign.ID+`","slug":"`+link.Slug+`"}`) //nolint:testifylint // if it fails, nothing is answered, and the test fails below
	}()
	require.Eventually(t, func() bool {
		var waiting int
		return f.db.Unscoped().QueryRow(t.Context(),
			`SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`).Scan(
			&waiting) == nil && waiting > 0
	}, testTimeout, 10*time.Millisecond)
	require.NoError(t, tx.Commit(t.Context()))
	require.Equal(t, problem.SlugTaken, (<-answered).problem(t).Code)
}

func TestDeleteGenericLink(t *testing.T) {
	t.Parallel()
	f := start(t)
	u := f.user(t, account.Free)
	m := u.magnet(t)
	link, other := u.link(t, m.ID), u.link(t, m.ID)
	submission, access := u.submit(t, link, "jo@example.com", time.Now())
	kept, keptAccess := u.submit(t, other, "jo@example.com", time.Now())
	require.Equal(t, submission, u.get(t, accessPath+"/"+access).object(t)["submission_id"])
	r := u.remove(t, linksPath+"/"+link.ID)
	require.Equal(t, http.StatusNoContent, r.status)
	require.Empty(t, r.body)
	for range 2 {
		require.Equal(t, problem.NotFound, u.remove(t, linksPath+"/"+link.ID).problem(t).Code)
		require.Equal(t, problem.NotFound, u.get(t, linksPath+"/"+link.ID).problem(t).Code)
		require.Equal(t, problem.NotFound, u.get(t, linksPath+"/"+link.ID+"/submissions").problem(t).Code)
	}
	// The submissions are gone, and access links keep no reference.
	require.Equal(t, 1, u.count(t, "submissions"))
	left := u.get(t, accessPath+"/"+access).object(t)
	require.Nil(t, left["submission_id"])
	require.Nil(t, left["generic_link_id"])
	untouched := u.get(t, accessPath+"/"+keptAccess).object(t)
	require.Equal(t, kept, untouched["submission_id"])
	require.Equal(t, other.ID, untouched["generic_link_id"])
	// It no longer counts against the plan.
	u.link(t, m.ID)
	u.link(t, m.ID)
	require.Equal(t, problem.LimitReached, u.post(t, linksPath, `{"lead_magnet_id":"`+m.ID+`"}`).problem(t).Code)
}

// A state that was seen has a tag: with it, a change is made in that state only.
func TestEntityTags(t *testing.T) {
	t.Parallel()
	f := start(t)
	u := f.user(t, account.Team)
	m := u.magnet(t)
	for name, thing := range map[string]struct{ path, first, second string }{
		"lead magnet":  {"/api/v1/lead-magnets/" + m.ID, `{"title":"a"}`, `{"title":"b"}`},
		"generic link": {linksPath + "/" + u.link(t, m.ID).ID, `{"title":"a"}`, `{"title":"b"}`},
		"access link":  {accessPath + "/" + u.accessLink(t, m.ID).ID, `{"max_views":1}`, `{"max_views":2}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			seen := u.get(t, thing.path)
			tag := strings.TrimPrefix(seen.header.Get("ETag"), "W/") // compressed answers have a weak one
			require.Regexp(t, `^"1-[0-9a-f]{16}"$`, tag)
			require.Equal(t, "no-store", seen.header.Get("Cache-Control"))
			for _, header := range []string{tag, "W/" + tag, `"x", ` + tag, "*"} {
				for _, method := range []string{"GET", "HEAD"} {
					r := u.send(t, method, thing.path, http.NoBody, "If-None-Match", header)
					require.Equal(t, http.StatusNotModified, r.status, header)
					require.Empty(t, r.body)
					require.Equal(t, tag, r.header.Get("ETag"))
				}
			}
			for _, header := range []string{`"x"`, "nonsense", tag[1:]} {
				require.Equal(t, 200, u.send(t, "GET", thing.path, http.NoBody, "If-None-Match", header).status, header)
			}

			first := u.patch(t, thing.path, thing.first, "If-Match", tag)
			require.Equal(t, 200, first.status, first.body)
			next := first.header.Get("ETag")
			require.Regexp(t, `^"2-`, next)
			require.NotEqual(t, tag, next)
			for _, stale := range []reply{
				u.patch(t, thing.path, thing.second, "If-Match", tag),
				u.patch(t, thing.path, `{}`, "If-Match", tag),
				u.patch(t, thing.path, thing.second, "If-Match", `"7-1", "other", ""`),
				u.remove(t, thing.path, "If-Match", tag),
			} {
				require.Equal(t, http.StatusPreconditionFailed, stale.status)
				require.Equal(t, problem.Conflict, stale.problem(t).Code)
				require.Empty(t, stale.header.Get("ETag"))
			}
			for _, malformed := range []string{"1-a", `"1-a`, `"a" "b"`, `*, "a"`} {
				p := u.patch(t, thing.path, thing.second, "If-Match", malformed).problem(t)
				require.Equal(t, problem.InvalidParameter, p.Code, malformed)
				require.Equal(t, "If-Match", fields(p))
			}
			require.Equal(t, 200, u.send(t, "GET", thing.path, http.NoBody, "If-None-Match", tag).status)
			// Nothing to change leaves the state as it is; what was sent weakly, or in a list, is known.
			require.Equal(t, next, u.patch(t, thing.path, `{}`, "If-Match", next).header.Get("ETag"))
			require.Equal(t, 200, u.patch(t, thing.path, thing.second, "If-Match", `"x", W/`+next).status)
			require.Equal(t, 200, u.patch(t, thing.path, thing.second, "If-Match", "*").status)
			require.Equal(t, 200, u.patch(t, thing.path, thing.second).status)
			missing := thing.path[:len(thing.path)-36] + uuid.NewString()
			require.Equal(t, problem.NotFound, u.patch(t, missing, thing.first, "If-Match", tag).problem(t).Code)
			require.Equal(t, problem.NotFound, u.remove(t, missing, "If-Match", tag).problem(t).Code)
		})
	}
}

// A view that is counted between reading and changing is no lost update, but it is news.
func TestCountersAndTags(t *testing.T) {
	t.Parallel()
	f := start(t)
	u := f.user(t, account.Team)
	m := u.magnet(t)
	link, access := u.link(t, m.ID), u.accessLink(t, m.ID)
	require.NotEmpty(t, link.ETag)
	for table, path := range map[string]string{"generic_link": linksPath + "/" + link.ID,
		"access_link": accessPath + "/" + access.ID} {
		tag := u.get(t, path).header.Get("ETag")
		_, err := f.db.Unscoped().Exec(t.Context(),
			"INSERT INTO "+table+"_counts (id, account_id, views) SELECT id, account_id, 1 FROM "+table+
				"s WHERE account_id = $1", u.account)
		require.NoError(t, err)
		r := u.send(t, "GET", path, http.NoBody, "If-None-Match", tag)
		require.Equal(t, 200, r.status)
		require.NotEqual(t, tag, r.header.Get("ETag"))
		require.Equal(t, http.StatusNoContent, u.remove(t, path, "If-Match", tag).status)
	}
}

// The client carries tags from reading to changing.
func TestClientChanges(t *testing.T) {
	t.Parallel()
	u := start(t).user(t, account.Team)
	m := u.magnet(t)
	link, err := u.CreateGenericLink(t.Context(), client.NewGenericLink{LeadMagnetID: m.ID,
		Title: new("T"), Description: new("D")})
	require.NoError(t, err)
	changed, err := u.UpdateGenericLink(t.Context(), link.ID,
		clienttest.GenericLinkChanges{Title: clienttest.Clear[string](),
			ThumbnailURL: clienttest.Set("https://example.com/x"), Active: new(false)}, link.ETag)
	require.NoError(t, err)
	require.Nil(t, changed.Title)
	require.Equal(t, "D", *changed.Description)
	require.Equal(t, "https://example.com/x", *changed.ThumbnailURL)
	require.False(t, changed.Active)
	_, err = u.UpdateGenericLink(t.Context(), link.ID, clienttest.GenericLinkChanges{}, link.ETag)
	var p *problem.Problem
	require.ErrorAs(t, err, &p)
	require.Equal(t, http.StatusPreconditionFailed, p.Status)
	require.ErrorAs(t, u.DeleteGenericLink(t.Context(), link.ID, link.ETag), &p)
	require.NoError(t, u.DeleteGenericLink(t.Context(), link.ID, link.ETag, changed.ETag))
	access := u.accessLink(t, m.ID)
	at := time.Now().Add(time.Hour).UTC().Truncate(time.Millisecond)
	_, err = u.UpdateAccessLink(t.Context(), access.ID, clienttest.AccessLinkChanges{MaxViews: clienttest.Set(7),
		ExpiresAt: clienttest.Set(at)})
	require.NoError(t, err)
	got, err := u.UpdateAccessLink(t.Context(), access.ID, clienttest.AccessLinkChanges{MaxViews: clienttest.Clear[int]()})
	require.NoError(t, err)
	require.Nil(t, got.MaxViews)
	require.Equal(t, at, *got.ExpiresAt)
	require.NoError(t, u.DeleteAccessLink(t.Context(), access.ID, got.ETag))
	renamed, err := u.UpdateLeadMagnet(t.Context(), m.ID, clienttest.LeadMagnetChanges{Title: new("Other")}, m.ETag)
	require.NoError(t, err)
	require.Equal(t, "Other", renamed.Title)
	require.NoError(t, u.DeleteLeadMagnet(t.Context(), m.ID, false, renamed.ETag))
}

// What shows in an access link changes when its generic link or submission goes, so a change that
// was made in view of the state before is refused.
func TestDeletingWhatALinkCameFromChangesIt(t *testing.T) {
	t.Parallel()
	f := start(t)
	u := f.user(t, account.Team)
	for name, remove := range map[string]func(link client.GenericLink, submission string){
		"generic link": func(link client.GenericLink,
			_ string) {
			require.NoError(t, u.DeleteGenericLink(t.Context(), link.ID))
		},
		"submission": func(_ client.GenericLink, submission string) {
			_, err := f.db.Unscoped().Exec(t.Context(), "DELETE FROM submissions WHERE id = $1", submission)
			require.NoError(t, err)
		},
	} {
		link := u.link(t, u.magnet(t).ID)
		submission, access := u.submit(t, link, "jo@example.com", time.Now())
		// Times are kept in milliseconds, and this takes less than one at times.
		_, err := f.db.Unscoped().Exec(t.Context(),
			"UPDATE access_links SET updated_at = now() - interval '1 hour' WHERE id = $1", access)
		require.NoError(t, err)
		before := u.get(t, accessPath+"/"+access)
		remove(link, submission)
		after := u.get(t, accessPath+"/"+access)
		require.Nil(t, after.object(t)["submission_id"], name)
		require.Equal(t, name == "generic link", after.object(t)["generic_link_id"] == nil, name)
		require.NotEqual(t, before.object(t)["updated_at"], after.object(t)["updated_at"], name)
		r := u.patch(t, accessPath+"/"+access, `{"max_views":5}`, "If-Match", before.header.Get("ETag"))
		require.Equal(t, 412, r.status, name)
		r = u.patch(t, accessPath+"/"+access, `{"max_views":5}`, "If-Match", after.header.Get("ETag"))
		require.Equal(t, 200, r.status, name)
	}
}

// No link is made to a document that is not active: whoever gets it would find nothing.
func TestNoLinksToAnInactiveLeadMagnet(t *testing.T) {
	t.Parallel()
	u := start(t).user(t, account.Team)
	m := u.magnet(t)
	_, err := u.UpdateLeadMagnet(t.Context(), m.ID, clienttest.LeadMagnetChanges{IsActive: new(false)})
	require.NoError(t, err)
	for path, body := range map[string]string{
		linksPath:  `{"lead_magnet_id":"` + m.ID + `"}`,
		accessPath: `{"lead_magnet_id":"` + m.ID + `","email":"jo@example.com"}`,
		"/api/v1/lead-magnets/" + m.ID + "/bulk-links": `{"emails":["jo@example.com"]}`,
	} {
		p := u.post(t, path, body).problem(t)
		require.Equal(t, problem.Conflict, p.Code, path)
		require.Contains(t, p.Detail, "not active")
	}
	require.Zero(t, u.count(t, "generic_links"))
}

// What a body cannot set, the message says where it is set.
func TestMessagesSayWhereAFieldIsSet(t *testing.T) {
	t.Parallel()
	u := start(t).user(t, account.Team)
	m := u.magnet(t)
	link, access := u.link(t, m.ID), u.accessLink(t, m.ID)
	for _, c := range []struct{ method, path, body, field, says string }{
		{"POST", linksPath, `{"lead_magnet_id":"` + m.ID + `","active":false}`, "active", "PATCH"},
		{"POST", accessPath, `{"lead_magnet_id":"` + m.ID + `","email":"jo@example.com","is_active":false}`, "is_active",
			"PATCH"},
		{"POST", "/api/v1/lead-magnets", `{"title":"x","is_active":false}`, "is_active", "PATCH"},
		{"PATCH", linksPath + "/" + link.ID, `{"lead_magnet_id":"` + m.ID + `"}`, "lead_magnet_id", "when"},
		{"PATCH", accessPath + "/" + access.ID, `{"email":"al@example.com"}`, "email", "when"},
		{"PATCH", accessPath + "/" + access.ID, `{"lead_magnet_id":"` + m.ID + `"}`, "lead_magnet_id", "when"},
		{"POST", linksPath, `{"lead_magnet_id":"` + m.ID + `","view_count":1}`, "view_count", "read-only"},
	} {
		p := u.send(t, c.method, c.path, strings.NewReader(c.body), "Content-Type", "application/json").problem(t)
		require.Equal(t, problem.ValidationError, p.Code, c.body)
		require.Equal(t, c.field, fields(p), c.body)
		require.Contains(t, p.Errors[0].Message, c.says, c.body)
	}
	taken := u.link(t, m.ID)
	p := u.patch(t, linksPath+"/"+link.ID, `{"slug":"`+taken.Slug+`"}`).problem(t)
	require.Equal(t, problem.SlugTaken, p.Code)
	require.NotContains(t, p.Detail, "leave it out", "left out it would stay as it is")
	require.Contains(t, u.post(t, linksPath, `{"lead_magnet_id":"`+m.ID+`","slug":"`+taken.Slug+`"}`).problem(t).Detail,
		"leave it out")
}

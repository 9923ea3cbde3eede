package crud_test

import (
	"bytes"
	"fmt"
	"image/color"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"lodestone/crud/account"
	"lodestone/pkg/client"
	"lodestone/pkg/problem"
)

// slugs returns the slugs that a list of generic links has, in its order.
func (u *user) slugs(t *testing.T, query string) (list []string) {
	t.Helper()
	r := u.get(t, linksPath+"?"+query)
	require.Equal(t, 200, r.status, r.body)
	answer := r.object(t)
	for _, one := range answer["data"].([]any) {
		list = append(list, one.(map[string]any)["slug"].(string))
	}
	require.EqualValues(t, len(list), answer["pagination"].(map[string]any)["total"])
	return list
}

// make creates a generic link with more fields, as JSON.
func (u *user) make(t *testing.T, magnet, slug, more string) string {
	t.Helper()
	r := u.post(t, linksPath, fmt.Sprintf(`{"lead_magnet_id":%q,"slug":%q%s}`, magnet, slug, more))
	require.Equal(t, 201, r.status, r.body)
	return r.object(t)["id"].(string)
}

func TestGenericLinksAreSearchedAndFiltered(t *testing.T) {
	t.Parallel()
	f := start(t)
	u, other := f.user(t, account.Team), f.user(t, account.Team)
	guide := u.magnet(t)
	report, err := u.CreateLeadMagnet(t.Context(), client.NewLeadMagnet{Title: "Größe 100 %"})
	require.NoError(t, err)
	u.make(t, guide.ID, "q-one", `,"name":"LinkedIn, spring","title":"Get the worksheet"`)
	closed := u.make(t, guide.ID, "q-two", `,"title":"Get the worksheet"`)
	expired := u.make(t, report.ID, "q-three", "")
	archived := u.make(t, report.ID, "q-four", `,"title":"LinkedIn"`)
	other.make(t, other.magnet(t).ID, "q-five", `,"title":"LinkedIn"`)
	require.Equal(t, 200, u.patch(t, linksPath+"/"+closed, `{"active":false}`).status)
	_, err = f.db.Unscoped().Exec(t.Context(), "UPDATE generic_links SET expires_at = now() WHERE id = $1", expired)
	require.NoError(t, err)
	gone := u.patch(t, linksPath+"/"+archived, `{"archived":true}`).object(t)
	require.Equal(t, []any{true, false}, []any{gone["archived"], gone["active"]})

	for query, want := range map[string][]string{
		"":                                  {"q-three", "q-two", "q-one"},
		"status=open":                       {"q-one"},
		"status=closed":                     {"q-three", "q-two"},
		"status=archived":                   {"q-four"},
		"status=all":                        {"q-four", "q-three", "q-two", "q-one"},
		"status=all&sort=created_at":        {"q-one", "q-two", "q-three", "q-four"},
		"q=WORKSHEET":                       {"q-two", "q-one"},
		"q=linkedin":                        {"q-one"},
		"q=linkedin&status=all":             {"q-four", "q-one"},
		"q=gr%C3%B6%C3%9Fe":                 {"q-three"},
		"q=%25":                             {"q-three"},
		"q=q-t&lead_magnet_id=" + guide.ID:  {"q-two"},
		"q=q-t&lead_magnet_id=" + report.ID: {"q-three"},
		"q=nowhere":                         nil,
	} {
		require.Equal(t, want, u.slugs(t, query), query)
	}

	// Its page says what that of a closed one says. Opening it brings it back, as archived=false does.
	require.Equal(t, f.public(t, "GET", "/l/q-two").status, f.public(t, "GET", "/l/q-four").status)
	back := u.patch(t, linksPath+"/"+archived, `{"archived":false}`).object(t)
	require.Equal(t, []any{false, false}, []any{back["archived"], back["active"]})
	u.patch(t, linksPath+"/"+archived, `{"archived":true}`)
	back = u.patch(t, linksPath+"/"+archived, `{"active":true}`).object(t)
	require.Equal(t, []any{false, true}, []any{back["archived"], back["active"]})
	p := u.patch(t, linksPath+"/"+archived, `{"active":true,"archived":true}`).problem(t)
	require.Equal(t, problem.ValidationError, p.Code)
	require.Equal(t, "archived", fields(p))
}

func TestGenericLinksAreRanked(t *testing.T) {
	t.Parallel()
	f := start(t)
	u := f.user(t, account.Team)
	magnet, _, _ := u.upload(t) // three pages
	id := magnet.String()
	made := map[string]client.GenericLink{}
	for _, slug := range []string{"r-viewed", "r-sent", "r-read"} {
		l, err := u.GenericLink(t.Context(), u.make(t, id, slug, ""))
		require.NoError(t, err)
		made[slug] = l
	}
	exec := func(sql string, args ...any) {
		_, err := f.db.Unscoped().Exec(t.Context(), sql, args...)
		require.NoError(t, err, sql)
	}
	exec("INSERT INTO generic_link_counts (id, account_id, views) VALUES ($1, $3, 9), ($2, $3, 4)", made["r-viewed"].ID,
		made["r-read"].ID, u.account)
	exec("UPDATE generic_links SET submission_count = 7 WHERE id = $1", made["r-sent"].ID)
	exec("UPDATE generic_links SET submission_count = 2 WHERE id = $1", made["r-viewed"].ID)
	// Two people reach the last page by one link, one of them twice; by another, one; bots reach it
	// by the third.
	for n, s := range []struct {
		slug, email, pages string
		bot                bool
	}{
		{"r-read", "a@example.com", "{1,2,3}", false}, {"r-read", "a2@example.com", "{3}", false},
		{"r-sent", "b@example.com", "{3}", false}, {"r-sent", "c@example.com", "{1,2}", false},
		{"r-viewed", "d@example.com", "{3}", true}, {"r-viewed", "e@example.com", "{3}", true},
		{"r-viewed", "f@example.com", "{3}", true},
	} {
		_, access := u.submit(t, made[s.slug], s.email, time.Now())
		for range 1 + n%2 {
			exec("INSERT INTO sessions (id, account_id, access_link_id, magnet_version, pages, bot) VALUES ($1, $2, $3, 1, $4, $5)",
				uuid.New(), u.account, access, s.pages, s.bot)
		}
	}
	for sort, want := range map[string]string{"-view_count": "r-viewed r-read", "-submission_count": "r-sent r-viewed",
		"-finished": "r-read r-sent"} {
		got := u.slugs(t, "sort="+sort)
		require.Equal(t, want, got[0]+" "+got[1], sort)
		require.Len(t, got, 4)
	}
}

// Readers who finished judge two headlines, from when the headlines are as they are.
func TestHeadlinesAreCompared(t *testing.T) {
	t.Parallel()
	f := start(t)
	u, other := f.user(t, account.Team), f.user(t, account.Team)
	_, id, path := u.upload(t) // three pages
	require.Equal(t, problem.Conflict, u.get(t, path+"/headlines").problem(t).Code)
	require.Equal(t, 200, u.patch(t, path, `{"headline_b":"Or this"}`).status)
	l, err := u.GenericLink(t.Context(), id.String())
	require.NoError(t, err)
	for n := range 30 { // 14 see the first headline, and one of them reads to the end; all others do
		s, access := u.submit(t, l, fmt.Sprintf("h%d@example.com", n), time.Now())
		pages := "{1,3}"
		if n > 0 && n < 14 {
			pages = "{1,2}"
		}
		_, err := f.db.Unscoped().Exec(t.Context(), "UPDATE submissions SET headline_b = $2 WHERE id = $1", s, n >= 14)
		require.NoError(t, err)
		_, err = f.db.Unscoped().Exec(t.Context(), `INSERT INTO sessions (id, account_id, access_link_id, magnet_version, pages)
			VALUES ($1, $2, $3, 1, $4)`, uuid.New(), u.account, access, pages)
		require.NoError(t, err)
	}
	u.submit(t, l, "before@example.com", time.Now()) // saw the only headline that there was
	got := u.get(t, path+"/headlines").object(t)
	require.Equal(t, map[string]any{"title": "The Complete Guide", "submissions": 14.0, "finished": 1.0}, got["a"])
	require.Equal(t, map[string]any{"title": "Or this", "submissions": 16.0, "finished": 16.0}, got["b"])
	require.Equal(t, "early", got["decision"])
	require.InDelta(t, 0.99, got["probability_b"], 0.01)
	require.Equal(t, problem.NotFound, other.get(t, path+"/headlines").problem(t).Code)

	// Another headline is another comparison; other fields are not.
	require.Equal(t, 200, u.patch(t, path, `{"description":"D","title":null}`).status)
	require.Equal(t, got, u.get(t, path+"/headlines").object(t))
	require.Equal(t, 200, u.patch(t, path, `{"title":"Get it"}`).status)
	got = u.get(t, path+"/headlines").object(t)
	require.Equal(t, map[string]any{"title": "Get it", "submissions": 0.0, "finished": 0.0}, got["a"])
	require.Nil(t, got["probability_b"])
}

// A copy has every field of the other link, whatever is added to links later, but what is of one
// link.
func TestGenericLinkIsDuplicated(t *testing.T) {
	t.Parallel()
	f := start(t)
	u, other := f.user(t, account.Team), f.user(t, account.Team)
	_, _, path := u.upload(t)
	r := u.patch(t, path, `{"title":"Copy me","description":"D","collect_name":true,"require_verification":true,"button_text":"B",`+
		`"consent_text":"C","privacy_url":"https://example.com/p","language":"de","show_contents":false,"show_pages":false,`+
		`"show_readers":true,"redirect_url":"https://example.com/r","reading_notices":"none","access_expires_after_days":5,`+
		`"expires_at":"2101-01-01T00:00:00Z","allowed_origins":["https://www.example.com"]}`)
	require.Equal(t, 200, r.status, r.body)
	require.Equal(t, 200, u.send(t, "PUT", path+"/thumbnail", bytes.NewReader(flag(t, 40, 50, color.NRGBA{R: 200, A: 255})), "Content-Type",
		"image/png").status)
	original := u.get(t, path).object(t)
	u.submit(t, client.GenericLink{ID: original["id"].(string), LeadMagnetID: original["lead_magnet_id"].(string)},
		"jo@example.com", time.Now())
	require.Equal(t, 200, u.patch(t, path, `{"archived":true}`).status)

	r = u.post(t, path+"/duplicate", "")
	require.Equal(t, 201, r.status, r.body)
	made := r.object(t)
	require.Equal(t, linksPath+"/"+made["id"].(string), r.header.Get("Location"))
	require.Equal(t, "copy-me", made["slug"])
	require.Equal(t, "Copy me (copy)", made["name"])
	require.NotEqual(t, original["thumbnail_url"], made["thumbnail_url"])
	thumbnail := func(of map[string]any) string { return of["thumbnail_url"].(string)[len(site):] }
	require.Equal(t, f.public(t, "GET", thumbnail(original)).body, f.public(t, "GET", thumbnail(made)).body)
	for _, own := range []string{"id", "slug", "url", "name", "thumbnail_url", "created_at", "updated_at", "lead_magnet"} {
		delete(original, own)
		delete(made, own)
	}
	require.Equal(t, original, made)

	// The picture of the copy is its own.
	require.Equal(t, 204, u.remove(t, path).status)
	first := u.get(t, linksPath+"?q=copy-me").object(t)["data"].([]any)[0].(map[string]any)["id"].(string)
	copied := u.post(t, linksPath+"/"+first+"/duplicate", "").object(t)
	require.Equal(t, "copy-me-2", copied["slug"])
	require.Equal(t, 200, f.public(t, "GET", thumbnail(copied)).status)
	require.Equal(t, problem.NotFound, other.post(t, linksPath+"/"+copied["id"].(string)+"/duplicate", "").problem(t).Code)
	require.Equal(t, problem.NotFound, u.post(t, path+"/duplicate", "").problem(t).Code)
}

// Lists of links read an index in its order, and stop at the end of the page: the planner puts what
// chosen_links says in the place of its call.
func TestListsOfLinksReadAnIndex(t *testing.T) {
	t.Parallel()
	f := start(t)
	u := f.user(t, account.Team)
	m := u.magnet(t)
	_, err := f.db.Unscoped().Exec(t.Context(), `INSERT INTO generic_links (id, account_id, lead_magnet_id, slug)
		SELECT gen_random_uuid(), $1, $2, 'plan-' || gen_random_uuid() FROM generate_series(1, 2000)`, u.account, m.ID)
	require.NoError(t, err)
	_, err = f.db.Unscoped().Exec(t.Context(), "ANALYZE generic_links")
	require.NoError(t, err)
	for _, order := range []string{"created_at DESC, id DESC", "created_at, id"} {
		for _, containing := range []any{nil, "plan"} {
			var plan string
			require.NoError(t, f.db.Account(t.Context(), u.account, func(tx pgx.Tx) error {
				return tx.QueryRow(t.Context(), `EXPLAIN (FORMAT JSON)
					SELECT * FROM chosen_links(NULL::uuid, '', $1::text) l ORDER BY `+order+" LIMIT 20", containing).Scan(&plan)
			}))
			require.Contains(t, plan, `"Index Name": "generic_links_newest"`)
			require.NotContains(t, plan, `"Sort"`)
			require.NotContains(t, plan, "Function Scan")
		}
	}
}

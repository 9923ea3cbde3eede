package crud_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/crud/account"
	"lodestone/pkg/client"
	"lodestone/pkg/problem"
)

const linksPath = "/api/v1/generic-links"

func TestGenericLink(t *testing.T) {
	t.Parallel()
	u := start(t).user(t, account.Team)
	m := u.magnet(t)
	r := u.post(t, linksPath,
		`{"lead_magnet_id":"`+m.ID+`","slug":"my-guide-2","title":"Get it","description":"a\nb","collect_name":true,`+
			`"require_verification":true,"thumbnail_url":"https://example.com/a.png?x=1","button_text":"Get it","consent_text":"I agree.",`+
			`"privacy_url":"https://example.com/privacy","redirect_url":"https://exämple.com/thanks?x=1"}`)
	require.Equal(t, 201, r.status, r.body)
	made := r.object(t)
	id := made["id"].(string)
	require.Equal(t, linksPath+"/"+id, r.header.Get("Location"))
	require.Equal(t, uuid.Version(7), uuid.MustParse(id).Version())
	want := map[string]any{
		"id": id, "lead_magnet_id": m.ID, "slug": "my-guide-2", "url": site + "/l/my-guide-2",
		"name": nil, "headline_b": nil, "title": "Get it", "description": "a\nb",
		"thumbnail_url": "https://example.com/a.png?x=1", "collect_name": true, "require_verification": true,
		"button_text": "Get it", "consent_text": "I agree.", "privacy_url": "https://example.com/privacy",
		"redirect_url": "https://exämple.com/thanks?x=1",
		"language":     nil, "show_contents": true, "show_pages": true, "show_readers": false,
		"reading_notices": nil, "expires_at": nil, "access_expires_after_days": nil,
		"allowed_origins": []any{}, "fields": []any{}, "submission_count": 0.0, "view_count": 0.0, "active": true,
		"archived": false,
		"gate": map[string]any{"allow": []any{}, "block": []any{}, "max_people": nil, "passcode_set": false, "agreement": nil,
			"watermark": false},
		"created_at": made["created_at"], "updated_at": made["updated_at"],
	}
	require.Equal(t, want, made)

	detail := u.get(t, linksPath+"/"+id).object(t)
	embedded := detail["lead_magnet"].(map[string]any)
	require.Equal(t, m.ID, embedded["id"])
	require.EqualValues(t, 1, embedded["generic_link_count"])
	delete(detail, "lead_magnet")
	require.Equal(t, want, detail)
	require.Equal(t, []any{want}, u.get(t, linksPath).object(t)["data"])

	// Everything but the lead magnet can be left out, or null.
	for _, rest := range []string{"",
		`,"name":null,"slug":null,"title":null,"description":null,"thumbnail_url":null,"button_text":null,"consent_text":null,"privacy_url":null,"redirect_url":null`} {
		plain := u.post(t, linksPath, `{"lead_magnet_id":"`+m.ID+`"`+rest+`}`).object(t)
		require.Regexp(t, `^the-complete-guide(-[23]|-[a-z2-7]{6})?$`, plain["slug"])
		for field, value := range map[string]any{"name": nil, "title": nil, "description": nil, "thumbnail_url": nil,
			"collect_name": false, "require_verification": false, "active": true,
			"button_text": nil, "consent_text": nil, "privacy_url": nil, "redirect_url": nil} {
			got, present := plain[field]
			require.True(t, present, field)
			require.Equal(t, value, got, field)
		}
	}
}

func TestGeneratedSlugs(t *testing.T) {
	t.Parallel()
	f := start(t)
	u, other := f.user(t, account.Team), f.user(t, account.Team)
	m := u.magnet(t)
	for title, slug := range map[string]string{
		"Ünïcode & Größe!":                "unicode-grosse",
		"10 tips—for you":                 "10-tips-for-you",
		"指南":                              "guide-[a-z2-7]{6}",
		"It's John’s":                     "its-johns",
		strings.Repeat("word ", 30):       "word-word-word-word-word-word-word-word-word-word-word",
		strings.Repeat("x", 200):          strings.Repeat("x", 57),
		"admin":                           "admin-[a-z2-7]{6}",
		"-- a --":                         "a-[a-z2-7]{6}",
		"ﬁne print № 5 ½":                 "fine-print-no-5-1-2",
		"emoji 🎉 party":                   "emoji-party",
		"javascript:alert(1)//<script>":   "javascript-alert-1-script",
		"İstanbul":                        "istanbul",
		"e\u0301te\u0301":                 "ete",
		strings.Repeat("長い", 90) + "long": "long",
	} {
		link, err := u.CreateGenericLink(t.Context(), client.NewGenericLink{LeadMagnetID: m.ID, Title: &title})
		require.NoError(t, err, title)
		require.Regexp(t, "^"+slug+"$", link.Slug, title)
		require.LessOrEqual(t, len(link.Slug), 64)
	}
	// Whoever has it, a slug that is taken gets a number, and then a random end.
	foreign := other.magnet(t)
	for _, want := range []string{"fete", "fete-2", "fete-3", "fete-[a-z2-7]{6}"} {
		link, err := other.CreateGenericLink(t.Context(), client.NewGenericLink{LeadMagnetID: foreign.ID, Title: new("Fête")})
		require.NoError(t, err)
		require.Regexp(t, "^"+want+"$", link.Slug)
	}
}

func TestGenericLinkRefused(t *testing.T) {
	t.Parallel()
	f := start(t)
	u, other := f.user(t, account.Team), f.user(t, account.Team)
	m, foreign := u.magnet(t), other.magnet(t)
	taken, err := other.CreateGenericLink(t.Context(),
		client.NewGenericLink{LeadMagnetID: foreign.ID, Slug: new("taken-slug")})
	require.NoError(t, err)
	for name, test := range map[string]struct {
		body  string
		code  problem.Code
		field string
	}{
		"no lead magnet":      {`{}`, problem.ValidationError, "lead_magnet_id"},
		"lead magnet null":    {`{"lead_magnet_id":null}`, problem.ValidationError, "lead_magnet_id"},
		"lead magnet text":    {`{"lead_magnet_id":"x"}`, problem.InvalidLeadMagnet, "lead_magnet_id"},
		"lead magnet number":  {`{"lead_magnet_id":5}`, problem.ValidationError, "lead_magnet_id"},
		"lead magnet braces":  {`{"lead_magnet_id":"{` + m.ID + `}"}`, problem.InvalidLeadMagnet, "lead_magnet_id"},
		"unknown lead magnet": {`{"lead_magnet_id":"` + uuid.NewString() + `"}`, problem.InvalidLeadMagnet, "lead_magnet_id"},
		"foreign lead magnet": {`{"lead_magnet_id":"` + foreign.ID + `"}`, problem.InvalidLeadMagnet, "lead_magnet_id"},
		"taken by another":    {`{"lead_magnet_id":"` + m.ID + `","slug":"` + taken.Slug + `"}`, problem.SlugTaken, "slug"},
		"reserved":            {`{"lead_magnet_id":"` + m.ID + `","slug":"dashboard"}`, problem.ValidationError, "slug"},
		"short slug":          {`{"lead_magnet_id":"` + m.ID + `","slug":"ab"}`, problem.ValidationError, "slug"},
		"empty slug":          {`{"lead_magnet_id":"` + m.ID + `","slug":""}`, problem.ValidationError, "slug"},
		"long slug": {`{"lead_magnet_id":"` + m.ID + `","slug":"` + strings.Repeat("a", 65) + `"}`,
			problem.ValidationError, "slug"},
		"capital":         {`{"lead_magnet_id":"` + m.ID + `","slug":"My-Guide"}`, problem.ValidationError, "slug"},
		"leading hyphen":  {`{"lead_magnet_id":"` + m.ID + `","slug":"-guide"}`, problem.ValidationError, "slug"},
		"trailing hyphen": {`{"lead_magnet_id":"` + m.ID + `","slug":"guide-"}`, problem.ValidationError, "slug"},
		"double hyphen":   {`{"lead_magnet_id":"` + m.ID + `","slug":"gui--de"}`, problem.ValidationError, "slug"},
		"slash":           {`{"lead_magnet_id":"` + m.ID + `","slug":"gui/de"}`, problem.ValidationError, "slug"},
		"line break":      {`{"lead_magnet_id":"` + m.ID + `","slug":"guide\n"}`, problem.ValidationError, "slug"},
		"other script":    {`{"lead_magnet_id":"` + m.ID + `","slug":"guidé"}`, problem.ValidationError, "slug"},
		"title number":    {`{"lead_magnet_id":"` + m.ID + `","title":1}`, problem.ValidationError, "title"},
		"title empty":     {`{"lead_magnet_id":"` + m.ID + `","title":""}`, problem.ValidationError, "title"},
		"title long": {`{"lead_magnet_id":"` + m.ID + `","title":"` + strings.Repeat("é", 201) + `"}`,
			problem.ValidationError, "title"},
		"title NUL": {`{"lead_magnet_id":"` + m.ID + `","title":"a\u0000b"}`, problem.ValidationError, "title"},
		"description long": {`{"lead_magnet_id":"` + m.ID + `","description":"` + strings.Repeat("a", 5001) + `"}`,
			problem.ValidationError, "description"},
		"description NUL": {`{"lead_magnet_id":"` + m.ID + `","description":"\u0000"}`,
			problem.ValidationError, "description"},
		"name as text": {`{"lead_magnet_id":"` + m.ID + `","collect_name":"yes"}`,
			problem.ValidationError, "collect_name"},
		"name null": {`{"lead_magnet_id":"` + m.ID + `","collect_name":null}`,
			problem.ValidationError, "collect_name"},
		"verification number": {`{"lead_magnet_id":"` + m.ID + `","require_verification":1}`,
			problem.ValidationError, "require_verification"},
		"title of blanks": {`{"lead_magnet_id":"` + m.ID + `","title":" \u00a0"}`, problem.ValidationError, "title"},
		"title of nothing": {`{"lead_magnet_id":"` + m.ID + `","title":"\u200b\u2800\u3164\u200d"}`,
			problem.ValidationError, "title"},
		"redirect script": {`{"lead_magnet_id":"` + m.ID + `","redirect_url":"javascript:alert(1)"}`,
			problem.ValidationError, "redirect_url"},
		"redirect relative": {`{"lead_magnet_id":"` + m.ID + `","redirect_url":"//example.com/x"}`,
			problem.ValidationError, "redirect_url"},
		"redirect policy": {`{"lead_magnet_id":"` + m.ID + `","redirect_url":"https://a;script-src/x"}`,
			problem.ValidationError, "redirect_url"},
		"privacy script": {`{"lead_magnet_id":"` + m.ID + `","privacy_url":"javascript:alert(1)"}`,
			problem.ValidationError, "privacy_url"},
		"consent blank": {`{"lead_magnet_id":"` + m.ID + `","consent_text":" "}`,
			problem.ValidationError, "consent_text"},
		"button long": {`{"lead_magnet_id":"` + m.ID + `","button_text":"` + strings.Repeat("a", 41) + `"}`,
			problem.ValidationError, "button_text"},
		"thumbnail script": {`{"lead_magnet_id":"` + m.ID + `","thumbnail_url":"javascript:alert(1)"}`,
			problem.ValidationError, "thumbnail_url"},
		"thumbnail data": {`{"lead_magnet_id":"` + m.ID + `","thumbnail_url":"data:image/png;base64,AA"}`,
			problem.ValidationError, "thumbnail_url"},
		"thumbnail relative": {`{"lead_magnet_id":"` + m.ID + `","thumbnail_url":"/a.png"}`,
			problem.ValidationError, "thumbnail_url"},
		"thumbnail no scheme": {`{"lead_magnet_id":"` + m.ID + `","thumbnail_url":"//example.com/a.png"}`,
			problem.ValidationError, "thumbnail_url"},
		"thumbnail no host": {`{"lead_magnet_id":"` + m.ID + `","thumbnail_url":"https:///a.png"}`,
			problem.ValidationError, "thumbnail_url"},
		"thumbnail password": {`{"lead_magnet_id":"` + m.ID + `","thumbnail_url":"https://u:p@example.com/a.png"}`,
			problem.ValidationError, "thumbnail_url"},
		"thumbnail ftp": {`{"lead_magnet_id":"` + m.ID + `","thumbnail_url":"ftp://example.com/a.png"}`,
			problem.ValidationError, "thumbnail_url"},
		"thumbnail broken": {`{"lead_magnet_id":"` + m.ID + `","thumbnail_url":"https://exa mple.com/%zz"}`,
			problem.ValidationError, "thumbnail_url"},
		"thumbnail empty": {`{"lead_magnet_id":"` + m.ID + `","thumbnail_url":""}`,
			problem.ValidationError, "thumbnail_url"},
		"thumbnail long": {`{"lead_magnet_id":"` + m.ID + `","thumbnail_url":"https://example.com/` + strings.Repeat("a",
			2048) + `"}`, problem.ValidationError, "thumbnail_url"},
		"read-only": {`{"lead_magnet_id":"` + m.ID + `","view_count":5}`, problem.ValidationError, "view_count"},
		"account": {`{"lead_magnet_id":"` + m.ID + `","account_id":"` + other.account.String() + `"}`,
			problem.ValidationError, "account_id"},
		"several": {`{"lead_magnet_id":"x","slug":"A","collect_name":1,"colour":2}`, problem.ValidationError,
			"collect_name slug colour"},
		"twice":   {`{"lead_magnet_id":"` + m.ID + `","slug":"one-a","slug":"one-b"}`, problem.InvalidJSON, ""},
		"no JSON": {`lead_magnet_id=1`, problem.InvalidJSON, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := u.post(t, linksPath, test.body).problem(t)
			require.Equal(t, test.code, p.Code, p.Detail)
			require.Equal(t, test.field, fields(p))
		})
	}
	t.Cleanup(func() {
		var count int
		require.NoError(t, f.db.Unscoped().QueryRow(context.Background(),
			"SELECT count(*) FROM generic_links WHERE account_id = $1", u.account).Scan(&count))
		require.Zero(t, count)
	})
}

func TestGenericLinkList(t *testing.T) {
	t.Parallel()
	f := start(t)
	u, other := f.user(t, account.Team), f.user(t, account.Team)
	a, b := u.magnet(t), u.magnet(t)
	foreign := other.magnet(t)
	_, err := other.CreateGenericLink(t.Context(), client.NewGenericLink{LeadMagnetID: foreign.ID})
	require.NoError(t, err)
	var all, ofB []string
	for i := range 23 {
		magnet := a.ID
		if i%3 == 0 {
			magnet = b.ID
		}
		link, err := u.CreateGenericLink(t.Context(), client.NewGenericLink{LeadMagnetID: magnet,
			Slug: new(fmt.Sprintf("in-the-list-%d", i))})
		require.NoError(t, err)
		all = append([]string{link.ID}, all...)
		if magnet == b.ID {
			ofB = append([]string{link.ID}, ofB...)
		}
	}
	ids := func(f client.GenericLinkFilter) (got []string, p client.Pagination) {
		page, err := u.GenericLinks(t.Context(), f)
		require.NoError(t, err)
		for _, link := range page.Data {
			got = append(got, link.ID)
			require.Nil(t, link.LeadMagnet)
		}
		return got, page.Pagination
	}
	got, p := ids(client.GenericLinkFilter{})
	require.Equal(t, all[:20], got)
	require.Equal(t, client.Pagination{Page: 1, PerPage: 20, Total: 23, TotalPages: 2}, p)
	got, p = ids(client.GenericLinkFilter{LeadMagnetID: b.ID, Paging: client.Paging{Page: 2, PerPage: 5}})
	require.Equal(t, ofB[5:], got)
	require.Equal(t, client.Pagination{Page: 2, PerPage: 5, Total: 8, TotalPages: 2}, p)
	for query, want := range map[string][]string{"sort=created_at&per_page=100": all,
		"sort=created_at&per_page=100&lead_magnet_id=" + b.ID: ofB} {
		var oldest []string
		for _, link := range u.get(t, linksPath+"?"+query).object(t)["data"].([]any) {
			oldest = append(oldest, link.(map[string]any)["id"].(string))
		}
		slices.Reverse(oldest)
		require.Equal(t, want, oldest)
	}
	for _, none := range []string{uuid.NewString(), foreign.ID} {
		got, p = ids(client.GenericLinkFilter{LeadMagnetID: none})
		require.Empty(t, got)
		require.Zero(t, p.Total)
	}
	for query, field := range map[string]string{
		"page=0": "page", "page=x": "page", "per_page=0": "per_page", "per_page=101": "per_page",
		"lead_magnet_id=": "lead_magnet_id", "page=1&page=2": "page", "active=true": "active", "cursor=x": "cursor",
		"sort=title": "sort", "page=1e2": "page", "status=gone": "status", "q=": "q",
	} {
		p := u.get(t, linksPath+"?"+query).problem(t)
		require.Equal(t, problem.InvalidParameter, p.Code, query)
		require.Equal(t, field, fields(p), query)
	}
}

// Of many that ask for one slug at once, in several accounts, one gets it.
func TestConcurrentSlugs(t *testing.T) {
	t.Parallel()
	f := start(t)
	var wg sync.WaitGroup
	results := make(chan error, 24)
	for range 4 {
		u := f.user(t, account.Team)
		m := u.magnet(t)
		for range 6 {
			wg.Go(func() {
				_, err := u.CreateGenericLink(t.Context(), client.NewGenericLink{LeadMagnetID: m.ID, Slug: new("the-one")})
				results <- err
			})
		}
	}
	wg.Wait()
	close(results)
	made := 0
	for err := range results {
		if err == nil {
			made++
			continue
		}
		require.True(t, problem.Is(err, problem.SlugTaken), "%v", err)
	}
	require.Equal(t, 1, made)
}

// However many ask at once, an account does not get more links than its plan has.
func TestConcurrentPlanLimit(t *testing.T) {
	t.Parallel()
	f := start(t)
	free, second := f.user(t, account.Free), f.user(t, account.Free)
	m := free.magnet(t)
	other := second.magnet(t)
	_, err := second.CreateGenericLink(t.Context(), client.NewGenericLink{LeadMagnetID: other.ID})
	require.NoError(t, err) // counts for its own account only
	var wg sync.WaitGroup
	results := make(chan error, 20)
	for range cap(results) {
		wg.Go(func() {
			_, err := free.CreateGenericLink(t.Context(), client.NewGenericLink{LeadMagnetID: m.ID})
			results <- err
		})
	}
	wg.Wait()
	close(results)
	made := 0
	for err := range results {
		if err == nil {
			made++
			continue
		}
		require.True(t, problem.Is(err, problem.LimitReached), "%v", err)
	}
	require.Equal(t, 3, made)
	r := free.post(t, linksPath, `{"lead_magnet_id":"`+m.ID+`"}`)
	require.Equal(t, 403, r.status)
	require.Equal(t, "The plan free allows 3 generic links, and there are 3.", r.problem(t).Detail)
	// Other faults are reported first.
	require.Equal(t, problem.InvalidLeadMagnet,
		free.post(t, linksPath, `{"lead_magnet_id":"`+uuid.NewString()+`"}`).problem(t).Code)
}

// An id that can be none names no lead magnet, as one that is not there.
func TestLinksOfALeadMagnetThatIsNone(t *testing.T) {
	t.Parallel()
	f := start(t)
	u := f.user(t, account.Team)
	u.link(t, u.magnet(t).ID)
	for _, id := range []string{"abc", uuid.NewString()} {
		r := u.get(t, linksPath+"?lead_magnet_id="+id)
		require.Equal(t, 200, r.status)
		require.Empty(t, r.object(t)["data"])
	}
	require.Equal(t, 400, u.get(t, linksPath+"?lead_magnet_id=").status)
}

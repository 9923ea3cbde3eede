package crud_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/crud/account"
	"lodestone/pkg/client"
	"lodestone/pkg/problem"
)

const accessPath = "/api/v1/access-links"

func TestAccessLink(t *testing.T) {
	t.Parallel()
	f := start(t)
	u := f.user(t, account.Team)
	m := u.magnet(t)
	r := u.post(t, accessPath,
		`{"lead_magnet_id":"`+m.ID+
			`","email":"Jo.Doe@Example.com","max_views":10000,"expires_at":"2099-01-01T12:00:00+02:00"}`)
	require.Equal(t, 201, r.status, r.body)
	made := r.object(t)
	id := made["id"].(string)
	require.Equal(t, accessPath+"/"+id, r.header.Get("Location"))
	require.Regexp(t, "^"+site+"/a/[a-z2-7]{26}$", made["url"])
	claims, err := f.tokens.Verify([]byte(made["tracking_token"].(string)))
	require.NoError(t, err)
	require.Equal(t, u.account, claims.AccountID)
	require.Equal(t, m.ID, claims.LeadMagnetID.String())
	require.Equal(t, id, claims.AccessLinkID.String())
	require.Equal(t, uuid.Nil, claims.GenericLinkID)
	require.Equal(t, map[string]any{
		"id": id, "lead_magnet_id": m.ID, "generic_link_id": nil, "submission_id": nil, "email": "Jo.Doe@Example.com",
		"source": "api", "url": made["url"],
		"tracking_token": made["tracking_token"], "max_views": 10000.0, "view_count": 0.0,
		"expires_at": "2099-01-01T10:00:00.000Z",
		"is_active":  true, "first_viewed_at": nil, "last_viewed_at": nil, "created_at": made["created_at"],
		"updated_at": made["updated_at"],
	}, made)
	require.Equal(t, made, u.get(t, accessPath+"/"+id).object(t))

	plain := u.post(t, accessPath,
		`{"lead_magnet_id":"`+m.ID+`","email":"jo.doe@example.com","max_views":null,"expires_at":null}`).object(t)
	require.Nil(t, plain["max_views"])
	require.Nil(t, plain["expires_at"])
	require.NotEqual(t, made["url"], plain["url"]) // one address may have several links
}

func TestAccessLinkRefused(t *testing.T) {
	t.Parallel()
	f := start(t)
	u, other := f.user(t, account.Team), f.user(t, account.Team)
	m, asleep, foreign := u.magnet(t), u.magnet(t), other.magnet(t)
	_, err := f.db.Unscoped().Exec(t.Context(), "UPDATE lead_magnets SET is_active = false WHERE id = $1", asleep.ID)
	require.NoError(t, err)
	body := func(rest string) string {
		return `{"lead_magnet_id":"` + m.ID + `","email":"jo@example.com"` + rest + `}`
	}
	for name, test := range map[string]struct {
		body  string
		code  problem.Code
		field string
	}{
		"empty": {`{}`, problem.ValidationError, "lead_magnet_id email"},
		"unknown lead magnet": {`{"lead_magnet_id":"` + uuid.NewString() + `","email":"jo@example.com"}`,
			problem.InvalidLeadMagnet, "lead_magnet_id"},
		"foreign lead magnet": {`{"lead_magnet_id":"` + foreign.ID + `","email":"jo@example.com"}`,
			problem.InvalidLeadMagnet, "lead_magnet_id"},
		"inactive":   {`{"lead_magnet_id":"` + asleep.ID + `","email":"jo@example.com"}`, problem.Conflict, ""},
		"no address": {`{"lead_magnet_id":"` + m.ID + `","email":"jo"}`, problem.ValidationError, "email"},
		"a name and another": {`{"lead_magnet_id":"` + m.ID + `","email":"Jo <jo@example.com>, al@example.com"}`,
			problem.ValidationError, "email"},
		"two addresses": {`{"lead_magnet_id":"` + m.ID + `","email":"a@example.com, b@example.com"}`,
			problem.ValidationError, "email"},
		"header injection": {`{"lead_magnet_id":"` + m.ID + `","email":"a@example.com\r\nBcc: b@example.com"}`,
			problem.ValidationError, "email"},
		"long address": {`{"lead_magnet_id":"` + m.ID + `","email":"a@` + strings.Repeat("b.", 150) + `com"}`,
			problem.ValidationError, "email"},
		"email null":      {`{"lead_magnet_id":"` + m.ID + `","email":null}`, problem.ValidationError, "email"},
		"no views":        {body(`,"max_views":0`), problem.ValidationError, "max_views"},
		"too many views":  {body(`,"max_views":10001`), problem.ValidationError, "max_views"},
		"views as text":   {body(`,"max_views":"5"`), problem.ValidationError, "max_views"},
		"half a view":     {body(`,"max_views":1.5`), problem.ValidationError, "max_views"},
		"huge":            {body(`,"max_views":1e300`), problem.ValidationError, "max_views"},
		"past":            {body(`,"expires_at":"2020-01-01"`), problem.ValidationError, "expires_at"},
		"no time":         {body(`,"expires_at":"tomorrow"`), problem.ValidationError, "expires_at"},
		"number for time": {body(`,"expires_at":1893456000`), problem.ValidationError, "expires_at"},
		"impossible time": {body(`,"expires_at":"2099-02-30"`), problem.ValidationError, "expires_at"},
		"read-only":       {body(`,"tracking_token":"x"`), problem.ValidationError, "tracking_token"},
		"unknown":         {body(`,"note":"x"`), problem.ValidationError, "note"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := u.post(t, accessPath, test.body).problem(t)
			require.Equal(t, test.code, p.Code, p.Detail)
			require.Equal(t, test.field, fields(p))
		})
	}
}

func TestAccessLinkList(t *testing.T) {
	t.Parallel()
	f := start(t)
	u, other := f.user(t, account.Team), f.user(t, account.Team)
	a, b := u.magnet(t), u.magnet(t)
	link, err := u.CreateGenericLink(t.Context(), client.NewGenericLink{LeadMagnetID: a.ID})
	require.NoError(t, err)
	submission := uuid.New()
	_, err = f.db.Unscoped().Exec(t.Context(),
		`INSERT INTO submissions (id, account_id, generic_link_id, email, email_key) VALUES ($1, $2, $3, 'jo@example.com', 'jo@example.com')`,
		submission, u.account, link.ID)
	require.NoError(t, err)
	create := func(u *user, magnet, email string) string {
		l, err := u.CreateAccessLink(t.Context(), client.NewAccessLink{LeadMagnetID: magnet, Email: email})
		require.NoError(t, err)
		return l.ID
	}
	first, second, third := create(u, a.ID, "Jo@Example.com"), create(u, b.ID, "jo@example.com"),
		create(u, a.ID, "al@example.com")
	create(other, other.magnet(t).ID, "jo@example.com")
	_, err = f.db.Unscoped().Exec(t.Context(),
		`UPDATE access_links SET submission_id = $1, generic_link_id = $2 WHERE id = $3`, submission, link.ID, first)
	require.NoError(t, err)
	_, err = f.db.Unscoped().Exec(t.Context(),
		`INSERT INTO access_link_counts (id, account_id, views, first_viewed_at) VALUES ($1, $2, 1, '2026-01-02T03:04:05.678Z')`, first, u.account)
	require.NoError(t, err)
	_, err = f.db.Unscoped().Exec(t.Context(), `UPDATE access_links SET is_active = false WHERE id = $1`, third)
	require.NoError(t, err)
	for name, test := range map[string]struct {
		filter client.AccessLinkFilter
		want   []string
	}{
		"all":        {client.AccessLinkFilter{}, []string{third, second, first}},
		"magnet":     {client.AccessLinkFilter{LeadMagnetID: a.ID}, []string{third, first}},
		"email":      {client.AccessLinkFilter{Email: "JO@EXAMPLE.COM"}, []string{second, first}},
		"submission": {client.AccessLinkFilter{SubmissionID: submission.String()}, []string{first}},
		"active":     {client.AccessLinkFilter{IsActive: new(true)}, []string{second, first}},
		"inactive":   {client.AccessLinkFilter{IsActive: new(false)}, []string{third}},
		"together": {client.AccessLinkFilter{Email: "jo@example.com", LeadMagnetID: b.ID, IsActive: new(true)},
			[]string{second}},
		"no one":           {client.AccessLinkFilter{Email: "unknown@example.com"}, nil},
		"other submission": {client.AccessLinkFilter{SubmissionID: uuid.NewString()}, nil},
		"page":             {client.AccessLinkFilter{Paging: client.Paging{Page: 2, PerPage: 2}}, []string{first}},
	} {
		page, err := u.AccessLinks(t.Context(), test.filter)
		require.NoError(t, err, name)
		var got []string
		for _, l := range page.Data {
			got = append(got, l.ID)
		}
		require.Equal(t, test.want, got, name)
		if test.filter.Page == 0 {
			require.EqualValues(t, len(test.want), page.Pagination.Total, name)
		}
	}
	got := u.get(t, accessPath+"/"+first).object(t)
	require.Equal(t, "2026-01-02T03:04:05.678Z", got["first_viewed_at"])
	require.Equal(t, submission.String(), got["submission_id"])
	claims, err := f.tokens.Verify([]byte(got["tracking_token"].(string)))
	require.NoError(t, err)
	require.Equal(t, link.ID, claims.GenericLinkID.String())

	for query, field := range map[string]string{
		"email=jo": "email", "email=": "email", "email=a@example.com%0d%0ab": "email", "submission_id=x": "submission_id",
		"is_active=yes":    "is_active",
		"lead_magnet_id=x": "lead_magnet_id", "per_page=101": "per_page", "q=x": "q",
	} {
		p := u.get(t, accessPath+"?"+query).problem(t)
		require.Equal(t, problem.InvalidParameter, p.Code, query)
		require.Equal(t, field, fields(p), fmt.Sprint(query, p))
	}
	require.NotContains(t, f.log.String(), "xample.com", "addresses do not belong in the log")
}

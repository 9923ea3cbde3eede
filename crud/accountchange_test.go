package crud_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/crud/account"
	"lodestone/pkg/problem"
)

const accountPath = "/api/v1/account"

func TestChangeAccount(t *testing.T) {
	t.Parallel()
	f := start(t)
	u, other := f.user(t, account.Team), f.user(t, account.Team)
	before := u.get(t, accountPath).object(t)
	require.Nil(t, before["notify_email"])
	require.Equal(t, "each", before["notify"])
	require.Nil(t, before["brand_color"])

	got := u.patch(t, accountPath, `{"notify_email":"Owner@example.com","notify":"daily","brand_color":"#2F5BD0"}`).object(t)
	require.Equal(t, "Owner@example.com", got["notify_email"])
	require.Equal(t, "daily", got["notify"])
	require.Equal(t, "#2f5bd0", got["brand_color"])
	require.Equal(t, got, u.get(t, accountPath).object(t))
	require.Equal(t, got, u.patch(t, accountPath, `{}`).object(t))
	require.Nil(t, other.get(t, accountPath).object(t)["notify_email"])

	got = u.patch(t, accountPath, `{"notify_email":null,"brand_color":null}`).object(t)
	require.Nil(t, got["notify_email"])
	require.Nil(t, got["brand_color"])
	require.Equal(t, "daily", got["notify"])

	for body, field := range map[string]string{
		`{"notify_email":"nobody"}`:                        "notify_email",
		`{"notify_email":"a@example.com, b@example.com"}`:  "notify_email",
		`{"notify_email":"a@example.com\r\nBcc: b@c.com"}`: "notify_email",
		`{"notify":"weekly"}`:                              "notify",
		`{"notify":null}`:                                  "notify",
		`{"brand_color":"red"}`:                            "brand_color",
		`{"brand_color":"#2f5bd0;}"}`:                      "brand_color",
		`{"name":"Another"}`:                               "name",
		`{"plan":"team"}`:                                  "plan",
	} {
		p := u.patch(t, accountPath, body).problem(t)
		require.Equal(t, problem.ValidationError, p.Code, body)
		require.Equal(t, field, fields(p), body)
	}
}

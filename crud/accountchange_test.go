package crud_test

import (
	"fmt"
	"net"
	"sync"
	"testing"

	"github.com/emersion/go-smtp"
	"github.com/stretchr/testify/require"

	"lodestone/crud"
	"lodestone/crud/account"
	"lodestone/crud/mail"
	"lodestone/pkg/problem"
)

const accountPath = "/api/v1/account"

// A tenant cannot have an address asked again and again, nor many addresses.
func TestAddressesForNoticesAreAskedSeldom(t *testing.T) {
	t.Parallel()
	f := startAlone(t)
	u, other := f.user(t, account.Team), f.user(t, account.Team)
	set := func(u *user, to string) reply { return u.patch(t, accountPath, `{"notify_email":"`+to+`"}`) }
	for _, to := range []string{"vic@example.com", "VIC+1@example.com"} {
		require.Equal(t, 200, set(u, to).status)
	}
	require.Equal(t, 200, set(other, "vic@example.com").status)
	for _, who := range []*user{u, other} {
		r := set(who, "vic+2@example.com")
		require.Equal(t, problem.RateLimited, r.problem(t).Code)
		require.NotEmpty(t, r.header.Get("Retry-After"))
	}
	require.Equal(t, 3, f.count(t, "river_job WHERE kind = 'sealed_mail'"))
	// What is confirmed is not asked again.
	_, err := f.db.Unscoped().Exec(t.Context(), "UPDATE accounts SET notify_confirmed_at = now() WHERE id = $1", u.account)
	require.NoError(t, err)
	require.Equal(t, true, set(u, "VIC+1@example.com").object(t)["notify_email_confirmed"])
	// Another address has to be confirmed.
	require.Equal(t, false, set(u, "jo@example.com").object(t)["notify_email_confirmed"])
	for i := range 20 {
		set(u, fmt.Sprintf("jo%d@example.com", i))
	}
	require.Equal(t, 3+1+6, f.count(t, "river_job WHERE kind = 'sealed_mail'"), "ten times a day")
}

// noUTF8 is an SMTP server that does not offer SMTPUTF8, and is given no mail.
type noUTF8 struct{ smtp.Session }

func (n noUTF8) NewSession(*smtp.Conn) (smtp.Session, error) { return n, nil }
func (noUTF8) Reset()                                        {}
func (noUTF8) Logout() error                                 { return nil }

// An address that the SMTP server cannot be given is refused where it is set, by its field.
func TestAddressesThatNoMailReaches(t *testing.T) {
	t.Parallel()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	server := smtp.NewServer(noUTF8{})
	var serving sync.WaitGroup
	serving.Go(func() { _ = server.Serve(listener) }) // ends with Close
	t.Cleanup(func() { _ = server.Close(); serving.Wait() })
	f := start(t, func(c *crud.Config) {
		c.Mail = mail.Config{URL: "smtp://" + listener.Addr().String(), TLS: "optional", From: "hello@example.com"}
	})
	u := f.user(t, account.Team)
	for _, address := range []string{"jörg@example.com", "用户@例子.公司"} {
		for _, r := range []reply{
			u.patch(t, accountPath, `{"notify_email":"`+address+`"}`),
			u.post(t, "/api/v1/invitations", `{"email":"`+address+`","role":"analyst"}`),
		} {
			p := r.problem(t)
			require.Equal(t, problem.ValidationError, p.Code)
			require.Contains(t, p.Errors[0].Field, "email")
			require.Contains(t, p.Errors[0].Message, "before the @, ASCII, unless the SMTP server offers SMTPUTF8")
		}
	}
	require.Equal(t, 200, u.patch(t, accountPath, `{"notify_email":"jo@bücher.example"}`).status)
}

func TestChangeAccount(t *testing.T) {
	t.Parallel()
	f := start(t)
	u, other := f.user(t, account.Team), f.user(t, account.Team)
	before := u.get(t, accountPath).object(t)
	require.Nil(t, before["notify_email"])
	require.Equal(t, "each", before["notify"])
	require.Nil(t, before["brand_color"])

	got := u.patch(t, accountPath,
		`{"notify_email":"Owner@example.com","notify":"daily","brand_color":"#2F5BD0"}`).object(t)
	require.Equal(t, "Owner@example.com", got["notify_email"])
	require.Equal(t, false, got["notify_email_confirmed"], "whoever reads it has not agreed yet")
	require.Equal(t, "daily", got["notify"])
	require.Equal(t, "#2f5bd0", got["brand_color"])
	require.Equal(t, got, u.get(t, accountPath).object(t))
	require.Equal(t, got, u.patch(t, accountPath, `{}`).object(t))
	require.Nil(t, other.get(t, accountPath).object(t)["notify_email"])

	got = u.patch(t, accountPath, `{"notify_email":null,"brand_color":null}`).object(t)
	require.Nil(t, got["notify_email"])
	require.Nil(t, got["brand_color"])
	require.Equal(t, "daily", got["notify"])

	require.Nil(t, got["language"])
	require.Equal(t, "UTC", got["timezone"])
	require.Equal(t, "system", got["brand_font"])
	got = u.patch(t, accountPath,
		`{"name":" Northwind Research ","language":"de","timezone":"Europe/Berlin","brand_font":"inter"}`).object(t)
	require.Equal(t, []any{"Northwind Research", "de", "Europe/Berlin", "inter"},
		[]any{got["name"], got["language"], got["timezone"], got["brand_font"]})
	require.NotEqual(t, got["name"], other.get(t, accountPath).object(t)["name"])
	got = u.patch(t, accountPath, `{"language":null}`).object(t)
	require.Nil(t, got["language"])
	require.Equal(t, "Europe/Berlin", got["timezone"])

	for body, field := range map[string]string{
		`{"notify_email":"no one"}`:                        "notify_email",
		`{"notify_email":"a@example.com, b@example.com"}`:  "notify_email",
		`{"notify_email":"a@example.com\r\nBcc: b@c.com"}`: "notify_email",
		`{"notify":"weekly"}`:                              "notify",
		`{"notify":null}`:                                  "notify",
		`{"brand_color":"red"}`:                            "brand_color",
		`{"brand_color":"#2f5bd0;}"}`:                      "brand_color",
		`{"name":" "}`:                                     "name",
		`{"name":null}`:                                    "name",
		`{"language":"tlh"}`:                               "language",
		`{"timezone":"Mars/Olympus"}`:                      "timezone",
		`{"timezone":"Local"}`:                             "timezone",
		`{"brand_font":"Comic Sans"}`:                      "brand_font",
		`{"plan":"team"}`:                                  "plan",
		`{"quiet_from":"22:00"}`:                           "quiet_until",
		`{"quiet_from":"22:00","quiet_until":null}`:        "quiet_until",
		`{"quiet_from":"22:00","quiet_until":"22:00"}`:     "quiet_until",
		`{"quiet_from":"24:00","quiet_until":"07:00"}`:     "quiet_from",
	} {
		p := u.patch(t, accountPath, body).problem(t)
		require.Equal(t, problem.ValidationError, p.Code, body)
		require.Equal(t, field, fields(p), body)
	}
}

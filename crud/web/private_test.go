package web_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/crud/web"
)

func TestPrivatePagesNeedTheSecret(t *testing.T) {
	t.Parallel()
	s, log := private(t, "dev", "swordfish")
	h := s.Serve(func(w http.ResponseWriter, _ *http.Request) error {
		_, err := w.Write([]byte("the mails"))
		return err
	})
	for _, header := range [][]string{
		{"Authorization", "Bearer swordfish"}, {"Cookie", "dev=swordfish"}, {"Cookie", "a=b; dev=swordfish", "Host",
			"links.example.com", "X-Forwarded-For", "203.0.113.7"},
	} {
		a := ask(h, "GET", "/dev/mailbox.json", header...)
		require.Equal(t, http.StatusOK, a.Code, header)
		require.Equal(t, "the mails", a.text())
	}
	for _, header := range [][]string{
		nil, {"Authorization", "Bearer sword"}, {"Authorization", "Bearer "}, {"Authorization", "swordfish"},
		{"Cookie", "dev="}, {"Cookie", "other=swordfish"},
		{"Host", "127.0.0.1:8080"}, {"Host", "localhost", "X-Forwarded-For", "127.0.0.1"},
	} {
		a := ask(h, "GET", "/dev/mailbox.json?secret=sword", header...)
		require.Equal(t, http.StatusNotFound, a.Code, header)
		require.Contains(t, a.text(), "lodestone up")
		require.NotContains(t, a.text(), "the mails")
		require.Empty(t, a.Header().Get("Set-Cookie"))
	}
	a := ask(h, "GET", "/dev/mailbox?limit=3&secret=swordfish")
	require.Equal(t, http.StatusSeeOther, a.Code)
	require.Equal(t, "/dev/mailbox?limit=3", a.Header().Get("Location"))
	require.Equal(t, "dev=swordfish; Path=/; HttpOnly; SameSite=Lax", a.Header().Get("Set-Cookie"))
	require.Equal(t, "no-store", a.Header().Get("Cache-Control"))
	require.NotContains(t, a.text(), "swordfish")
	require.NotContains(t, log.String(), "swordfish")

	open, _ := private(t, "dev", "")
	unset := open.Serve(web.NothingHere)
	for _, header := range [][]string{nil, {"Authorization", "Bearer "}, {"Cookie", "dev="}} {
		require.Contains(t, ask(unset, "GET", "/?secret=", header...).text(), "lodestone up", "an empty secret opens nothing")
	}
}

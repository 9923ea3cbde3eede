package main

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// keepsItsPages shows that the mailbox is there for the person who started `lodestone up`.
// elsewhere is for a start with a public URL: it is only where nothing else than this machine is
// served.
func (u *up) keepsItsPages(t *testing.T) (elsewhere func()) {
	t.Helper()
	site, secret := u.env["LODESTONE_URL"], u.env["LODESTONE_DEV_SECRET"]
	require.NotEmpty(t, secret)
	info, err := os.Stat(filepath.Join(u.dir, "data", "dev-secret"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	paths := []string{"/dev/mailbox", "/dev/mailbox.json"}
	for _, path := range paths {
		status, _ := get(t, site+path, secret)
		require.Equal(t, http.StatusOK, status, path)
		for _, wrong := range []string{"", "x", u.env["LODESTONE_API_KEY"]} {
			status, body := get(t, site+path, wrong)
			require.Equal(t, http.StatusNotFound, status, path)
			require.NotContains(t, body, "welcome")
		}
	}
	require.NotContains(t, u.out.String(), secret, "only a terminal is shown it")
	require.NotContains(t, u.out.String(), u.env["LODESTONE_API_KEY"], "the file has it")

	return func() {
		require.Equal(t, secret, u.env["LODESTONE_DEV_SECRET"], "it stays")
		require.NotContains(t, u.out.String(), secret)
		require.NotContains(t, u.out.String(), "Mailbox")
		for _, path := range paths {
			status, _ := get(t, "http://"+u.args()[4]+path, secret)
			require.Equal(t, http.StatusNotFound, status, path)
		}
	}
}

package disposable_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/crud/capture/disposable"
)

func TestIs(t *testing.T) {
	t.Parallel()
	for domain, want := range map[string]bool{
		"mailinator.com": true, "x.y.mailinator.com": true, "guerrillamail.com": true,
		"example.com": false, "gmail.com": false, "xmailinator.com": false, "com": false, "co.uk": false, "": false, "mailinator": false,
	} {
		require.Equal(t, want, disposable.Is(domain), domain)
	}
}

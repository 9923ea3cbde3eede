package capture

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestIsDisposable(t *testing.T) {
	t.Parallel()
	for domain, want := range map[string]bool{
		"mailinator.com": true, "x.y.mailinator.com": true, "guerrillamail.com": true,
		"example.com": false, "gmail.com": false, "xmailinator.com": false, "com": false, "co.uk": false,
		"": false, "mailinator": false,
	} {
		require.Equal(t, want, isDisposable(domain), domain)
	}
}

package main

import (
	"slices"
	"strconv"
	"testing"

	"lodestone/pkg/test/enginetest"
)

// A person adds a passkey and signs in with it, in a browser with a virtual authenticator. Browsers
// offer passkeys for localhost, and not for 127.0.0.1.
func TestBrowserWithPasskeys(t *testing.T) {
	t.Parallel()
	if only := browserOnly(); len(only) > 0 && !slices.Contains(only, "passkey") {
		return
	}
	u := newUp(t)
	u.more = []string{"--no-sample", "--public-url=http://localhost:" + strconv.Itoa(u.ports[0])}
	u.start()
	newBrowserTest(u, t.TempDir()).run(beforeTheLimit(t), "passkey")
	u.interrupt(enginetest.Timeout)
}

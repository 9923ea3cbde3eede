package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Every module that is compiled and every package of the lock files has a licence that we take. It
// needs no network.
func TestLicences(t *testing.T) {
	t.Parallel()
	all, _, err := dependencies(t.Context(), "../..")
	require.NoError(t, err)
	kinds := map[string]int{}
	for _, d := range all {
		kinds[d.kind]++
		if d.kind == "pypi" && d.licence == "" {
			continue // it is not installed here
		}
		require.True(t, d.allowed(), "%s has the licence %q", d, d.licence)
	}
	require.Greater(t, kinds["go"], 100)
	require.Greater(t, kinds["npm"], 20)
	require.Positive(t, kinds["pypi"])
}

func TestLicencesThatWeDoNotTake(t *testing.T) {
	t.Parallel()
	for _, expression := range []string{"", "GPL-3.0", "MIT AND GPL-3.0-only", "SEE LICENSE IN LICENSE",
		"AGPL-3.0-only OR BUSL-1.1"} {
		require.False(t, allowed(expression), expression)
	}
	for _, expression := range []string{"MIT", "(MIT OR CC0-1.0)", "GPL-2.0 OR MIT", "MIT AND ISC"} {
		require.True(t, allowed(expression), expression)
	}
	require.Equal(t, "GPL", classify("GNU  General\nPublic License\nVersion 3"))
	require.Equal(t, "MPL-2.0", classify("Mozilla Public License Version 2.0 … GNU General Public License"))
	require.Empty(t, classify("All rights reserved."))
}

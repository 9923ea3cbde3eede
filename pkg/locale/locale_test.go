package locale_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/locale"
)

func TestMatch(t *testing.T) {
	t.Parallel()
	for accept, want := range map[string]locale.Language{
		"": "en", "de-AT,de;q=0.9,en;q=0.5": "de", "fr-CA": "fr", "pt-BR,pt;q=0.9": "pt", "es-419": "es",
		"it": "it", "nl-BE": "nl", "pl": "pl",
		"tlh,de;q=0.5": "de", "en-GB,en": "en", "ja": "en", "*": "en", "de;q=broken": "en", "\x00": "en", "ja,fr;q=0.2": "fr",
	} {
		require.Equal(t, want, locale.Match(accept), accept)
	}
	german, unknown := "de", "tlh"
	require.Equal(t, locale.Language("de"), locale.Or(&german, "fr"))
	require.Equal(t, locale.Language("fr"), locale.Or(&unknown, "fr"))
	require.Equal(t, locale.Language("fr"), locale.Or(nil, "fr"))
}

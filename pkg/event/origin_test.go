package event_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lodestone/pkg/event"
)

func TestFirstLanguage(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]string{
		"de": "de", "de-AT,de;q=0.9,en;q=0.8": "de", "gsw-CH": "gsw", "PT-br ;q=1, en": "pt", "zh-Hant-TW": "zh",
		"": "", "*": "", "x-klingon": "", "german": "", "d": "", "d3": "", ",de": "", "de_AT": "",
	} {
		language := event.FirstLanguage([]byte(header))
		require.Equal(t, want, string(language.Text()), header)
	}
}

// Whatever a client sends, what is made of it is a code that can be stored, or none.
func TestAnyTextIsACodeOrNone(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SliceOfN(rapid.Byte(), 0, 4).Draw(t, "text")
		e := goldenEvents()["typical"]
		e.Origin.Language = event.FirstLanguage(text)
		e.Origin.Country, _ = event.ParseCountry(string(text))
		require.NoError(t, e.Validate())
		require.Regexp(t, "^([a-z]{2,3})?$", string(e.Origin.Language.Text()))
		require.Regexp(t, "^([A-Z]{2})?$", string(e.Origin.Country.Text()))
	})
}

package bot_test

import (
	"regexp/syntax"
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/bot"
)

func TestRequired(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]struct{ exact, lower []string }{
		"Googlebot":             {[]string{"Googlebot"}, []string{"googlebot"}},
		"(?i)Googlebot":         {nil, []string{"googlebot"}},
		`Chrome/(\d+)\.(\d+)`:   {[]string{"Chrome/"}, []string{"chrome/"}},
		"a(one|three)b":         {[]string{"one", "three"}, []string{"one", "three"}},
		"a(one|[0-9])b":         {[]string{"a"}, []string{"a"}},
		`[A-z]+[Bb]ot\b`:        {[]string{"ot"}, []string{"bot"}},
		"(X[Yy])+Z":             {[]string{"X"}, []string{"xy"}},
		"(?:abc)?d*[efg]":       {nil, nil},
		"x{2,3}":                {[]string{"xx"}, []string{"xx"}},
		"^.{0,200}?(Bot|Craw)l": {[]string{"Bot", "Craw"}, []string{"bot", "craw"}},
	} {
		re, err := syntax.Parse(text, syntax.Perl)
		require.NoError(t, err)
		re = re.Simplify()
		require.Equal(t, want.exact, bot.RequiredTexts(re), text)
		require.Equal(t, want.lower, bot.RequiredTextsInLower(re), text)
	}
	require.Equal(t, 2, bot.ShortestText([]string{"abc", "de"}))
	require.Zero(t, bot.ShortestText(nil))
}

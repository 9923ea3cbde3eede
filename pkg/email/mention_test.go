package email_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/email"
)

func TestMentions(t *testing.T) {
	t.Parallel()
	const key = "a&n@xn--bcher-kva.example"
	for text, want := range map[string]bool{
		"A&N@bücher.example": true, "Lead: a&n@XN--bcher-kva.EXAMPLE.": true, "<a&n@Bücher.example>, b@example.com": true, "b@x.example a&n@bücher.example": true,
		"'a&n@bücher.example'": true, "?email=a&n@bücher.example&x=1": true, "mailto:a&n@bücher.example": true,
		"“a&n@bücher.example”": true,
		"joa&n@bücher.example": false, "jo.a&n@bücher.example": false, "n@bücher.example": false, "a&n@bücher.example.com": false, "a&n": false, "a&n@": false, "": false,
	} {
		require.Equal(t, want, email.Mentions(text, key), text)
		quoted, err := json.Marshal(map[string]any{"data": []string{"x@example.com", text}}) // with & as \u0026
		require.NoError(t, err)
		require.Equal(t, want, email.MentionsJSON(quoted, key), string(quoted))
		require.Equal(t, want, email.MentionsJSON([]byte("no JSON: "+text), key), text)
	}
	require.False(t, email.Mentions("joann@example.com, ann@example.com.au", "ann@example.com"))
	require.True(t, email.Mentions("新しいann@example.comさん", "ann@example.com"))
	require.True(t, email.Mentions("o'neil@example.com", "o'neil@example.com"))
}

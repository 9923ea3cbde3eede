package email_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/email"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for _, good := range []string{
		"jo@example.com", "Jo.Doe+news@Example.co.uk", "o'neil@example.com", "a@b.c", "1@2.example", "jörg@müller.de",
		"用户@例子.公司", "x_y-z@sub.sub.example.com", strings.Repeat("a", 64) + "@example.com",
	} {
		a, err := email.Parse(good)
		require.NoError(t, err, good)
		require.Equal(t, good, a.Text)
		require.Equal(t, strings.ToLower(good), a.Key)
	}
	for _, bad := range []string{
		"", "@", "jo", "jo@", "@example.com", "jo@example", "jo@@example.com", "jo@ex ample.com", "jo @example.com", " jo@example.com",
		"jo@example.com ", "Jo <jo@example.com>", "<jo@example.com>", "jo@example..com", ".jo@example.com", "jo.@example.com",
		"jo..doe@example.com", "jo@.example.com", "jo@example.com.", "jo@-example.com", "jo@example-.com", "jo@[127.0.0.1]",
		"jo@127.0.0.1", `"jo doe"@example.com`, "jo(x)@example.com", "jo@example.com,al@example.com", "jo@exam_ple.com",
		"jo@example.com\n", "jo\x00@example.com", "jo@example.com\r\nBcc: x@example.com", "jo\u202e@example.com", "jo@\xff.com",
		strings.Repeat("a", 65) + "@example.com", "a@" + strings.Repeat("b", 64) + ".com", "a@" + strings.Repeat("b.", 130) + "com",
	} {
		_, err := email.Parse(bad)
		require.Error(t, err, bad)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("jo@example.com")
	f.Fuzz(func(t *testing.T, text string) {
		a, err := email.Parse(text)
		if err != nil {
			return
		}
		again, err := email.Parse(a.Key)
		require.NoError(t, err)
		require.Equal(t, a.Key, again.Key)
	})
}

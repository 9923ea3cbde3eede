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
		if strings.HasSuffix(good, ".com") {
			require.Equal(t, strings.ToLower(good), a.Key)
		}
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

// One mailbox has one key, however its domain is written.
func TestDomainsInUnicodeAndASCIIAreTheSame(t *testing.T) {
	t.Parallel()
	for text, key := range map[string]string{
		"Vic@Bücher.example": "vic@xn--bcher-kva.example", "vic@XN--Bcher-KVA.example": "vic@xn--bcher-kva.example",
		"vic@bu\u0308cher.example": "vic@xn--bcher-kva.example", "用户@例子.公司": "用户@xn--fsqu00a.xn--55qx5d",
		"jo@r3---sn-x.example.com": "jo@r3---sn-x.example.com", "zoë@example.com": "zoë@example.com",
	} {
		a, err := email.Parse(text)
		require.NoError(t, err, text)
		require.Equal(t, key, a.Key, text)
		require.Equal(t, key, email.Key(a.Key), text)
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

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
		"", "@", "jo", "jo@", "@example.com", "jo@example", "jo@@example.com", "jo@ex ample.com", "jo @example.com",
		"jo@example.com al@example.com", "jo@example..com", ".jo@example.com", "jo.@example.com",
		"jo..doe@example.com", "jo@.example.com", "jo@-example.com", "jo@example-.com", "jo@[127.0.0.1]",
		"jo@127.0.0.1", `"jo doe"@example.com`, "jo(x)@example.com", "jo@example.com,al@example.com", "jo@exam_ple.com",
		"jo\x00@example.com", "jo@example.com\x00", "jo@example.com\r\nBcc: x@example.com", "jo@\xff.com",
		"jo@example.123", "jo@example.１",
		"Jo <jo@example.com>, al@example.com", "al@example.com, Jo <jo@example.com>",
		"al@example.com <jo@example.com>", "jo@example.com (Jo)",
		"mailto:jo@example.com,al@example.com", "<jo@example.com><al@example.com>", "\u200b", "<>", "mailto:",
		"'", "jo@نامه\u200cای.example",
		strings.Repeat("a", 65) + "@example.com", "a@" + strings.Repeat("b", 64) + ".com",
		"a@" + strings.Repeat("b.", 130) + "com",
	} {
		_, err := email.Parse(bad)
		require.Error(t, err, bad)
	}
}

// Japanese carriers gave mailboxes whose dots are no mistakes.
func TestDotsOfCarriers(t *testing.T) {
	t.Parallel()
	for _, good := range []string{"jo..doe@docomo.ne.jp", "jo.@docomo.ne.jp", "j...d..@ezweb.ne.jp", "jo..@DOCOMO.ne.jp",
		"a..b@t.ezweb.ne.jp", "jo.-.@au.com"} {
		a, err := email.Parse(" <" + good + ">, ")
		require.NoError(t, err, good)
		require.Equal(t, good, a.Text)
		require.Equal(t, strings.ToLower(good), a.Key)
	}
	for _, bad := range []string{".jo@docomo.ne.jp", "..@docomo.ne.jp", "j o..@docomo.ne.jp", "jo..doe@notdocomo.ne.jp",
		"jo..doe@docomo.ne.jp.example", "jo.@docomo..ne.jp", `jo."..@docomo.ne.jp`} {
		_, err := email.Parse(bad)
		require.Error(t, err, bad)
	}
}

// What a person cannot see, or copied along, is no part of an address.
func TestParseDropsWhatSurroundsAnAddress(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		" jo.doe@example.com", "jo.doe@example.com\n", "\u00a0jo.doe@example.com\u3000",
		"jo.doe@example.com\u2028", "\tjo.doe@example.com\r\n",
		"\ufeffjo.doe@example.com", "jo.doe@example.com\u200b", "jo\u200b.doe@exam\u00adple.com",
		"\u202ajo.doe@example.com\u202c", "jo.doe\u2060@example.com\u200e",
		"jo.doe\u200c@example.com\u200d", "jo.doe@example.com\ufe0f", "\u3164jo.doe@example.com", "jo.doe@example.com\u2800",
		"\u2067jo.doe@example.com\u2069", "jo.\u180edoe@example.com",
		"ｊｏ.doe@example.com", "jo.doe＠example.com", "jo．doe＠ｅｘａｍｐｌｅ。ｃｏｍ", "jo.doe﹫example.com", "jo.doe@example｡com",
		"<jo.doe@example.com>", "Jo Doe <jo.doe@example.com>", `"Doe, Jo" <jo.doe@example.com>;`, "'jo.doe@example.com'",
		"“jo.doe@example.com”", "«jo.doe@example.com»",
		"(jo.doe@example.com)", "[jo.doe@example.com]", "jo.doe@example.com.", "jo.doe@example.com,", "jo.doe@example.com;",
		"jo.doe@example.com!", "jo.doe@example.com>",
		"mailto:jo.doe@example.com", "MAILTO:jo.doe@example.com?subject=Hi", "<mailto:jo.doe@example.com|jo.doe@example.com>",
		"[mailto:jo.doe@example.com]",
		`"jo.doe@example.com" <jo.doe@example.com>`, "'jo.doe@example.com' <jo.doe@example.com>", "*jo.doe@example.com*",
		"_jo.doe@example.com_", "`jo.doe@example.com`", "jo.doe@example.com/",
		"ｊｏ．ｄｏｅ＠ｅｘａｍｐｌｅ．ｃｏｍ\u3000", "【jo.doe@example.com】", "E-Mail: <jo.doe@example.com>",
	} {
		a, err := email.Parse(text)
		require.NoError(t, err, "%q", text)
		require.Equal(t, "jo.doe@example.com", a.Text, "%q", text)
	}
	for _, text := range []string{"_jo@example.com", "'t@example.com", "o'neil@example.com", "*@example.com",
		"|x|@example.com", "{a}@example.com", "jo~@example.com"} {
		a, err := email.Parse(text)
		require.NoError(t, err, text)
		require.Equal(t, text, a.Text)
	}
}

// A letter with an accent is one character from most keyboards, and two from some.
func TestComposedAndDecomposedLettersAreTheSame(t *testing.T) {
	t.Parallel()
	composed, err := email.Parse("zo\u00eb@b\u00fccher.example")
	require.NoError(t, err)
	decomposed, err := email.Parse("ZOE\u0308@bu\u0308cher.example")
	require.NoError(t, err)
	require.Equal(t, composed.Key, decomposed.Key)
	require.Equal(t, composed.Key, email.Key("Zoe\u0308@b\u00fccher.example"))
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

// A letter with a mark is one letter, as one character and as two, with marks in any order.
func TestComposedAndDecomposedAreOnePerson(t *testing.T) {
	t.Parallel()
	for composed, decomposed := range map[string]string{
		"zo\u00eb@example.com":      "zoe\u0308@example.com",
		"ZO\u00cb@example.com":      "ZOE\u0308@example.com",
		"jo@k\u00e4se.example":      "jo@ka\u0308se.example",
		"vi\u1ec7t@example.com":     "vie\u0302\u0323t@example.com",
		"\uac00@example.com":        "\u1100\u1161@example.com",
		"\u00e5ngstr\u00f6m@b.test": "\u212bngstro\u0308m@b.test",
	} {
		a, err := email.Parse(composed)
		require.NoError(t, err, composed)
		b, err := email.Parse(decomposed)
		require.NoError(t, err, decomposed)
		require.Equal(t, a.Key, b.Key)
		require.Equal(t, a.Mailbox(), b.Mailbox())
		require.Equal(t, a.Key, email.Key(decomposed))
		local, _, _ := strings.Cut(decomposed, "@")
		require.Contains(t, a.Key, email.Normal(local))
	}
}

package source_test

import (
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"golang.org/x/text/unicode/norm"

	"lodestone/pkg/source"
)

func TestText(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		"":                               "",
		"spring sale":                    "spring sale",
		"  lead\t":                       "lead",
		"two\r\nlines":                   "two  lines",
		"Cafe\u0301":                     "Café",
		"caf\xe9":                        "caf",
		"caf\ufffd":                      "caf",
		"nul\x00end":                     "nulend",
		"\ufeffbom\u200bzero\u00ad":      "bomzero",
		"\u202eltr\u2066":                "ltr",
		"\u3000全角\u00a0x\u2028":          "全角 x",
		"क्\u200dष":                      "क्\u200dष",
		"\u200d":                         "",
		"\u2800\u3164":                   "",
		"👩\u200d🚀":                       "👩\u200d🚀",
		"❤️":                             "❤️",
		strings.Repeat("ж", 201):         strings.Repeat("ж", 200),
		strings.Repeat("e\u0301", 201):   strings.Repeat("é", 200),
		strings.Repeat("x", 199) + " yz": strings.Repeat("x", 199),
	} {
		got := source.Text(given, 200)
		require.Equal(t, want, got, "%q", given)
		require.Equal(t, got, source.Text(got, 200), "%q", given)
	}
}

// Names and strings are in normal form C, whoever escaped them; all else stays as it was written.
func TestJSON(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		`{}`:                                 "{}",
		`{"a":[1.50,"x\n\u0000",true,null]}`: `{"a":[1.50,"x\n\u0000",true,null]}`,
		"{\"cafe\u0301\":\"nai\u0308ve\"}":   `{"café":"naïve"}`,
		`{"cafe\u0301":"\u0065\u0301"}`:      `{"café":"é"}`,
		`{"a":"e\u0301\t\"\\","b":"\u00e9"}`: `{"a":"é\t\"\\","b":"\u00e9"}`,
		`{"a":{"b":["\u1100\u1161",-1e5]}}`:  `{"a":{"b":["가",-1e5]}}`,
		`{"a":"\u212b","b":"Å"}`:             `{"a":"Å","b":"Å"}`,
		`{"a":"\ud800e\u0301"}`:              `{"a":"\ud800e\u0301"}`,
		"\"e\u0301\"":                        `"é"`,
		"{\"\u0301\":\"\u0301\"}":            "{\"\u0301\":\"\u0301\"}",
	} {
		before := []byte(given)
		got := source.JSON(before)
		require.Equal(t, want, string(got), given)
		require.Equal(t, given, string(before))
		require.Equal(t, want, string(source.JSON(got)))
	}
}

// Whatever a page, a form, a script and a program send for one campaign is one value.
func TestOneCampaignIsOneValue(t *testing.T) {
	t.Parallel()
	for query, want := range map[string]string{
		"utm_source=a":                                "a",
		"x=1&utm_source=b&utm_source=c":               "b",
		"utm%5Fsource=d":                              "d",
		"utm_source=spring+sale":                      "spring sale",
		"utm_source=c%2b%2B":                          "c++",
		"utm_source=50%":                              "50%",
		"utm_source=%G1%4":                            "%G1%4",
		"utm_source=a;b":                              "a;b",
		"utm_source=a=b":                              "a=b",
		"utm_source=%26%23%3F%3B%25%2B":               "&#?;%+",
		"utm_source=r%C3%A9sum%C3%A9":                 "résumé",
		"utm_source=re%CC%81sume%CC%81":               "résumé",
		"utm_source=résumé":                           "résumé",
		"utm_source=l%E9":                             "l",
		"utm_source=%20tail%E2%80%8B%0D":              "tail",
		"utm_source=%F0%9F%98":                        "",
		"utm_source":                                  "",
		"UTM_SOURCE=x":                                "",
		"utm_source=" + strings.Repeat("%D0%B6", 300): strings.Repeat("ж", 200),
	} {
		campaign := source.Campaign(query)
		require.Equal(t, want, campaign["utm_source"], query)

		form := url.Values{}
		for name, value := range campaign {
			form.Set(name, value)
		}
		require.Equal(t, campaign, source.CampaignOf(form), query)

		address := source.Address("https://example.com/l/x?" + query)
		stored, err := url.Parse(address)
		require.NoError(t, err, address)
		read, err := url.ParseQuery(stored.RawQuery)
		require.NoError(t, err, address)
		require.Equal(t, want, read.Get("utm_source"), address)
		require.Equal(t, address, source.Address(address))
	}
}

func TestAddress(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("%D0%B6", 200)
	for given, want := range map[string]string{
		"https://example.com/l/x":                     "https://example.com/l/x",
		"https://ada:secret@example.com:8443/a@b":     "https://example.com:8443/a@b",
		"https://ada@example.com?utm_id=1&mail=a@b.c": "https://example.com",
		"android-app://com.example.mail/":             "android-app://com.example.mail/",
		"https://example.com./a":                      "https://example.com/a",
		"about:srcdoc":                                "about:srcdoc",
		"https://example.com/%zz#utm_source=a":        "https://example.com/%zz",
		"https://example.com/cafe\u0301?utm_term=b c": "https://example.com/café?utm_term=b%20c",
	} {
		require.Equal(t, want, source.Address(given))
	}
	worst := "https://example.com/" + strings.Repeat("%D0%B6", 400) + "?utm_source=" + long + "&utm_medium=" + long +
		"&utm_campaign=" + strings.Repeat("😀", 300) +
		"&utm_content=" + strings.Repeat("%", 300) + "&utm_term=" + strings.Repeat("語", 300)
	address := source.Address(worst)
	page, query, _ := strings.Cut(address, "?")
	require.LessOrEqual(t, len(page), source.MaxAddressBytes)
	require.LessOrEqual(t, len("?"+query), source.MaxCampaignBytes)
	decoded, err := url.PathUnescape(page)
	require.NoError(t, err, "no escape is cut")
	require.True(t, utf8.ValidString(decoded), "no character is cut")
	require.Len(t, source.Campaign(query), 5)
	for name, value := range source.Campaign(query) {
		require.Equal(t, 200, utf8.RuneCountInString(value), name)
	}
	require.LessOrEqual(t, 5*(len("&utm_campaign=")+4*source.MaxValue), source.MaxCampaignBytes)
}

// Every length cuts between characters, of text and of escapes.
func TestCuts(t *testing.T) {
	t.Parallel()
	text := "https://x.example/aé語😀%C3%A9%E8%AA%9E%F0%9F%98%80%41"
	for limit := range len(text) + 1 {
		got := source.Referrer(text, limit)
		require.LessOrEqual(t, len(got), limit)
		require.True(t, strings.HasPrefix(text, got))
		decoded, err := url.PathUnescape(got)
		require.NoError(t, err, got)
		require.True(t, utf8.ValidString(decoded), got)
		require.Greater(t, len(got), limit-len("%F0%9F%98%80"))
	}
}

func TestReferrer(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		"https://news.example/story?q=secret#x": "https://news.example/story",
		"https://news.example?utm_source=x":     "https://news.example",
		"https://me:pw@news.example/":           "https://news.example/",
		"android-app://org.example.reader/":     "android-app://org.example.reader/",
		"https://news.example/%zz":              "https://news.example/%zz",
		"about:client":                          "",
		"file:///srv/ada/x.html":                "",
		"null/":                                 "",
		"https://":                              "",
		"javascript://x/%0aalert(1)":            "",
		"":                                      "",
	} {
		require.Equal(t, want, source.Referrer(given, 500), given)
	}
}

func TestAgent(t *testing.T) {
	t.Parallel()
	plain := []byte("Mozilla/5.0  (X11; Linux)")
	require.Equal(t, string(plain), string(source.Agent(plain, 512)))
	require.Equal(t, "\ufffdPhoné", string(source.Agent([]byte("\xffPhone\u0301"), 512)))
	for _, text := range []string{strings.Repeat("語", 400), strings.Repeat("\x80", 600), strings.Repeat("x", 511) + "é",
		strings.Repeat("e\u0301", 400)} {
		got := source.Agent([]byte(text), 512)
		require.LessOrEqual(t, len(got), 512)
		require.True(t, utf8.Valid(got) && norm.NFC.IsNormal(got), text)
	}
}

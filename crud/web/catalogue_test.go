package web

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/text/feature/plural"

	"lodestone/pkg/locale"
)

func catalogueOf(t *testing.T) *Catalogue {
	t.Helper()
	c, err := VisitorTexts()
	require.NoError(t, err)
	return c
}

func placeholders(s string) []string {
	found := placeholder.FindAllString(s, -1)
	slices.Sort(found)
	return slices.Compact(found)
}

// Every language has every text, in every plural form that it has, with the placeholders of the
// English one.
func TestNoTextIsMissing(t *testing.T) {
	t.Parallel()
	c := catalogueOf(t)
	english := c.In(locale.English)
	for _, l := range locale.Languages() {
		texts := c.In(l)
		require.Len(t, texts.texts, len(english.texts), l)
		for key, want := range english.texts {
			got := requireForms(t, texts, key, want)
			if l != locale.English && len(want["other"]) > 24 {
				require.NotEqual(t, want["other"], got["other"], "%s: %s is not translated", l, key)
			}
		}
	}
}

// requireForms holds that a language has a text in every plural form that it has, with the
// placeholders of the English one.
func requireForms(t *testing.T, texts *Texts, key string, want text) text {
	t.Helper()
	l := texts.Language
	got, ok := texts.texts[key]
	require.True(t, ok, "%s lacks %s", l, key)
	needed := map[string]bool{"other": true}
	if len(want) > 1 {
		for n := range 1000 {
			needed[forms[plural.Cardinal.MatchPlural(l.Tag(), n, 0, 0, 0, 0)]] = true
		}
	}
	for form := range needed {
		require.NotEmpty(t, strings.TrimSpace(got[form]), "%s: %s lacks the form %s", l, key, form)
	}
	for form, s := range got {
		// One is often a word.
		if form != "one" {
			require.Equal(t, placeholders(want["other"]), placeholders(s), "%s: %s", l, key)
		}
		require.Equal(t, strings.TrimSpace(s), s, "%s: %s", l, key)
		require.NotContains(t, s, "<", "%s: %s", l, key)
	}
	return got
}

// The keys that the code asks for are those of the catalogue.
func TestEveryTextIsUsedAndThere(t *testing.T) {
	t.Parallel()
	texts := catalogueOf(t).In(locale.English).texts
	used := regexp.MustCompile(
		"[\"`]((?:status|action|landing|facts|size|wrong|sent|valid|confirm|viewer|reader|mail|notice|date|embed)\\.[a-z_.0-9]+|new_tab|check)[\"`]")
	var source strings.Builder
	for _, pattern := range []string{"../*/*.go", "../*/web/*.html", "../mail/template/*", "../viewer/*.html",
		"../*/web/src/*.ts", "../embed/web/build.mjs"} {
		found, err := filepath.Glob(pattern)
		require.NoError(t, err)
		for _, name := range found {
			if strings.HasSuffix(name, "_test.go") || strings.HasPrefix(name, "../dashboard/") ||
				strings.HasPrefix(name, "../webhook/") {
				continue // texts of its own; kinds of notices
			}
			text, err := os.ReadFile(name)
			require.NoError(t, err)
			source.Write(text)
		}
	}
	all := source.String()
	for _, found := range used.FindAllStringSubmatch(all, -1) {
		if ending := filepath.Ext(found[1]); ending == ".js" || ending == ".css" || ending == ".html" || ending == ".txt" {
			continue // the name of a file
		}
		key := strings.TrimSuffix(found[1], ".")
		_, ok := texts[key]
		prefix := slices.ContainsFunc(mapKeys(texts), func(k string) bool { return strings.HasPrefix(k, key+".") })
		require.True(t, ok || prefix, "the catalogue lacks %s", found[1])
	}
	for key := range texts {
		name := strings.TrimPrefix(key, "reader.")
		if strings.HasPrefix(key, "status.") || strings.HasPrefix(key, "valid.") || strings.HasPrefix(key, "mail.valid.") ||
			strings.HasPrefix(key, "mail.reading.") || strings.HasPrefix(key, "mail.weekly.") ||
			strings.HasPrefix(key, "mail.alert.") ||
			strings.HasPrefix(key, "mail.role.") || strings.HasPrefix(key, "notice.leads.") ||
			strings.HasPrefix(key, "notice.readings.") {
			continue // composed
		}
		require.True(t, strings.Contains(all, key) || strings.HasPrefix(key, "reader.") &&
			strings.Contains(all, `"`+name+`"`), "nothing uses %s", key)
	}
}

func mapKeys(texts map[string]text) []string {
	keys := make([]string, 0, len(texts))
	for k := range texts {
		keys = append(keys, k)
	}
	return keys
}

func TestSay(t *testing.T) {
	t.Parallel()
	c := catalogueOf(t)
	for _, test := range []struct {
		language locale.Language
		key      string
		args     []any
		want     string
	}{
		{"en", "facts.pages", []any{"n", 1}, "1 page"},
		{"en", "facts.pages", []any{"n", int32(12)}, "12 pages"},
		{"en", "facts.readers", []any{"n", int64(1200)}, "Read by 1,200 people"},
		{"de", "facts.readers", []any{"n", int64(1200)}, "Von 1.200 Personen gelesen"},
		{"pl", "facts.pages", []any{"n", 1}, "1 strona"},
		{"pl", "facts.pages", []any{"n", 3}, "3 strony"},
		{"pl", "facts.pages", []any{"n", 12}, "12 stron"},
		{"pl", "facts.pages", []any{"n", 22}, "22 strony"},
		{"de", "size.mb", []any{"n", 2.44}, "2,4 MB"},
		{"fr", "size.mb", []any{"n", 2.44}, "2,4 Mo"},
		{"en", "landing.sees", []any{"account", "{n} & <b>"}, "{n} & <b> gets your email address and sees what you read."},
		{"tlh", "action.back", nil, "Back"},
	} {
		require.Equal(t, test.want, c.In(test.language).Say(test.key, test.args...))
	}
	html := c.In("en").HTML("confirm.away", "email", Strong("<a>@example.com"), "title", "<b>")
	require.Equal(t, `<strong class="address">&lt;a&gt;@example.com</strong> requested “&lt;b&gt;”. Confirm that this is you.`, string(html))
}

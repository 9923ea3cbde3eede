package link

import (
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/crud/web"
)

// Whatever a title holds, the slug made from it is one that could also be asked for.
func FuzzSlug(f *testing.F) {
	for _, seed := range []string{"", "The Guide", "Größe", "指南", "-", "a--b", "ﬁ", strings.Repeat("word ", 40),
		"\x00\xff", "İ", "a\u0301"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, title string) {
		for _, slug := range slugsOf(title) {
			require.Regexp(t, SlugForm, slug)
			require.LessOrEqual(t, len(slug), MaxSlug)
			require.GreaterOrEqual(t, len(slug), minSlug)
			require.False(t, reserved(slug))
		}
	})
}

// A URL that passes leads to a host over HTTP, and holds no password.
func FuzzWebURL(f *testing.F) {
	for _, seed := range []string{"https://example.com/a.png", "HTTP://x", "javascript:alert(1)", "//x", "https://u:p@x",
		"http://[::1]:80/", "http://:80", "http://%00"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if web.CheckURL(text, "") != "" {
			return
		}
		lower := strings.ToLower(text)
		require.True(t, strings.HasPrefix(lower, "http://") || strings.HasPrefix(lower, "https://"), text)
		u, err := url.Parse(text)
		require.NoError(t, err)
		require.NotEmpty(t, u.Hostname())
		require.Nil(t, u.User)
	})
}

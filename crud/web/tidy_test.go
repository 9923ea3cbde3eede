package web_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/crud/web"
	"lodestone/pkg/problem"
)

// What stands behind a link in a mail or a chat is often taken for a part of it.
func TestLinksWithSomethingBehindThem(t *testing.T) {
	t.Parallel()
	site, err := web.New(web.Deps{Site: "https://example.com/docs", Log: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	const token = "abcdefghijklmnopqrstuvwx23"
	for asked, want := range map[string]string{
		"/a/" + token + ".": "/a/" + token, "/a/" + token + ")": "/a/" + token, "/a/" + token + ",": "/a/" + token,
		"/a/" + token + "%3E": "/a/" + token,
		"/a/" + token + "%20": "/a/" + token, "/a/" + token + "%E2%80%8B": "/a/" + token, "/a/" + token + "%0D%0A": "/a/" +
			token, "/a/" + token + "%22": "/a/" + token,
		"/a/" + token + "%C2%A0and": "/a/" + token, "/a/abcdefgh%E2%80%8Bijklmnopqrstuvwx23": "/a/" + token,
		"/a/%3C" + token + "%3E":        "/a/" + token,
		"/a/ABCDEFGHIJKLMNOPQRSTUVWX23": "/a/" + token, "/A/ABCDEFGHIJKLMNOPQRSTUVWX23": "/a/" + token,
		"/a/" + token + "%E2%80%9D": "/a/" + token, "/a/" + token + "/.": "/a/" + token,
		"/verify/" + token + "/": "/verify/" + token, "/verify/sent/" + token + "%5D": "/verify/sent/" + token,
		"/VERIFY/" + token + ";": "/verify/" + token,
		"/notices/aB_c-/":        "/notices/aB_c-", "/notices/confirm/aB_c-).": "/notices/confirm/aB_c-",
		"/notices/weekly/aB%3E": "/notices/weekly/aB", "/notices/aB.?about=week": "/notices/aB?about=week",
		"/l/guide.": "/l/guide", "/l/Guide)": "/l/guide", "/L/GUIDE": "/l/guide",
		"/l/guide&utm_source=x":                  "/l/guide?utm_source=x",
		"/l/guide%3Futm_source=x%26utm_medium=y": "/l/guide?utm_medium=y&utm_source=x",
		"/l/guide&amp;utm_source=x":              "/l/guide?utm_source=x", "/l/guide.?utm_source=x": "/l/guide?utm_source=x",
		"/l/guide&utm_source=x?utm_medium=y": "/l/guide?utm_source=x&utm_medium=y",
		"/l/guide&utm_source=f%C3%BC%25":     "/l/guide", "/s/" + token + "…": "/s/" + token,
		"/dashboard/sign-in/link/" + token +
			"%EF%BC%89": "/dashboard/sign-in/link/" + token,
		"/dashboard/sign-in/invitation/" + token + "!": "/dashboard/sign-in/invitation/" + token,
		"/l/guide": "", "/l/": "", "/a/" + token: "", "/notices/aB": "", "/dashboard/x.": "", "/": "", "/x/y.": "",
		"/l/a/b.": "", "/a/" + token + "/file.": "",
	} {
		if want != "" {
			want = "/docs" + want
		}
		for name, answer := range map[string]func(http.ResponseWriter, *http.Request){
			"page": func(w http.ResponseWriter, r *http.Request) {
				site.WriteError(w, r, web.Error(web.NotFound, web.Brand{}))
			},
			"problem": func(w http.ResponseWriter, r *http.Request) { site.WriteProblem(w, r, problem.Missing("page")) },
		} {
			for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost} {
				w := httptest.NewRecorder()
				address, err := url.Parse(asked)
				require.NoError(t, err)
				r := httptest.NewRequestWithContext(t.Context(), method, "/", http.NoBody)
				r.URL = address
				answer(w, r)
				if want == "" || method == http.MethodPost {
					require.Equal(t, http.StatusNotFound, w.Code, "%s %s of a %s", method, asked, name)
					continue
				}
				require.Equal(t, http.StatusFound, w.Code, "%s %s of a %s", method, asked, name)
				require.Equal(t, want, w.Header().Get("Location"), "%s of a %s", asked, name)
			}
		}
	}
}

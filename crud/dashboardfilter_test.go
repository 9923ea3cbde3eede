package crud_test

import (
	"html"
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/crud/account"
)

// The recipients of a link have the bar of the other lists: chips, views, and a file of what they
// show. What led there is led back to.
func TestRecipientsAreFiltered(t *testing.T) {
	t.Parallel()
	f := start(t)
	u := f.user(t, account.Team)
	link := u.link(t, u.magnet(t).ID).ID
	u.invite(t, link, "Name;E-Mail\nAda;ada@example.com\nBob;bob@example.com\n")
	b := u.signIn(t)
	screen := "/dashboard/links/" + link + "/recipients"

	all := b.get(screen)
	require.Contains(t, all.text, "No filters")
	require.Contains(t, all.text, `href="`+screen+`?add=invited"`)
	p := b.get(screen + "?q=ada&state=added&page=1&list=utm_source%3Dnews")
	require.Equal(t, http.StatusOK, p.status)
	text := html.UnescapeString(p.text)
	require.Contains(t, text, "<span>State: not sent</span>")
	require.Contains(t, text, `href="`+screen+`?list=utm_source%3Dnews&q=ada"`, "the chip can be removed")
	require.Contains(t, text, `href="/dashboard/links/`+link+`?utm_source=news"`, "the link is led back to")
	require.Contains(t, text, `href="`+screen+`.csv?q=ada&state=added"`)
	file := b.get(screen + ".csv?q=ada&state=added").text
	require.Contains(t, file, "ada@example.com")
	require.NotContains(t, file, "bob@example.com")
	require.NotContains(t, b.get(screen+".csv?state=opened").text, "@example.com")

	saved := b.post(p, "/dashboard/views", url.Values{"screen": {"recipients"}, "name": {"Not sent"},
		"to": {screen + "?q=ada&state=added&list=x&added=2"}})
	require.Equal(t, http.StatusSeeOther, saved.status, saved.text)
	listed := html.UnescapeString(b.get(screen + "?state=added&q=ada&added=2").text)
	require.Contains(t, listed, `href="`+screen+`?q=ada&state=added" aria-current="true">Not sent<`)
	refused := b.post(p, screen+"/send", url.Values{"subject": {""}, "text": {""}})
	require.Equal(t, http.StatusUnprocessableEntity, refused.status)
	require.Contains(t, refused.text, "bob@example.com", "the whole list is shown again")
}

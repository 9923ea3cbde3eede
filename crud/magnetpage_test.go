package crud_test

import (
	"bytes"
	"image"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/crud/account"
	"lodestone/pkg/auth"
	"lodestone/pkg/test"
)

// Each page of a version has a small picture, for the account alone, and versions are listed.
func TestPagesOfADocument(t *testing.T) {
	t.Parallel()
	f := start(t)
	u := f.user(t, account.Team)
	m := u.magnet(t)
	path := "/api/v1/lead-magnets/" + m.ID
	require.Empty(t, u.get(t, path+"/versions").object(t)["data"])
	require.Equal(t, 404, u.get(t, path+"/pages/1/picture").status, "there is no file yet")

	const pages = 14 // more than are rendered at once
	for _, n := range []int{pages, 2} {
		_, err := u.UploadFile(t.Context(), m.ID, "guide.pdf", bytes.NewReader(test.StripPDF(n, 0)))
		require.NoError(t, err)
	}
	list := u.get(t, path+"/versions").object(t)["data"].([]any)
	require.Len(t, list, 2)
	newest, first := list[0].(map[string]any), list[1].(map[string]any)
	require.EqualValues(t, 2, newest["version"])
	require.EqualValues(t, 2, newest["page_count"])
	require.EqualValues(t, 1, first["version"])
	require.EqualValues(t, pages, first["page_count"])
	require.Equal(t, true, first["stored"])
	require.Equal(t, "guide.pdf", first["file_name"])

	for _, page := range []string{"/pages/2/picture", "/pages/14/picture?magnet_version=1",
		"/pages/1/picture?magnet_version=1", "/pages/12/picture?magnet_version=1"} {
		for range 2 { // it is made, and then it is there
			r := u.get(t, path+page)
			require.Equal(t, 200, r.status, "%s: %s", page, r.body)
			require.Contains(t, r.header.Get("Cache-Control"), "private")
			decoded, format, err := image.Decode(strings.NewReader(r.body))
			require.NoError(t, err)
			require.Equal(t, "image/"+format, r.header.Get("Content-Type"))
			require.Equal(t, 240, decoded.Bounds().Dx())
		}
	}
	for _, page := range []string{"/pages/3/picture", "/pages/15/picture?magnet_version=1",
		"/pages/1/picture?magnet_version=3", "/pages/0/picture", "/pages/301/picture", "/pages/x/picture"} {
		require.Equal(t, 404, u.get(t, path+page).status, page)
	}
	require.Equal(t, 400, u.get(t, path+"/pages/1/picture?magnet_version=2147483648").status)
	require.Equal(t, 404, f.user(t, account.Team).get(t, path+"/pages/1/picture").status, "another account")
	require.Equal(t, 404, f.user(t, account.Team).get(t, path+"/versions").status)
	require.Equal(t, 403, f.userOf(t, u.account, auth.Keys).get(t, path+"/pages/1/picture").status)
	require.Equal(t, 401, f.public(t, "GET", path+"/pages/1/picture").status)
	require.Equal(t, pages+2, f.count(t, "page_pictures WHERE lead_magnet_id = '"+m.ID+"'"))
	require.Equal(t, 204, u.remove(t, path).status)
	require.Zero(t, f.count(t, "page_pictures WHERE lead_magnet_id = '"+m.ID+"'"))
}

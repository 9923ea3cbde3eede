package landing_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/token"
)

// A new first key of the tokens, with the old one kept, ends no verification that waits and no
// preview.
func TestRotatedKeysEndNothing(t *testing.T) {
	t.Parallel()
	f := start(t)
	slug := f.link(t, "require_verification = true")
	page, first := f.asked(t, slug, "jo@example.com")
	var preview struct{ URL string }
	r := f.do(t, "POST", "/api/v1/generic-links/"+one[string](t, f, `SELECT id::text FROM generic_links WHERE slug = $1`,
		slug)+"/preview", nil, "Authorization", "Bearer "+f.key)
	require.NoError(t, json.Unmarshal([]byte(r.body), &preview, json.MatchCaseInsensitiveNames(true)), r.body)
	u, err := url.Parse(preview.URL)
	require.NoError(t, err)

	f.keys = token.NewKeys(2).Keys + "," + f.keys
	f.serve(t)
	f.exec(t, `UPDATE generic_links SET active = false`)
	require.Equal(t, 200, f.get(t, u.RequestURI()).status)
	require.Equal(t, 410, f.get(t, strings.Split(u.RequestURI(), "?")[0]).status)
	f.exec(t, `UPDATE generic_links SET active = true`)
	f.pass(time.Minute)
	f.post(t, page+"/again").location(t)
	require.Equal(t, first, f.last(t), "the mail is the same as before")
	require.Regexp(t, `^/a/`, f.post(t, page, "code", first.Code).location(t))
}

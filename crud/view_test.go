package crud_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/crud/account"
)

const viewsPath = "/api/v1/views"

// Saving under the name of a view replaces it, also in a full account.
func TestAViewReplacesTheOneOfItsName(t *testing.T) {
	t.Parallel()
	f := start(t)
	u := f.user(t, account.Free)
	save := func(screen, name, query string) reply {
		t.Helper()
		return u.post(t, viewsPath, fmt.Sprintf(`{"screen":%q,"name":%q,"query":%q}`, screen, name, query))
	}
	first := save("readers", "Best", "finished=true")
	require.Equal(t, 201, first.status, first.body)
	require.Equal(t, 201, save("links", "Best", "status=active").status)
	for i := range 98 {
		require.Equal(t, 201, save("readers", fmt.Sprint("View ", i), "").status)
	}
	require.Equal(t, 403, save("readers", "One more", "").status)

	again := save("readers", "Best", "finished=true&utm_source=letter&cursor=x")
	require.Equal(t, 201, again.status, again.body)
	require.Equal(t, first.object(t)["id"], again.object(t)["id"])
	require.Equal(t, "finished=true&utm_source=letter", again.object(t)["query"])
	listed := u.get(t, viewsPath+"?per_page=100").object(t)
	require.Len(t, listed["data"], 100)
	require.Contains(t, listed["data"], again.object(t))
	other := f.user(t, account.Free) // has views of its own
	require.Equal(t, 201, other.post(t, viewsPath, `{"screen":"readers","name":"Best","query":""}`).status)
	require.Contains(t, u.get(t, viewsPath+"?per_page=100").object(t)["data"], again.object(t))
}

func TestTextsOfViews(t *testing.T) {
	t.Parallel()
	u := start(t).user(t, account.Free)
	for body, field := range map[string]string{
		`"name":"a","query":"q=%00"`:             "query",
		`"name":"a","query":"q=%ff"`:             "query",
		`"name":"a","query":"%00=1"`:             "query",
		`"name":"a","query":"q=%"`:               "query",
		`"name":"a","query":"q=\u0000"`:          "query",
		`"name":"a\u0000","query":""`:            "name",
		`"name":"a\u202e","query":"q=%E2%80%AE"`: "name",
		`"name":"a","query":"q=%E2%80%AE"`:       "query",
	} {
		r := u.post(t, viewsPath, `{"screen":"readers",`+body+`}`)
		require.Equal(t, 422, r.status, body)
		require.Equal(t, field, r.problem(t).Errors[0].Field, body)
	}
	require.Equal(t, 201, u.post(t, viewsPath, `{"screen":"readers","name":"é","query":"q=%C3%A9"}`).status)
}

// A view that has the address of an erased person goes, whether it searches for it or is named so.
func TestViewsOfAnErasedPersonGo(t *testing.T) {
	t.Parallel()
	u := start(t).user(t, account.Team)
	kept := map[string]bool{}
	for body, stays := range map[string]bool{
		`"name":"Gone@Example.com","query":""`:                false,
		`"name":"One","query":"q=gone%40example.com"`:         false,
		`"name":"Two","query":"q=GONE%40Example.com&x=1"`:     false,
		`"name":"Not gone","query":"q=someone%40example.com"`: true,
	} {
		made := u.post(t, viewsPath, `{"screen":"readers",`+body+`}`).object(t)
		kept[made["id"].(string)] = stays
	}
	u.erased(t)
	listed := u.get(t, viewsPath).body
	for id, stays := range kept {
		require.Equal(t, stays, strings.Contains(listed, id), listed)
	}
}

package frame

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/crud/web"
)

// visitAt returns a visit of a screen that has filters.
func visitAt(address string, names ...string) *Visit {
	r := httptest.NewRequestWithContext(context.Background(), "GET", address, http.NoBody)
	return &Visit{R: r, Filters: newFilters(r.URL.Query(), names), frame: &Frame{deps: Deps{Pages: &web.Site{}}},
		Period: Period{Preset: true, Days: 30, Compare: true}}
}

// The way back to a document has the filters of the list that led to its landing page.
func TestDocumentKeepsFilters(t *testing.T) {
	t.Parallel()
	list := url.Values{"list": {"device=mobile&utm_source=old&status=all"}, "utm_source": {"news"}}
	v := visitAt("/dashboard/links/x?"+list.Encode(), ByUTMSource, ByCampaign, ByState)
	require.Equal(t, "/dashboard/magnets/a?device=mobile&utm_source=news", v.Document("a"))
	v = visitAt("/dashboard/links/x?utm_campaign=spring&state=ready", ByUTMSource, ByCampaign, ByState)
	require.Equal(t, "/dashboard/magnets/a?utm_campaign=spring", v.Document("a"))
	require.Equal(t, "/dashboard/links?utm_campaign=spring", v.Back("/dashboard/links"))
}

// What leads to landing pages keeps the filters of the screen, and leads back to a list with them.
func TestLandingsKeepFilters(t *testing.T) {
	t.Parallel()
	names := []string{ByLandings, ByUTMSource, ByCampaign, ByDevice}
	v := visitAt("/dashboard/magnets/m?device=mobile&utm_source=news", names...)
	require.Equal(t, "/dashboard/links?device=mobile&lead_magnet_id=m&utm_source=news", v.Landings("m"))
	require.Equal(t, "/dashboard/links?device=mobile&utm_source=news", v.Landings(""))
	require.Equal(t, "/dashboard/links/l?list=device%3Dmobile%26lead_magnet_id%3Dm%26utm_source%3Dnews&utm_source=news",
		v.Landing("l", "m"))
	back := visitAt(v.Landing("l", "m"), ByUTMSource)
	require.Equal(t, v.Landings("m"), back.Back("/dashboard/links"))
	require.Equal(t, "/dashboard/magnets/m?utm_source=news", back.Here("/dashboard/magnets/m"))

	one := visitAt("/dashboard?generic_link_id=l&utm_campaign=May", names...)
	link, err := url.Parse(one.Landings("m"))
	require.NoError(t, err)
	require.Equal(t, "/dashboard/links/l", link.Path)
	require.Equal(t, url.Values{"utm_campaign": {"May"}, "list": {"lead_magnet_id=m&utm_campaign=May"}}, link.Query())
}

// A list is not ordered by a number that a filter leaves out.
func TestNumbersThatFiltersLeaveOut(t *testing.T) {
	t.Parallel()
	v := visitAt("/dashboard/links?device=mobile", ByDevice)
	require.False(t, v.Counts("submissions"))
	require.True(t, v.Counts("people"))
	require.True(t, visitAt("/dashboard/links?device=mobile", ByUTMSource).Counts("submissions"))
}

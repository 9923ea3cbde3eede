package frame

import (
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"
)

// A filter leads to the beginning of the list, and a source and none of it exclude each other. Only
// addresses of the dashboard are led to.
func TestAddFilter(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ place, chosen, want string }{
		{"/dashboard/readers?cursor=x&add=device&sort=-score", "device=mobile",
			"/dashboard/readers?device=mobile&sort=-score"},
		{"/dashboard?device=mobile&page=2", "device=desktop", "/dashboard?device=desktop"},
		{"/dashboard/readers?without=utm_source", "utm_source=a%26b", "/dashboard/readers?utm_source=a%26b"},
		{"/dashboard/readers?utm_source=news&q=", "without=utm_source", "/dashboard/readers?without=utm_source"},
		{"/dashboard?without=utm_source", "without=utm_campaign", "/dashboard?without=utm_source&without=utm_campaign"},
		{"/dashboard?without=utm_source&without=utm_campaign", "utm_source=a",
			"/dashboard?utm_source=a&without=utm_campaign"},
		{"/dashboard?without=utm_source", "without=utm_source", "/dashboard?without=utm_source"},
		{"/dashboard/readers?field=company:Acme", "field=size:50", "/dashboard/readers?field=company%3AAcme&field=size%3A50"},
		{"/dashboard/links/x?list=q%3Da", "", "/dashboard/links/x?list=q%3Da"},
		{"/dashboard?device=mobile", "device=", "/dashboard?device=mobile"},
	} {
		got, err := AddFilter(c.place, c.chosen)
		require.NoError(t, err, c.place)
		require.Equal(t, c.want, got)
	}
	for _, place := range []string{"", "https://evil.example/dashboard", "//evil.example/dashboard", "/l/x", "/dashboards",
		"javascript:alert(1)"} {
		_, err := AddFilter(place, "")
		require.Error(t, err, place)
	}
}

// Questions are narrowed by the filters that a screen has, except where they say themselves what
// they are about. Forms know no device, and neither they nor visitors know who finished.
func TestQuestionsAreNarrowed(t *testing.T) {
	t.Parallel()
	address := url.Values{"utm_source": {"news"}, "without": {"utm_campaign"}, "device": {"mobile"},
		"generic_link_id": {"a"}, "country": {"DE"}, "finished": {"true"}, "cursor": {"x"}}
	f := newFilters(address, []string{ByLandings, ByUTMSource, ByCampaign, ByDevice})
	q := Query{Metrics: []string{"people", "submissions", "visitors"}, Filters: map[string][]any{ByLandings: {"b"}}}
	f.narrow(&q)
	require.Equal(t, map[string][]any{ByUTMSource: {"news"}, ByCampaign: {nil}, ByDevice: {"mobile"}, ByLandings: {"b"}},
		q.Filters)
	require.Equal(t, []string{"people", "visitors"}, q.Metrics)
	require.Nil(t, q.People)
	f = newFilters(address, []string{ByLandings, ByUTMSource, ByCampaign, ByDevice, "finished"})
	f.narrow(&q)
	require.Equal(t, []string{"people"}, q.Metrics)
	require.Equal(t, map[string]any{"finished": true}, q.People)
	require.Equal(t, "device=mobile&finished=true&generic_link_id=a&utm_source=news&without=utm_campaign", f.Query().Encode())
	require.Equal(t, "utm_source=news&without=utm_campaign", f.Query(ByUTMSource, ByCampaign).Encode())

	// Who has no source and no campaign has neither.
	f = newFilters(url.Values{"without": {"utm_campaign", "utm_source", "device"}}, []string{ByUTMSource, ByCampaign})
	q = Query{}
	f.narrow(&q)
	require.Equal(t, map[string][]any{ByUTMSource: {nil}, ByCampaign: {nil}}, q.Filters)
	require.Equal(t, "without=utm_source&without=utm_campaign", f.Query().Encode())
	require.Equal(t, "without=utm_campaign", f.Query(ByCampaign).Encode())

	f = newFilters(url.Values{"status": {"Won"}, "stopped_at": {"3"}, "field": {"company:Acme", "size:9"},
		"reached": {"x"}, "finished": {"false"}}, PeopleFilters())
	f.narrow(&q)
	require.Equal(t, map[string]any{"status": "Won", "stopped_at": 3, "field": []string{"company:Acme", "size:9"},
		"reached": "x", "finished": false}, q.People, "the API refuses what is no number")

	// The status of a landing page is not that of a person.
	f = newFilters(url.Values{"status": {"open"}, "without": {"utm_source"}}, []string{ByPage})
	f.narrow(&q)
	require.Nil(t, q.People)
	require.Equal(t, "status=open", f.Query().Encode())
	require.Equal(t, "open", f.Get(ByPage))
	q = Query{Metrics: []string{"submissions"}}
	f.narrow(&q)
	require.Empty(t, q.Filters)
	require.Equal(t, []string{"submissions"}, q.Metrics)
}

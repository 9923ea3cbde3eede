package main

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/client"
	"lodestone/pkg/problem"
	"lodestone/pkg/test/clienttest"
	"lodestone/pkg/test/enginetest"
)

// A link that is deleted leaves the summary of its address; what happened on it stays in the list
// of events, including later reports about it. A revoked key stops everywhere.
func TestDeletedLinksAndRevokedKeys(t *testing.T) {
	t.Parallel()
	u := sharedUp(t)
	c := clienttest.New(client.Config{URL: u.env["LODESTONE_URL"], Key: u.env["LODESTONE_API_KEY"]})
	const address = "ada@example.com"
	var magnets []client.LeadMagnet
	var links []client.AccessLink
	for i := range 3 {
		m, err := c.CreateLeadMagnet(t.Context(), client.NewLeadMagnet{Title: fmt.Sprint(i)})
		require.NoError(t, err)
		created, err := c.CreateAccessLinks(t.Context(), m.ID, clienttest.NewAccessLinks{Emails: []string{address}})
		require.NoError(t, err)
		magnets, links = append(magnets, m), append(links, created[0])
	}
	view := func(token string) {
		body := fmt.Sprintf(`{"token":%q,"event_type":"page_viewed","event_data":{"page":1},"session_id":%q}`, token,
			uuid.NewString())
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, u.env["LODESTONE_COLLECTOR_URL"]+
			"/v1/events", strings.NewReader(body))
		require.NoError(t, err)
		req.Header.Set("Content-Type", "application/json")
		res, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		require.Equal(t, http.StatusAccepted, res.StatusCode)
	}
	summary := func(want ...int64) { // links, views, lead magnets and events
		t.Helper()
		var got []int64
		require.Eventually(t, func() bool {
			s, err := c.EmailSummary(t.Context(), address, "")
			if err != nil {
				return false
			}
			events, err := c.Events(t.Context(), client.EventFilter{})
			got = []int64{s.TotalLinks, s.TotalViews, s.UniqueLeadMagnets, events.Pagination.Total}
			return err == nil && slices.Equal(got, want)
		}, enginetest.Timeout, seldom, "%v", &got)
	}
	for _, l := range links {
		view(l.TrackingToken)
	}
	summary(3, 3, 3, 3)
	require.NoError(t, c.DeleteAccessLink(t.Context(), links[0].ID))
	summary(2, 2, 2, 3)
	view(links[0].TrackingToken) // what happened is recorded
	summary(2, 2, 2, 4)
	require.True(t, problem.Is(c.DeleteLeadMagnet(t.Context(), magnets[1].ID, false), problem.Conflict))
	require.NoError(t, c.DeleteLeadMagnet(t.Context(), magnets[1].ID, true))
	summary(1, 1, 1, 4)
	events, err := c.Events(t.Context(), client.EventFilter{AccessLinkID: links[0].ID})
	require.NoError(t, err)
	require.EqualValues(t, 2, events.Pagination.Total)

	key, err := c.CreateKey(t.Context(), clienttest.NewKey{Name: "x", Scopes: []string{"read", "keys"}})
	require.NoError(t, err)
	other := clienttest.New(client.Config{URL: u.env["LODESTONE_URL"], Key: key.Text})
	_, err = other.Events(t.Context(), client.EventFilter{})
	require.NoError(t, err)
	_, err = other.Keys(t.Context(), client.Paging{})
	require.NoError(t, err)
	require.NoError(t, c.RevokeKey(t.Context(), key.ID))
	require.Eventually(t, func() bool {
		_, events := other.Events(t.Context(), client.EventFilter{})
		_, keys := other.Keys(t.Context(), client.Paging{})
		return problem.Is(events, problem.Unauthorized) && problem.Is(keys, problem.Unauthorized)
	}, enginetest.Timeout, seldom)
}

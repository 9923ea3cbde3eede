package main

import (
	"bufio"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/client"
	"lodestone/pkg/test/clienttest"
)

// streams shows that what the collector acknowledged arrives in the stream. ended is for the
// orderly end of the process, which an open stream does not hold up; again for the next start.
func (u *up) streams(t *testing.T) (ended, again func()) {
	t.Helper()
	api := clienttest.New(client.Config{URL: u.env["LODESTONE_URL"], Key: u.env["LODESTONE_API_KEY"]})
	magnets, err := api.LeadMagnets(t.Context(), client.Paging{})
	require.NoError(t, err)
	link, err := api.CreateAccessLink(t.Context(),
		client.NewAccessLink{LeadMagnetID: magnets.Data[0].ID, Email: "ada@example.com"})
	require.NoError(t, err)
	post := func() string {
		id := uuid.NewString()
		body := `{"token":"` + link.TrackingToken + `","event_type":"page_viewed","event_data":{"page":1},"event_id":"` + id +
			`"}`
		res, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Post(u.env["LODESTONE_COLLECTOR_URL"]+
			"/v1/events", "application/json", strings.NewReader(body))
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		require.Equal(t, http.StatusAccepted, res.StatusCode)
		return id
	}
	last := ""
	open := func() *bufio.Reader {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet,
			u.env["LODESTONE_URL"]+"/api/v1/analytics/live", http.NoBody)
		require.NoError(t, err)
		req.Header.Set("Authorization", "Bearer "+u.env["LODESTONE_API_KEY"])
		if last != "" {
			req.Header.Set("Last-Event-ID", last)
		}
		res, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
		require.NoError(t, err)
		t.Cleanup(func() { _ = res.Body.Close() })
		require.Equal(t, http.StatusOK, res.StatusCode)
		return bufio.NewReader(res.Body)
	}
	data := func(r *bufio.Reader) string {
		for {
			line, err := r.ReadString('\n')
			require.NoError(t, err)
			if id, ok := strings.CutPrefix(line, "id: "); ok {
				last = strings.TrimSpace(id)
			}
			if text, ok := strings.CutPrefix(line, "data: "); ok {
				return text
			}
		}
	}
	r := open()
	for range 2 {
		id := post()
		require.Contains(t, data(r), id)
	}

	ended = func() {
		_, err := io.ReadAll(r)
		require.NoError(t, err, "the stream ends as it should")
		// on a busy machine, something else may take longer than it has
		require.NotContains(t, u.out.String(), "requests were cut off")
	}
	return ended, func() {
		third, r := post(), open()
		for !strings.Contains(data(r), third) { // what was stored shortly before comes again
		}
	}
}

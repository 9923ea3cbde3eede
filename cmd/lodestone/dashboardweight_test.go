//go:build long

package main

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/test/enginetest"
)

// maxScreen bounds the transferred HTML of a screen with its styles, in bytes: also of those with
// ninety days of numbers in two tables, and the filters of all.
const maxScreen = 17_000

// Every screen keeps to its budget in every period that the picker offers, and in the longest one
// of each interval.
func TestScreensKeepTheirBudget(t *testing.T) {
	t.Parallel()
	u := newUp(t)
	u.start()
	past := launch(t, u.dir, nil, "demo", "--days", "120", "--seed", "7")
	require.Zero(t, past.wait(), "%s", past.out)
	v := signIn(t, u)
	var magnets struct{ Data []struct{ ID string } }
	v.call(http.MethodGet, "/api/v1/lead-magnets", "", &magnets)
	paths := []string{"/dashboard", "/dashboard/readers", "/dashboard/links", "/dashboard/live"}
	for i, m := range magnets.Data {
		for n := range 20 * min(i, 1) { // the first one has few landing pages
			v.call(http.MethodPost, "/api/v1/generic-links",
				fmt.Sprintf(`{"lead_magnet_id":"%s","title":"Campaign %d of the autumn"}`, m.ID, n), new(any))
		}
		paths = append(paths, "/dashboard/magnets/"+m.ID, "/dashboard/magnets/"+m.ID+"?version=1")
	}
	var links struct{ Data []struct{ ID string } }
	v.call(http.MethodGet, "/api/v1/generic-links?per_page=100", "", &links)
	for _, l := range links.Data[max(0, len(links.Data)-4):] { // those of the demo
		paths = append(paths, "/dashboard/links/"+l.ID)
	}
	var readers struct {
		Data []struct {
			AccessLinks []string `json:"access_links"`
		}
	}
	v.call(http.MethodGet, "/api/v1/analytics/readers?sort=-reading_ms&per_page=3", "", &readers)
	for _, r := range readers.Data {
		paths = append(paths, "/dashboard/readers/"+r.AccessLinks[0])
	}
	today := time.Now().UTC()
	periods := []string{"days=1", "days=2", "days=7", "days=30", "days=90",
		"from=" + today.AddDate(0, 0, -91).Format(time.DateOnly) + "&to=" + today.Format(time.DateOnly), "days=366"}
	var heavy []string
	var most int64
	weigh := func(path string) {
		sent := v.weight(path)
		if most = max(most, sent); sent > maxScreen {
			heavy = append(heavy, fmt.Sprint(sent, " bytes: ", path))
		}
	}
	for _, path := range paths {
		for _, p := range periods {
			address, query, _ := strings.Cut(path, "?")
			weigh(address + "?" + p + "&" + query)
		}
	}
	for _, metric := range v.open("/dashboard?days=90").find("option", "") { // two charts: their units differ
		if attr(metric.Parent, "name") == "metric" {
			weigh("/dashboard?" + url.Values{"days": {"90"}, "metric": {attr(metric, "value")},
				"second": {"median_page_ms"}}.Encode())
		}
	}
	t.Logf("the heaviest has %d bytes", most)
	require.Empty(t, heavy)
	u.interrupt(enginetest.Timeout)
}

// weight returns how many bytes of a screen are sent.
func (v *owner) weight(path string) int64 {
	v.t.Helper()
	req, err := http.NewRequestWithContext(v.t.Context(), http.MethodGet, v.site+path, nil)
	require.NoError(v.t, err)
	req.Header.Set("Accept-Encoding", "gzip, deflate, br, zstd") // and the client leaves it as it is
	res, err := v.http.Do(req)
	require.NoError(v.t, err)
	defer func() { _ = res.Body.Close() }()
	sent, err := io.Copy(io.Discard, res.Body)
	require.NoError(v.t, err)
	require.Equal(v.t, http.StatusOK, res.StatusCode, path)
	require.NotEmpty(v.t, res.Header.Get("Content-Encoding"))
	return sent
}

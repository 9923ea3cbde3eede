package share

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/singleflight"

	"lodestone/crud/dashboard/frame"
	"lodestone/pkg/client"
)

const (
	// keepFor is how long an answer is shown again, so that a link that many open takes little of the
	// account's requests.
	keepFor    = time.Minute
	maxKept    = 1000
	askTimeout = 12 * time.Second
	pagesPath  = "/api/v1/analytics/pages"
)

// report holds the API's answers about one lead magnet and period.
type report struct {
	overview frame.Answer
	pages    []pageRow
	version  int // of the document that the pages are of; 0: not known
}

type pageRow struct {
	Page     int      `json:"page"`
	Reached  float64  `json:"people_reached"`
	Stopped  float64  `json:"people_stopped"`
	Readers  float64  `json:"readers"`
	MedianMS *float64 `json:"median_ms"`
}

// pagesReport is the API's answer about the pages of a document.
type pagesReport struct {
	Data          []pageRow `json:"data"`
	MagnetVersion *int      `json:"magnet_version"`
}

// reports asks the API, and keeps answers for a short time. It is safe for concurrent use.
type reports struct {
	now    func() time.Time
	flight singleflight.Group
	mu     sync.Mutex
	kept   map[reportKey]cachedReport
}

type reportKey struct {
	share uuid.UUID
	days  int
}

type cachedReport struct {
	report report
	until  time.Time
}

func newReports(now func() time.Time) *reports {
	return &reports{now: now, kept: map[reportKey]cachedReport{}}
}

// get returns the report of a share on behalf of a request.
func (s *reports) get(r *http.Request, a http.Handler, o visitorShare, p period) (report, error) {
	key := reportKey{o.ID, p.Days}
	s.mu.Lock()
	hit, ok := s.kept[key]
	s.mu.Unlock()
	if ok && s.now().Before(hit.until) {
		return hit.report, nil
	}
	got, err, _ := s.flight.Do(fmt.Sprint(key), func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), askTimeout) // others wait for it as well
		defer cancel()
		found, err := ask(ctx, r, a, o, p, s.now())
		if err != nil {
			return report{}, err
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if len(s.kept) >= maxKept {
			clear(s.kept)
		}
		s.kept[key] = cachedReport{found, s.now().Add(keepFor)}
		return found, nil
	})
	if err != nil {
		return report{}, err
	}
	return got.(report), nil
}

// ask sends the two questions of a page as its share.
func ask(ctx context.Context, r *http.Request, a http.Handler, o visitorShare, p period,
	now time.Time) (found report, err error) {
	c := client.New(client.Config{URL: "http://api.invalid", Key: o.share.Key,
		HTTP: &http.Client{Transport: &client.Transport{Handler: a, For: r}}})
	from, to := p.bounds(now)
	body, err := json.Marshal(map[string]any{"queries": []any{map[string]any{
		"metrics": frame.FunnelMetrics(), "from": from.Format(time.DateOnly), "to": to.Format(time.DateOnly),
		"interval": p.Interval, "filters": map[string]any{"lead_magnet_id": []uuid.UUID{o.LeadMagnetID}},
	}}})
	if err != nil {
		return found, fmt.Errorf("encode question: %w", err)
	}
	var overview frame.Answers
	if _, err := c.Do(ctx, http.MethodPost, frame.QueryPath, http.Header{"Content-Type": {"application/json"}},
		bytes.NewReader(body), &overview); err != nil {
		return found, fmt.Errorf("ask for metrics: %w", err)
	}
	if _, err := frame.BatchOf(overview, 1); err != nil {
		return found, fmt.Errorf("ask for metrics: %w", err)
	}
	found.overview = overview.Data[0]
	query := url.Values{"lead_magnet_id": {o.LeadMagnetID.String()}, "from": {from.Format(time.RFC3339)},
		"to": {to.Format(time.RFC3339)}}
	// A person waits for it, so it is not tried again.
	var pages pagesReport
	if _, err := c.Do(ctx, http.MethodGet, pagesPath+"?"+query.Encode(), nil, nil, &pages); err != nil {
		return found, fmt.Errorf("ask for the pages: %w", err)
	}
	if found.pages = pages.Data; pages.MagnetVersion != nil {
		found.version = *pages.MagnetVersion
	}
	return found, nil
}

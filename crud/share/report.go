package share

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/singleflight"

	"lodestone/pkg/client"
)

const (
	// keepFor is how long an answer is shown again, so that a link that many open takes little of the account's requests.
	keepFor    = time.Minute
	maxKept    = 1000
	askTimeout = 12 * time.Second
	queryPath  = "/api/v1/analytics/query"
	funnelPath = "/api/v1/analytics/funnel"
	pagesPath  = "/api/v1/analytics/pages"
)

// report is what the API answers about one lead magnet and period.
type report struct {
	overview answer
	funnel   []funnelStep
	pages    []pageRow
}

// answer is the answer to a question of metrics.
type answer struct {
	Rows         []numbers `json:"rows"`
	Totals       numbers   `json:"totals"`
	ExcludedBots int64     `json:"excluded_bots"`
	AsOf         time.Time `json:"as_of"`
}

type funnelStep struct {
	Step          string   `json:"step"`
	Count         float64  `json:"count"`
	Rate          *float64 `json:"rate"`
	TotalRate     *float64 `json:"total_rate"`
	MedianSeconds *float64 `json:"median_seconds"`
}

type pageRow struct {
	Page     int      `json:"page"`
	Reached  float64  `json:"reached"`
	Stopped  float64  `json:"stopped"`
	Readers  float64  `json:"readers"`
	MedianMS *float64 `json:"median_ms"`
}

// list is an answer that is a list.
type list[T any] struct {
	Data []T `json:"data"`
}

var errCount = errors.New("the API answered another number of questions than were asked")

// numbers are the metrics of a row.
type numbers struct {
	Time        string   `json:"time"`
	Partial     bool     `json:"partial"`
	LinkViews   float64  `json:"link_views"`
	Submissions float64  `json:"submissions"`
	Readers     float64  `json:"readers"`
	FinishRate  *float64 `json:"finish_rate"`
	Downloads   float64  `json:"downloads"`
}

// reports asks the API, and keeps answers for a short time. It is safe for concurrent use.
type reports struct {
	now    func() time.Time
	flight singleflight.Group
	mu     sync.Mutex
	kept   map[asked]answered
}

type asked struct {
	share uuid.UUID
	days  int
}

type answered struct {
	report report
	until  time.Time
}

func newReports(now func() time.Time) *reports {
	return &reports{now: now, kept: map[asked]answered{}}
}

// get returns the report of a share on behalf of a request.
func (s *reports) get(r *http.Request, a http.Handler, o opened, p period) (report, error) {
	key := asked{o.ID, p.Days}
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
		s.kept[key] = answered{found, s.now().Add(keepFor)}
		return found, nil
	})
	if err != nil {
		return report{}, err //nolint:wrapcheck // ask does
	}
	return got.(report), nil
}

// ask sends the three questions of a page as its share.
func ask(ctx context.Context, r *http.Request, a http.Handler, o opened, p period, now time.Time) (found report, err error) {
	c := client.New(client.Config{URL: "http://api.invalid", Key: o.share.Key, HTTP: &http.Client{Transport: &client.Transport{Handler: a, For: r}}})
	from, to := p.bounds(now)
	body, err := json.Marshal(map[string]any{"queries": []any{map[string]any{
		"id": "days", "metrics": []string{"readers", "link_views", "submissions", "finish_rate", "downloads"}, "from": from.Format(time.DateOnly), "to": to.Format(time.DateOnly),
		"interval": p.Interval, "filters": map[string]any{"lead_magnet_id": []uuid.UUID{o.LeadMagnetID}},
	}}})
	if err != nil {
		return found, fmt.Errorf("encode question: %w", err)
	}
	var overview list[answer]
	if _, err := c.Do(ctx, http.MethodPost, queryPath, http.Header{"Content-Type": {"application/json"}}, bytes.NewReader(body), &overview); err != nil {
		return found, fmt.Errorf("ask for metrics: %w", err)
	}
	if len(overview.Data) != 1 {
		return found, errCount
	}
	found.overview = overview.Data[0]
	query := url.Values{"lead_magnet_id": {o.LeadMagnetID.String()}, "from": {from.Format(time.RFC3339)}, "to": {to.Format(time.RFC3339)}}
	if found.funnel, err = get[funnelStep](ctx, c, funnelPath, query); err != nil {
		return found, err
	}
	found.pages, err = get[pageRow](ctx, c, pagesPath, query)
	return found, err
}

// get reads a list. A person waits for it, so it is not tried again.
func get[T any](ctx context.Context, c *client.Client, path string, query url.Values) ([]T, error) {
	var out list[T]
	if _, err := c.Do(ctx, http.MethodGet, path+"?"+query.Encode(), nil, nil, &out); err != nil {
		return nil, fmt.Errorf("ask for %s: %w", path, err)
	}
	return out.Data, nil
}

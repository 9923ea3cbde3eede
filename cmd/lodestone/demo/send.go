package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// batchEvents is how many events a reader's browser sends at once.
const batchEvents = 5

// readAloud sends one visit's events, page by page in small batches, and counts those that the
// collector acknowledged. One that is answered with 503 is sent again under the same ids.
func (b *browser) readAloud(ctx context.Context, v *visit, in *session) error {
	requests, repeated := 0, 0
	begin := time.Now().UTC().Add(-v.took) // the reader has just finished
	for first := 0; first < len(v.events); first += batchEvents {
		batch := v.events[first:min(first+batchEvents, len(v.events))]
		for j := range batch {
			batch[j].Token, batch[j].SessionID, batch[j].CreatedAt = in.TrackingToken, in.SessionID, begin.Add(batch[j].at)
		}
		times := 1
		if v.repeats && first == 0 {
			times, repeated = 2, repeated+len(batch)
		}
		for range times {
			if err := b.post(ctx, "/v1/events", batch, len(batch), func() {
				for j := range batch {
					batch[j].SentAt = time.Now().UTC()
				}
			}); err != nil {
				return err
			}
			requests++
		}
		for _, e := range batch {
			page, _ := e.Data["page"].(int)
			duration, _ := e.Data["duration_ms"].(int64)
			b.sent.add(e.Type, page, duration, v.bot)
		}
	}
	b.sent.sent(requests, repeated)
	return nil
}

// post sends something to the collector until it is acknowledged.
func (b *browser) post(ctx context.Context, path string, what any, elements int, stamp func()) error {
	for {
		if stamp != nil {
			stamp()
		}
		body, err := json.Marshal(what)
		if err != nil {
			return fmt.Errorf("encode events: %w", err)
		}
		again, err := b.postOnce(ctx, path, body, elements)
		if err != nil || again == 0 {
			return err
		}
		select {
		case <-time.After(again):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// postOnce sends a body once, and returns how long to wait before it is to be sent again, or 0.
func (b *browser) postOnce(ctx context.Context, path string, body []byte, elements int) (again time.Duration, err error) {
	res, text, err := b.do(ctx, http.MethodPost, b.collector+path, "text/plain", body, nil)
	if err != nil {
		return 0, fmt.Errorf("send events: %w", err)
	}
	if res.StatusCode == http.StatusServiceUnavailable || res.StatusCode == http.StatusTooManyRequests {
		seconds, err := strconv.Atoi(res.Header.Get("Retry-After"))
		if err != nil {
			seconds = 1
		}
		return time.Duration(max(seconds, 1)) * time.Second, nil
	}
	var answer struct {
		Accepted int `json:"accepted"`
	}
	if err := json.Unmarshal(text, &answer); err != nil || res.StatusCode != http.StatusAccepted || answer.Accepted != elements {
		return 0, fmt.Errorf("send events: the collector answered %s: %s", res.Status, text)
	}
	return 0, nil
}

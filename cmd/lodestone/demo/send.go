package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"
)

// batchEvents is how many events a reader's browser sends at once.
const batchEvents = 5

// readAloud sends one visit's events, page by page in small batches, and counts those that the
// collector acknowledged. One that is answered with 503 is sent again under the same ids.
func (d *Demo) readAloud(ctx context.Context, i int) error {
	v := &d.visits[i]
	requests, repeated := 0, 0
	for first := 0; first < len(v.events); first += batchEvents {
		batch := v.events[first:min(first+batchEvents, len(v.events))]
		for j := range batch {
			batch[j].Token = d.tokens[i]
		}
		times := 1
		if v.repeats && first == 0 {
			times, repeated = 2, repeated+len(batch)
		}
		for range times {
			if err := d.post(ctx, v.userAgent, batch); err != nil {
				return err
			}
			requests++
		}
		for _, e := range batch {
			page, _ := e.Data["page"].(int)
			duration, _ := e.Data["duration_ms"].(int64)
			d.sent.add(e.Type, page, duration, v.bot)
		}
	}
	d.sent.sent(requests, repeated)
	return nil
}

// post sends a batch until it is acknowledged.
func (d *Demo) post(ctx context.Context, userAgent string, batch []event) error {
	for {
		for j := range batch {
			batch[j].SentAt = time.Now().UTC()
		}
		body, err := json.Marshal(batch)
		if err != nil {
			return fmt.Errorf("encode events: %w", err)
		}
		again, err := d.postOnce(ctx, userAgent, body, len(batch))
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
func (d *Demo) postOnce(ctx context.Context, userAgent string, body []byte, events int) (again time.Duration, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, d.cfg.CollectorURL+"/v1/events", bytes.NewReader(body))
	if err != nil {
		return 0, fmt.Errorf("send events: %w", err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", userAgent)
	resp, err := d.http.Do(req)
	if err != nil {
		return 0, fmt.Errorf("send events: %w", err)
	}
	defer func() { _ = resp.Body.Close() }() // it was read to its end
	text, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil {
		return 0, fmt.Errorf("read the collector's answer: %w", err)
	}
	if resp.StatusCode == http.StatusServiceUnavailable || resp.StatusCode == http.StatusTooManyRequests {
		seconds, err := strconv.Atoi(resp.Header.Get("Retry-After"))
		if err != nil {
			seconds = 1
		}
		return time.Duration(max(seconds, 1)) * time.Second, nil
	}
	var answer struct {
		Accepted int `json:"accepted"`
	}
	if err := json.Unmarshal(text, &answer); err != nil || resp.StatusCode != http.StatusAccepted || answer.Accepted != events {
		return 0, fmt.Errorf("send events: the collector answered %s: %s", resp.Status, text)
	}
	return 0, nil
}

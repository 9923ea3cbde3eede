package home

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"lodestone/pkg/service"
	"lodestone/query/eventlist"
	"lodestone/query/live"
)

const (
	// lookEvery is how often the stream looks for forms and sessions, which are no events.
	lookEvery = 700 * time.Millisecond
	// pace is the time between two messages.
	pace = 400 * time.Millisecond
	// After a change, the numbers are asked for again after firstAgain, twice that, and so on up to lastAgain: forms are copied to where
	// reports count them, which takes seconds.
	firstAgain = 2 * time.Second
	lastAgain  = 32 * time.Second
)

// feed is the stream that an open page reads: the list and the numbers, and then what changes of them.
type feed struct {
	*live.Listener
	home  *Home
	known known             // when the last message was made
	sent  map[string]string // rows that the page has, by their ids; nil: nothing was sent yet
	today string            // the numbers that it has
	at    time.Time         // of the last message
	again again             // when the numbers are to be asked for again
}

// again tells when the numbers are to be asked for again after a change.
type again struct {
	changed time.Time
	after   time.Duration
}

// due reports whether it is time. Each time is reported once.
func (a *again) due(now time.Time) bool {
	if a.after > lastAgain || now.Sub(a.changed) < a.after {
		return false
	}
	a.after *= 2
	return true
}

// newFeed returns a stream for one page. What happens from now on is in it.
func (h *Home) newFeed() (*feed, error) {
	// Bots are in it: their visits are shown, and look like what they are.
	listener, err := h.deps.Live.Listen(h.deps.Account, eventlist.Filter{}, nil)
	if err != nil {
		return nil, err
	}
	return &feed{Listener: listener, home: h}, nil
}

// Next implements api.Source.
func (f *feed) Next(ctx context.Context) ([]byte, error) {
	for {
		if f.sent != nil {
			if err := f.wait(ctx); err != nil {
				return nil, err
			}
		}
		text, err := f.message(ctx)
		if err != nil || text != nil {
			return text, err
		}
	}
}

// wait waits until the list may have changed.
func (f *feed) wait(ctx context.Context) error {
	if err := service.Sleep(ctx, pace-time.Since(f.at)); err != nil {
		return err //nolint:wrapcheck // the cause of ctx
	}
	for {
		look, cancel := context.WithTimeout(ctx, lookEvery)
		messages, err := f.Listener.Next(look)
		cancel()
		if ctx.Err() != nil || err != nil && !errors.Is(err, context.DeadlineExceeded) {
			return err
		}
		now, err := f.home.known(ctx)
		if err != nil {
			return err
		}
		if len(messages) > 0 || !now.equal(f.known) {
			f.known, f.again = now, again{time.Now(), firstAgain}
			return nil
		}
		if f.again.due(time.Now()) {
			return nil
		}
	}
}

// change is what a page gets: the ids of the whole list in their order, the HTML of the rows that it does not have, and of the numbers if
// they changed.
type change struct {
	Order []string          `json:"order"`
	Rows  map[string]string `json:"rows"`
	Today string            `json:"today,omitempty"`
}

// message returns what has changed since the last message; nil: nothing. The first one has everything.
func (f *feed) message(ctx context.Context) ([]byte, error) {
	first := f.sent == nil
	if first {
		k, err := f.home.known(ctx)
		if err != nil {
			return nil, err
		}
		f.known, f.again = k, again{time.Now(), firstAgain}
	}
	f.at = time.Now()
	s, err := f.home.state(ctx, f.known)
	if err != nil {
		return nil, err
	}
	sent, c := map[string]string{}, change{Order: []string{}, Rows: map[string]string{}}
	for i := range s.Rows {
		id := s.Rows[i].ID
		html, err := f.home.part("row", s.Rows[i])
		if err != nil {
			return nil, err
		}
		c.Order, sent[id] = append(c.Order, id), html
		if f.sent[id] != html {
			c.Rows[id] = html
		}
	}
	numbers, err := f.home.part("today", s.Today)
	if err != nil {
		return nil, err
	}
	if numbers != f.today {
		c.Today = numbers
	}
	if !first && len(c.Rows) == 0 && c.Today == "" && len(sent) == len(f.sent) {
		return nil, nil
	}
	f.sent, f.today = sent, numbers
	data, err := json.Marshal(c)
	if err != nil {
		return nil, fmt.Errorf("encode what happened: %w", err)
	}
	return fmt.Appendf(nil, "event: list\ndata: %s\n\n", data), nil
}

// part returns a part of the page.
func (h *Home) part(name string, data any) (string, error) {
	var out strings.Builder
	if err := h.parts.ExecuteTemplate(&out, name, data); err != nil {
		return "", fmt.Errorf("write a part of the first page: %w", err)
	}
	return out.String(), nil
}

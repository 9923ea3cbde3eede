package home

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"lodestone/query/eventlist"
	"lodestone/query/live"
)

// lookEvery is how often the stream looks for forms and sessions, which are no events.
const lookEvery = 700 * time.Millisecond

// feed is the stream that an open page reads: first what happened last, then what happens.
type feed struct {
	*live.Listener
	home *Home
	sent map[string]bool // forms and sessions that the page has; nil: nothing was sent yet
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

// Next implements api.Source. Activities may be sent twice: the page knows them by their ids.
func (f *feed) Next(ctx context.Context) ([]byte, error) {
	if f.sent == nil {
		f.sent = map[string]bool{}
		activities, err := f.home.newest(ctx)
		if err != nil {
			return nil, err
		}
		f.remember(activities)
		return message("all", activities)
	}
	for {
		activities, err := f.wait(ctx)
		if err != nil {
			return nil, err
		}
		if len(activities) > 0 {
			return message("new", activities)
		}
	}
}

// wait returns what happened since the last call, within a moment.
func (f *feed) wait(ctx context.Context) (activities []Activity, err error) {
	look, cancel := context.WithTimeout(ctx, lookEvery)
	defer cancel()
	messages, err := f.Listener.Next(look)
	if ctx.Err() != nil || err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return nil, err
	}
	events := make([]*live.Event, len(messages))
	for i := range messages {
		events[i] = messages[i].Event
	}
	err = f.home.deps.Postgres.AccountSnapshot(ctx, f.home.deps.Account, func(tx pgx.Tx) error {
		entries, err := f.home.entered(ctx, tx)
		if err != nil {
			return err
		}
		for _, a := range entries {
			if !f.sent[a.ID] {
				activities = append(activities, a)
			}
		}
		f.remember(entries)
		read, err := f.home.activitiesOf(ctx, tx, events)
		activities = append(activities, read...)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read what happens: %w", err)
	}
	return activities, nil
}

// remember remembers what the page has: the newest only, since nothing older is looked for.
func (f *feed) remember(activities []Activity) {
	if len(f.sent) > 10*shown {
		clear(f.sent)
	}
	for _, a := range activities {
		f.sent[a.ID] = true
	}
}

// message returns activities as a message of the stream.
func message(kind string, activities []Activity) ([]byte, error) {
	data, err := json.Marshal(activities)
	if err != nil {
		return nil, fmt.Errorf("encode what happened: %w", err)
	}
	if activities == nil {
		data = []byte("[]")
	}
	return fmt.Appendf(nil, "event: %s\ndata: %s\n\n", kind, data), nil
}

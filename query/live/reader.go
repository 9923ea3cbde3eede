package live

import (
	"context"
	"time"

	"lodestone/pkg/service"
	"lodestone/query/scope"
)

const (
	// pollEvery is how often the reader looks while there are listeners, if nothing else is set, and retryAfter after a failure.
	pollEvery  = 250 * time.Millisecond
	retryAfter = time.Second
	// maxSlice is how much time of what was stored one poll takes, and maxRead how many events are in memory at a time: the
	// reader may be behind, after an outage.
	maxSlice = 10 * time.Second
	maxRead  = 10_000
)

// run polls while there are listeners.
func (l *Live) run(ctx context.Context, ready func()) error {
	ready()
	for failing := false; ; {
		wait, err := l.poll(ctx)
		if ctx.Err() != nil {
			l.refuse(ctx)
			return context.Cause(ctx)
		}
		if err != nil && !failing {
			l.log.Warn("the live reader failed, will try again", "error", err)
		}
		if failing = err != nil; failing {
			_ = service.Sleep(ctx, retryAfter) // if ctx ends, so does the next poll
			continue
		}
		var again <-chan time.Time
		if wait >= 0 {
			again = time.After(wait)
		}
		select {
		case <-l.wake:
		case <-again:
		case <-ctx.Done():
		}
	}
}

// refuse tells those who wait that the reader ended.
func (l *Live) refuse(ctx context.Context) {
	joins, _ := l.takeJoins()
	l.admit(joins, Position{}, context.Cause(ctx))
}

// poll hands on what was stored since the last poll, and returns how long to wait for the next one; less than 0: until there
// are listeners.
func (l *Live) poll(ctx context.Context) (wait time.Duration, err error) {
	joins, listening := l.takeJoins()
	if len(joins) == 0 && !listening {
		return -1, nil
	}
	caughtUp := true
	defer func() {
		if err == nil && !caughtUp {
			l.mu.Lock()
			l.joins = append(joins, l.joins...)
			l.mu.Unlock()
			return
		}
		l.admit(joins, l.at, err)
	}()
	horizon, err := l.ch.Horizon(ctx)
	if err != nil {
		return 0, err
	}
	if !listening {
		return l.every, l.start(ctx, horizon)
	}
	if until := l.at.stored.Add(maxSlice); horizon.After(until) {
		horizon, caughtUp = until, false
	}
	if horizon.Before(l.at.stored) {
		horizon = l.at.stored // the clock was set back
	}
	if err := l.advance(ctx, horizon); err != nil {
		return 0, err
	}
	if !caughtUp {
		return 0, nil
	}
	return l.every, nil
}

// start begins at a time: what was stored until then is not handed on.
func (l *Live) start(ctx context.Context, horizon time.Time) error {
	at := Position{}.until(horizon.Add(-scope.ClockSlack))
	news, err := l.ch.News(ctx, at.window(horizon, nil))
	if err != nil {
		return err
	}
	l.at = at.behind(news, horizon)
	return nil
}

// advance hands on what was stored up to a time.
func (l *Live) advance(ctx context.Context, until time.Time) error {
	news, err := l.ch.News(ctx, l.at.window(until, nil))
	if err != nil {
		return err
	}
	to, accounts := l.at.behind(news, until), l.heard(news)
	for left := len(accounts) > 0; left; {
		events, err := read(ctx, l.ch, accounts, l.at.window(until, to.next), maxRead)
		if err != nil {
			return err
		}
		for _, e := range events {
			at := l.at.after(e, until)
			m, err := l.message(e, at)
			if err != nil {
				return err
			}
			l.deliver(m)
			l.at = at
		}
		left = len(events) == maxRead
	}
	l.at = to
	return nil
}

// behind returns the position behind some news at a time.
func (p Position) behind(news []scope.News, until time.Time) Position {
	at := p
	for _, n := range news {
		at = at.passed(until, n.TopicID, n.Partition, n.Last)
	}
	return at.until(until)
}

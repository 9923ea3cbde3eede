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
		l.measure()
		if ctx.Err() != nil {
			l.refuse(ctx)
			return context.Cause(ctx)
		}
		if err != nil && !failing {
			l.log.Warn("the live reader failed, will try again", "error", err)
		}
		if failing = err != nil; failing {
			l.meters.errors.Inc()
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
	fresh, others, _ := l.takeJoins()
	l.admit(append(fresh, others...), Position{}, context.Cause(ctx))
}

// poll hands on what was stored since the last poll, and returns how long to wait for the next one; less than 0: until there
// are listeners.
func (l *Live) poll(ctx context.Context) (wait time.Duration, err error) {
	if !l.awaited() {
		return -1, nil
	}
	horizon, now, err := l.ch.Horizon(ctx)
	received := time.Now()
	l.now = now
	// Those who come later than this came after that time of ClickHouse, and so find nothing missing in the next poll.
	fresh, others, listening := l.takeJoins()
	if err != nil {
		l.putBack(fresh) // their streams are open already
		l.admit(others, Position{}, err)
		return 0, err
	}
	if !listening {
		from := horizon
		for _, j := range fresh {
			if at := sinceOf(j, horizon, now, received); at.Before(from) {
				from = at
			}
		}
		if err := l.start(ctx, from); err != nil {
			l.putBack(fresh)
			l.admit(others, Position{}, err)
			return 0, err
		}
	}
	for _, j := range fresh {
		j.listener.since = sinceOf(j, horizon, now, received)
	}
	l.admit(fresh, l.at, nil)
	caughtUp, err := l.follow(ctx, horizon)
	l.reached = received.Add(l.at.stored.Sub(now))
	if err == nil && !caughtUp {
		l.putBack(others)
		return 0, nil
	}
	l.admit(others, l.at, err)
	return l.every, err
}

// sinceOf returns a time of ClickHouse's clock that is not after the one at which a listener came: by as much as ClickHouse's
// answer took at most. Nor is it after the horizon: inserts that run store something new.
func sinceOf(j join, horizon, now, received time.Time) time.Time {
	since := now.Add(-received.Sub(j.asked)).Add(-time.Millisecond).Truncate(time.Millisecond)
	if horizon.Before(since) {
		return horizon
	}
	return since
}

// follow hands on what was stored up to the horizon, or a part of it, and reports whether that was all.
func (l *Live) follow(ctx context.Context, horizon time.Time) (caughtUp bool, err error) {
	if !horizon.After(l.at.stored) { // nothing can be new, or the clock was set back
		return true, nil
	}
	caughtUp = true
	if until := l.at.stored.Add(maxSlice); horizon.After(until) {
		horizon, caughtUp = until, false
	}
	return caughtUp, l.advance(ctx, horizon)
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

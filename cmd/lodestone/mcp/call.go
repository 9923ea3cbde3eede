package mcp

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"net/http"
	"strconv"
	"sync"
	"time"

	"lodestone/pkg/problem"
	"lodestone/pkg/service"
)

const (
	callTimeout = 50 * time.Second // of a call with its waits; clients give up after a minute
	maxWait     = 15 * time.Second // for a limit, before the agent is asked to wait itself
	attempts    = 3
)

// call sends a request and says what came of it.
func (s *Server) call(ctx context.Context, key string, op *operation, r *request) *outcome {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	res, after, err := s.send(ctx, key, op, r)
	if err != nil {
		return refused(r.asked, err, after)
	}
	defer func() { _ = res.Body.Close() }() // what was to be read has been
	out, err := read(op, r.asked, res)
	if err != nil {
		return refused(r.asked, err, 0)
	}
	return out
}

// send sends a request, again if the API is busy and asks for a short wait. It sends nothing while a limit lasts: after is the rest.
func (s *Server) send(ctx context.Context, key string, op *operation, r *request) (res *http.Response, after time.Duration, err error) {
	limit := pause{sha256.Sum256([]byte(key)), op.Limit}
	until := time.Now().Add(maxWait)
	wait := func(d time.Duration) bool { return time.Now().Add(d).Before(until) && service.Sleep(ctx, d) == nil }
	for try := 1; ; try++ {
		if rest := s.pauses.rest(limit, time.Now()); rest > 0 && !wait(rest) {
			return nil, rest, problem.New(problem.RateLimited, "The limit "+strconv.Quote(op.Limit)+" of the API is reached. The request was not sent.")
		}
		res, after, err = s.client(key).Fetch(ctx, r.asked.Method, r.path, r.header.Clone(), bytes.NewReader(r.body))
		var p *problem.Problem
		if !errors.As(err, &p) || after <= 0 {
			return res, after, err
		}
		switch p.Status {
		case http.StatusTooManyRequests:
			s.pauses.add(limit, time.Now().Add(after))
		case http.StatusServiceUnavailable, http.StatusConflict:
			if !wait(after) {
				return nil, after, err
			}
		default:
			return nil, after, err
		}
		if try == attempts {
			return nil, after, err
		}
	}
}

// pauses are the limits that were reached. They last as long as the API asked.
type pauses struct {
	mu    sync.Mutex
	until map[pause]time.Time
}

// pause is a limit of a key, which is kept as a hash.
type pause struct {
	key   [sha256.Size]byte
	limit string
}

func newPauses() *pauses { return &pauses{until: map[pause]time.Time{}} }

// rest returns how long a limit lasts from a time on.
func (p *pauses) rest(of pause, now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.until[of].Sub(now)
}

func (p *pauses) add(of pause, until time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	for other, end := range p.until {
		if end.Before(now) {
			delete(p.until, other)
		}
	}
	p.until[of] = until
}

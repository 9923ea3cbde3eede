package person

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"github.com/google/uuid"

	"lodestone/pkg/api"
	"lodestone/pkg/client"
	"lodestone/pkg/problem"
)

const (
	// maxLine is longer than any line of an export: the data of an event has at most 4 KiB.
	maxLine = 1 << 20
	// maxEventBytes bounds what is held in memory, since whoever has a link can send events of it.
	maxEventBytes = 64 << 20
)

// events appends all events of an access link, with the rights of the request that a context
// belongs to.
func events(ctx context.Context, a http.Handler, link uuid.UUID, list []PersonEvent, size *int) ([]PersonEvent, error) {
	caller := api.Incoming(ctx)
	// Of the caller's context, since that of the operation has what belongs to it alone.
	inner, cancel := context.WithCancel(caller.Context())
	defer cancel()
	stop := context.AfterFunc(ctx, cancel)
	defer stop()
	// Nothing is sent there: the transport calls the handler.
	r, err := http.NewRequestWithContext(inner, http.MethodGet,
		"http://api.invalid/api/v1/analytics/export?format=ndjson&visitor=true&access_link_id="+link.String(), http.NoBody)
	if err != nil {
		return nil, fmt.Errorf("make request for events: %w", err)
	}
	r.Header.Set("Authorization", caller.Header.Get("Authorization"))
	answer, err := (&http.Client{Transport: &client.Transport{Handler: a, For: caller}}).Do(r)
	if err != nil {
		return nil, fmt.Errorf("read events: %w", err)
	}
	defer func() { _ = answer.Body.Close() }() // what was to be read has been
	switch answer.StatusCode {
	case http.StatusOK:
	case http.StatusTooManyRequests:
		return nil, problem.New(problem.RateLimited,
			"The account has reached its limit of running exports, or has started too many within a minute. Try again in a minute.")
	default:
		return nil, unread(answer)
	}
	lines := bufio.NewScanner(answer.Body)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		if *size += len(lines.Bytes()); *size > maxEventBytes {
			return nil, problem.New(problem.Conflict,
				"The person has more events than one document can hold: export those of each access link with GET /api/v1/analytics/export.")
		}
		list = append(list, bytes.Clone(lines.Bytes()))
	}
	if err := lines.Err(); err != nil {
		return nil, problem.New(problem.Unavailable, "The events cannot be read. Try again.").Because(err)
	}
	return list, nil
}

// unread says that events cannot be read, as the answer does if it knows why: an installation may
// have no exports at all.
func unread(answer *http.Response) error {
	detail := "The events cannot be read. Try again."
	var known problem.Problem
	if answer.StatusCode == http.StatusServiceUnavailable &&
		json.NewDecoder(io.LimitReader(answer.Body, maxLine)).Decode(&known) == nil && known.Detail != "" {
		detail = known.Detail
	}
	p := problem.New(problem.Unavailable, detail).Because(fmt.Errorf("export of events: status %d", answer.StatusCode))
	if again := answer.Header.Get("Retry-After"); again != "" {
		p = p.WithHeader("Retry-After", again)
	}
	return p
}

package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// reply is an answer over HTTP that was read to its end.
type reply struct {
	status int
	body   []byte
	took   time.Duration // from the request until all of it was there
}

// exchange sends a request, with a key and a body in JSON if there are such, and reads the answer.
func exchange(ctx context.Context, via *http.Client, method, address, key string, body []byte) (reply, error) {
	req, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(body))
	if err != nil {
		return reply{}, err
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	begin := time.Now()
	resp, err := via.Do(req)
	if err != nil {
		return reply{}, err
	}
	text, err := io.ReadAll(resp.Body)
	return reply{status: resp.StatusCode, body: text, took: time.Since(begin)}, errors.Join(err, resp.Body.Close())
}

// get asks for an address and returns the body of the answer, which must be 200, and how long it took.
func get(ctx context.Context, via *http.Client, address, key string) ([]byte, time.Duration, error) {
	r, err := exchange(ctx, via, http.MethodGet, address, key, nil)
	if err == nil && r.status != http.StatusOK {
		err = fmt.Errorf("GET %s: %d %s: %.200s", address, r.status, http.StatusText(r.status), r.body)
	}
	return r.body, r.took, err
}

const (
	lookInterval = 20 * time.Millisecond
	awaitTimeout = 10 * time.Minute
)

// await asks until the answer is yes, or an error.
func await(ctx context.Context, yes func() (bool, error)) error {
	ctx, cancel := context.WithTimeout(ctx, awaitTimeout)
	defer cancel()
	ticker := time.NewTicker(lookInterval)
	defer ticker.Stop()
	for {
		if done, err := yes(); done || err != nil {
			return err
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

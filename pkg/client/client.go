// Package client calls Lodestone's API from Go.
//
// Every method takes a context and returns problems as *problem.Problem, so that problem.Is
// recognises their code. Reads and creations are retried a few times when the service is
// unavailable or cannot be reached; an idempotency key prevents duplicates. Changes and deletions
// are sent once.
package client

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/uuid"

	"lodestone/pkg/problem"
	"lodestone/pkg/service"
)

const (
	attempts     = 4
	firstWait    = 100 * time.Millisecond
	maxWait      = 10 * time.Second
	maxAnswer    = 64 << 20
	jsonType     = "application/json"
	prefix       = "/api/v1"
	userAgent    = "lodestone-client/1 (Go)"
	magnetsPath  = prefix + "/lead-magnets"
	linksPath    = prefix + "/generic-links"
	accessPath   = prefix + "/access-links"
	eventsPath   = prefix + "/analytics"
	emailSumPath = prefix + "/analytics/email"
)

// Client calls one installation with one key. It is safe for concurrent use.
type Client struct {
	base string
	key  string
	http *http.Client
}

// Config names an installation and an account.
type Config struct {
	URL  string       // of the installation, such as http://127.0.0.1:8080
	Key  string       // an API key
	HTTP *http.Client // nil: http.DefaultClient
}

// New returns a client. Bound the time of a call with its context.
func New(c Config) *Client {
	return &Client{strings.TrimRight(c.URL, "/"), c.Key, cmp.Or(c.HTTP, http.DefaultClient)}
}

// Page is one page of a list.
type Page[T any] struct {
	Data       []T        `json:"data"`
	Pagination Pagination `json:"pagination"`
}

// Pagination describes the position of a page in its list.
type Pagination struct {
	Page       int     `json:"page"` // 0 when it was asked for by cursor
	PerPage    int     `json:"per_page"`
	Total      int64   `json:"total"`
	TotalPages int64   `json:"total_pages"`
	NextCursor *string `json:"next_cursor"` // nil at the end, and where the list takes no cursors
	// NextReceivedAfter is the ReceivedAfter of the next pull of new events; nil in other lists.
	NextReceivedAfter *time.Time `json:"next_received_after"`
}

// Paging asks for a page. Zero values leave the choice to the service.
type Paging struct {
	Page    int
	PerPage int
}

// Query returns the page as parameters of a URL.
func (p Paging) Query() url.Values {
	q := url.Values{}
	if p.Page != 0 {
		q.Set("page", strconv.Itoa(p.Page))
	}
	if p.PerPage != 0 {
		q.Set("per_page", strconv.Itoa(p.PerPage))
	}
	return q
}

// Get reads a path below the base, and tries again while that may help.
func Get[T any](ctx context.Context, c *Client, path string, query url.Values) (out T, err error) {
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	err = retry(ctx, func() (time.Duration, error) {
		return c.Do(ctx, http.MethodGet, path, nil, nil, &out)
	})
	return out, err
}

// retry sends a request that is harmless to send twice, again while that may help. send returns
// how long the service asks to wait.
func retry(ctx context.Context, send func() (after time.Duration, err error)) error {
	var after time.Duration
	tries := 0
	return service.Retry(ctx, firstWait, maxWait, func() (err error) {
		tries++
		after, err = send()
		return err
	}, func(err error) (time.Duration, bool) {
		return min(after, maxWait), tries < attempts && transient(ctx, err, after)
	})
}

// transient reports whether a failed request may go through later. A conflict may if the service
// says when: it still answers the same request.
func transient(ctx context.Context, err error, after time.Duration) bool {
	if p, ok := errors.AsType[*problem.Problem](err); ok {
		return p.Status == http.StatusServiceUnavailable || p.Status == http.StatusTooManyRequests ||
			p.Status == http.StatusConflict && after > 0
	}
	var lost *lostError
	return ctx.Err() == nil && errors.As(err, &lost)
}

// lostError is a request without an answer.
type lostError struct{ error }

func (e *lostError) Unwrap() error { return e.error }

// Post creates something, once, however often the request has to be sent until its answer arrives:
// it has a key of its own by which the service knows it again.
func Post[T any](ctx context.Context, c *Client, path string, body any) (out T, err error) {
	text, err := json.Marshal(body)
	if err != nil {
		return out, fmt.Errorf("encode request: %w", err)
	}
	key := uuid.NewString()
	err = retry(ctx, func() (time.Duration, error) {
		header := http.Header{"Content-Type": {jsonType}, "Idempotency-Key": {key}}
		return c.Do(ctx, http.MethodPost, path, header, bytes.NewReader(text), &out)
	})
	return out, err
}

// Do sends a request and decodes the answer into out, unless that is nil. after is how long the
// service asks to wait.
func (c *Client) Do(ctx context.Context, method, path string, header http.Header, body io.Reader,
	out any) (after time.Duration, err error) {
	if header == nil {
		header = http.Header{}
	}
	header.Set("Accept", jsonType)
	res, after, err := c.Fetch(ctx, method, path, header, body)
	if err != nil {
		return after, err
	}
	defer func() { _ = res.Body.Close() }() // what was to be read has been
	text, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil {
		return 0, &lostError{fmt.Errorf("read answer: %w", err)}
	}
	if out == nil {
		return 0, nil
	}
	if err := json.Unmarshal(text, out); err != nil {
		return 0, fmt.Errorf("decode answer: %w", err)
	}
	if thing, ok := out.(TaggedResource); ok {
		thing.SetETag(res.Header.Get("ETag"))
	}
	return 0, nil
}

// Fetch sends a request once, and returns the answer to one that went well. The caller closes its
// body. after is how long the service asks to wait.
func (c *Client) Fetch(ctx context.Context, method, path string, header http.Header, body io.Reader) (_ *http.Response,
	after time.Duration, err error) {
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, body)
	if err != nil {
		return nil, 0, fmt.Errorf("make request: %w", err)
	}
	if header != nil {
		req.Header = header
	}
	req.Header.Set("Authorization", "Bearer "+c.key)
	req.Header.Set("User-Agent", userAgent)
	// The error of Do repeats the URL, whose query may hold an address.
	res, err := c.http.Do(req)
	if err != nil {
		if detail, ok := errors.AsType[*url.Error](err); ok {
			err = detail.Err
		}
		route, _, _ := strings.Cut(path, "?")
		return nil, 0, &lostError{fmt.Errorf("%s %s: %w", method, route, err)}
	}
	if res.StatusCode < http.StatusMultipleChoices {
		return res, 0, nil
	}
	text, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err = errors.Join(err, res.Body.Close()); err != nil {
		return nil, 0, &lostError{fmt.Errorf("read answer: %w", err)}
	}
	seconds, _ := strconv.Atoi(res.Header.Get("Retry-After")) // absent: zero
	return nil, time.Duration(seconds) * time.Second, problemOf(res, text)
}

// problemOf returns the problem in an answer, or one derived from its status if the answer is not
// Lodestone's.
func problemOf(res *http.Response, text []byte) error {
	var p problem.Problem
	kind, _, err := mime.ParseMediaType(res.Header.Get("Content-Type"))
	if err == nil && kind == problem.ContentType && json.Unmarshal(text, &p) == nil && p.Code != "" {
		return &p
	}
	return &problem.Problem{Type: "about:blank", Title: http.StatusText(res.StatusCode), Status: res.StatusCode,
		Detail: "The answer did not come from Lodestone's API: " + res.Status}
}

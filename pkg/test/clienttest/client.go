// Package clienttest adds to the Go client what only tests do: changing and deleting with entity
// tags, keys and webhooks.
package clienttest

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json"

	"lodestone/pkg/client"
)

const (
	magnetsPath = "/api/v1/lead-magnets"
	linksPath   = "/api/v1/generic-links"
	accessPath  = "/api/v1/access-links"
	accountPath = "/api/v1/account"
	keysPath    = "/api/v1/keys"
)

// Client is a client with everything that tests do with the API.
type Client struct{ *client.Client }

// New returns a Client, as client.New does.
func New(c client.Config) Client { return Client{client.New(c)} }

// Change is a change of a field that may be null. Its zero value leaves the field unchanged.
type Change[T any] struct {
	given bool
	value *T
}

// Set returns the change to a value.
func Set[T any](value T) Change[T] { return Change[T]{true, &value} }

// Clear returns the change to null.
func Clear[T any]() Change[T] { return Change[T]{given: true} }

// IsZero reports whether the field stays unchanged.
func (c Change[T]) IsZero() bool { return !c.given }

// MarshalJSON implements json.Marshaler.
func (c Change[T]) MarshalJSON() ([]byte, error) { return json.Marshal(c.value) }

// patch sends changes, without retries. With entity tags, the change applies only in one of these
// states; in another one the problem has the status 412.
func patch[T any](ctx context.Context, c Client, path string, body any, ifMatch []string) (out T, err error) {
	text, err := json.Marshal(body)
	if err != nil {
		return out, fmt.Errorf("encode request: %w", err)
	}
	header := condition(ifMatch)
	header.Set("Content-Type", "application/json")
	_, err = c.Do(ctx, http.MethodPatch, path, header, bytes.NewReader(text), &out)
	return out, err
}

// remove deletes the resource at a path, under the same condition as patch.
func (c Client) remove(ctx context.Context, path string, ifMatch []string) error {
	_, err := c.Do(ctx, http.MethodDelete, path, condition(ifMatch), nil, nil)
	return err
}

func condition(ifMatch []string) http.Header {
	h := http.Header{}
	if len(ifMatch) > 0 {
		h.Set("If-Match", strings.Join(ifMatch, ", "))
	}
	return h
}

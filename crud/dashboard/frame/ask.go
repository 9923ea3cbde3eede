package frame

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	api "lodestone/pkg/client"
	"lodestone/pkg/problem"
)

// IsAway reports whether a call of the API failed because it, or a store of it, did not answer.
func IsAway(err error) bool {
	_, lost := errors.AsType[*lostError](err)
	return lost || problem.Is(err, problem.Unavailable)
}

// client calls the API as the session.
type client struct{ *api.Client }

// base is the address of the API. Nothing is sent there: the transport calls the handler.
const base = "http://api.invalid"

func newClient(v *Visit, a http.Handler) *client {
	transport := &api.Transport{Handler: a, For: v.R, Writer: v.W}
	return &client{api.New(api.Config{URL: base, Key: v.Session.Key, HTTP: &http.Client{Transport: transport}})}
}

// lostError is a call of the API without an answer.
type lostError struct{ error }

func (e *lostError) Unwrap() error { return e.error }

// Get reads a path of the API. A person waits for it, so it is not tried again.
func Get[T any](v *Visit, path string, query url.Values) (T, error) {
	if len(query) > 0 {
		path += "?" + query.Encode()
	}
	return call[T](v, http.MethodGet, path, nil, nil)
}

// Send sends a change to the API: POST, PATCH, PUT or DELETE, with a body as JSON, or nil.
func Send[T any](v *Visit, method, path string, body any, header http.Header) (T, error) {
	if body == nil {
		return call[T](v, method, path, header, nil)
	}
	text, err := json.Marshal(body)
	if err != nil {
		var none T
		return none, fmt.Errorf("encode request: %w", err)
	}
	if header == nil {
		header = http.Header{}
	}
	header.Set("Content-Type", "application/json")
	return call[T](v, method, path, header, bytes.NewReader(text))
}

// Upload sends a file to the API.
func Upload[T any](v *Visit, method, path string, header http.Header, body io.Reader) (T, error) {
	return call[T](v, method, path, header, body)
}

func call[T any](v *Visit, method, path string, header http.Header, body io.Reader) (out T, err error) {
	var into any = &out
	if _, none := any(out).(Nothing); none {
		into = nil
	}
	if _, err = v.client.Do(v.R.Context(), method, path, header, body, into); err == nil {
		return out, nil
	}
	if _, ok := errors.AsType[*problem.Problem](err); ok {
		return out, err
	}
	return out, &lostError{fmt.Errorf("%s %s: %w", method, path, err)}
}

// Nothing is the type of an answer without a body.
type Nothing struct{}

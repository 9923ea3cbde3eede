package api

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"

	"github.com/google/uuid"

	"lodestone/pkg/auth"
	"lodestone/pkg/idempotency"
	"lodestone/pkg/problem"
)

const (
	idempotencyHeader = "Idempotency-Key"
	// ReplayedHeader marks an answer that was given before.
	ReplayedHeader = "Idempotency-Replayed"
)

// storedHeaders are the headers that belong to an answer, as against those of one request.
var storedHeaders = []string{"Content-Type", "Location", "ETag", "Last-Modified", "Link", "Cache-Control"}

// once runs an operation under an Idempotency-Key, or replays what was answered under it. Only an
// answer that took effect is kept: after an error, the request may be sent again under its key.
func (a *API) once(w http.ResponseWriter, r *http.Request, op *Operation, keys []string,
	fn func(w http.ResponseWriter, r *http.Request) error) error {
	if len(keys) > 1 {
		return problem.Parameter(problem.Field{Field: idempotencyHeader, Message: "must be given only once"})
	}
	if err := idempotency.CheckKey(keys[0]); err != nil {
		return err
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, op.MaxBody))
	if err != nil {
		return bodyError(err)
	}
	claim, before, err := a.idempotency.Begin(r.Context(), idempotency.Request{
		Account: auth.From(r.Context()).AccountID, Operation: op.ID, Caller: callerOf(auth.From(r.Context())), Key: keys[0],
		Hash: sha256.Sum256(fmt.Appendf(nil, "%s\n%s", r.URL.RequestURI(), body)), Timeout: op.Timeout,
	})
	if err != nil {
		return err
	}
	if before != nil {
		maps.Copy(w.Header(), before.Header)
		w.Header().Set(ReplayedHeader, "true")
		send(w, before.Status, before.Body)
		return nil
	}
	settled := false
	defer func() {
		if !settled { // failed, or panicked
			claim.Release(r.Context())
		}
	}()
	r = r.WithContext(claim.Context(r.Context()))
	r.Body = io.NopCloser(bytes.NewReader(body))
	out := &capture{header: w.Header()}
	if err := fn(out, r); err != nil {
		return err
	}
	if out.status == 0 {
		out.status = http.StatusOK
	}
	if out.status < http.StatusMultipleChoices {
		answer := idempotency.Answer{Status: out.status, Header: http.Header{}, Body: out.body.Bytes(), Secret: op.Secret}
		for _, name := range storedHeaders {
			if values := w.Header().Values(name); len(values) > 0 {
				answer.Header[http.CanonicalHeaderKey(name)] = values
			}
		}
		claim.Finish(r.Context(), answer)
		settled = true
	}
	send(w, out.status, out.body.Bytes())
	return nil
}

// callerOf names who may get an answer again: the key or the person that it was given to, with the
// scopes of that time. Someone else may not see it, and has keys of their own.
func callerOf(i auth.Identity) string {
	who := i.UserID
	if who == uuid.Nil {
		who = i.KeyID
	}
	if who == uuid.Nil {
		who = i.Caller()
	}
	scopes := slices.Sorted(slices.Values(i.Scopes))
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %s", who, scopes))
	return hex.EncodeToString(sum[:8])
}

// capture holds an answer back until it has been kept.
type capture struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (c *capture) Header() http.Header { return c.header }

func (c *capture) Write(b []byte) (int, error) {
	c.WriteHeader(http.StatusOK)
	return c.body.Write(b)
}

func (c *capture) WriteHeader(status int) {
	if c.status == 0 && status >= http.StatusOK {
		c.status = status
	}
}

// repeatable reports whether the operation takes an Idempotency-Key.
func (op *Operation) repeatable() bool { return op.Method == http.MethodPost && !op.Safe }

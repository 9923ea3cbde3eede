package api

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"lodestone/pkg/auth"
	"lodestone/pkg/jsonschema"
	"lodestone/pkg/problem"
	"lodestone/pkg/ratelimit"
)

// serve mounts an operation behind its deadline, the check of the key, and the limit.
func (a *API) serve(op Operation, fn func(w http.ResponseWriter, r *http.Request) error) {
	if op.Timeout == 0 {
		op.Timeout = defaultTimeout
	}
	if op.Limit == "" {
		op.Limit = ratelimit.Requests
	}
	if op.MaxBody == 0 {
		op.MaxBody = defaultMaxBody
	}
	a.mux.HandleFunc(op.Method+" "+op.Path, func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), op.Timeout)
		defer cancel()
		if a.prepare != nil {
			ctx = a.prepare(ctx)
		}
		err := a.guard(w, r.WithContext(ctx), &op, fn)
		if err == nil {
			return
		}
		if out, ok := w.(*recorder); ok && out.status != 0 {
			level := slog.LevelError
			if r.Context().Err() != nil { // the client left, as it may
				level = slog.LevelInfo
			}
			a.log.Log(ctx, level, "answer broken off", "request_id", RequestID(ctx), "operation", op.ID, "error", err)
			panic(http.ErrAbortHandler) //nolint:forbidigo // how net/http is made to break a connection
		}
		a.WriteProblem(w, r, err)
	})
}

// guard lets a request through to fn: who sends it is known, within the limit, and allowed to. The
// limit comes before the scope, so that refusals are counted as well. Requests without a good key
// are counted for no account. The verifier counts them by address: a key has 190 random bits and is
// not found by guessing, but one that is invented with a right checksum has to be looked up.
func (a *API) guard(w http.ResponseWriter, r *http.Request, op *Operation,
	fn func(w http.ResponseWriter, r *http.Request) error) error {
	identity, err := a.identify(r.Context(), r, op)
	if err != nil {
		a.writeUntouched(w, op.Limit)
		return err
	}
	if err := a.limit(w, r, op.Limit, identity); err != nil {
		return err
	}
	for _, scope := range op.scopes() {
		if err := identity.Require(scope); err != nil {
			return err
		}
	}
	r = r.WithContext(auth.NewContext(r.Context(), identity))
	if op.changes() || op.Audited {
		r = r.WithContext(auth.WithAudit(r.Context(), entryOf(r, op, identity)))
	}
	if op.Timeout > defaultTimeout {
		if err := extendDeadlines(w, op.Timeout); err != nil {
			return err
		}
	}
	if keys := r.Header.Values(idempotencyHeader); len(keys) > 0 && op.repeatable() && a.idempotency != nil {
		return a.once(w, r, op, keys, fn)
	}
	return fn(w, r)
}

// scopes returns every scope that a caller needs.
func (op *Operation) scopes() []auth.Scope { return append([]auth.Scope{op.Scope}, op.Also...) }

// changes reports whether an operation changes something.
func (op *Operation) changes() bool {
	return op.Method != http.MethodGet && op.Method != http.MethodHead && !op.Safe
}

// entryOf returns the entry of a request in the audit log. Its object is the one of the path.
func entryOf(r *http.Request, op *Operation, caller auth.Identity) auth.AuditEntry {
	object, _ := jsonschema.ParseUUID(r.PathValue("id")) // one that is none is answered with 404
	return auth.AuditEntry{Action: auth.AuditAction(op.ID), Object: object, Caller: caller,
		RequestID: RequestID(r.Context())}
}

// limit counts a request, and tells the client where it stands.
func (a *API) limit(w http.ResponseWriter, r *http.Request, name ratelimit.Name, caller auth.Identity) error {
	if a.limits == nil {
		return nil
	}
	state := a.limits.Take(r.Context(), name, caller)
	state.WriteHeader(w.Header(), time.Now())
	if !state.Refused {
		return nil
	}
	return problem.New(problem.RateLimited,
		"This was requested too often within a minute. Wait for the time that Retry-After gives, in seconds.").RetryAfter(
		state.Reset)
}

// limitKnown counts a request that is for no operation, but for a page or for nothing, for the key
// that it comes with, if that is good: such a request is one of everything else.
func (a *API) limitKnown(w http.ResponseWriter, r *http.Request) error {
	if a.limits == nil || r.Header.Get("Authorization") == "" {
		return nil
	}
	identity, err := a.authenticate(r.Context(), r)
	if err != nil {
		return nil //nolint:nilerr // it counts for no one
	}
	return a.limit(w, r, ratelimit.Requests, identity)
}

// extendDeadlines lets a connection outlive the server's own limits, which suit short operations.
func extendDeadlines(w http.ResponseWriter, timeout time.Duration) error {
	connection := http.NewResponseController(w)
	for _, set := range []func(time.Time) error{connection.SetReadDeadline, connection.SetWriteDeadline} {
		// A little longer than the operation, so that there is time to answer that it took too long.
		if err := set(time.Now().Add(timeout + defaultTimeout)); err != nil && !errors.Is(err, http.ErrNotSupported) {
			return fmt.Errorf("extend the time of the request: %w", err)
		}
	}
	return nil
}

// identify returns who sent a request for an operation: by the key, or by the cookie of a session
// if the operation takes one.
func (a *API) identify(ctx context.Context, r *http.Request, op *Operation) (auth.Identity, error) {
	// Browsers send the cookie along with requests that other sites cause, and say so.
	if !op.Sessions || a.sessions == nil || len(r.Header.Values("Authorization")) > 0 ||
		r.Header.Get("Sec-Fetch-Site") != "same-origin" {
		return a.authenticate(ctx, r)
	}
	for _, secret := range auth.SessionCookies(r) {
		identity, err := a.sessions.VerifyCookie(auth.NewClientContext(ctx, a.addresses.Client(r)), secret)
		if auth.IsInvalid(err) {
			continue
		}
		if err == nil {
			note(ctx, identity)
		}
		return identity, err
	}
	return a.authenticate(ctx, r)
}

// note keeps who sent a request, for the log.
func note(ctx context.Context, i auth.Identity) {
	q := requestOf(ctx)
	q.account, q.key, q.session = i.AccountID, i.KeyID, i.SessionID
}

// authenticate returns who sent a request, if the key is good.
func (a *API) authenticate(ctx context.Context, r *http.Request) (auth.Identity, error) {
	refuse := func(detail string) error {
		return problem.New(problem.Unauthorized, detail).WithHeader("WWW-Authenticate", "Bearer")
	}
	headers := r.Header.Values("Authorization")
	if len(headers) != 1 {
		return auth.Identity{}, refuse("Send one header Authorization: Bearer <key>.")
	}
	scheme, key, found := strings.Cut(headers[0], " ")
	if !found || !strings.EqualFold(scheme, "Bearer") {
		return auth.Identity{}, refuse("Send the key as Authorization: Bearer <key>.")
	}
	identity, err := a.verifier.Verify(auth.NewClientContext(ctx, a.addresses.Client(r)), strings.TrimLeft(key, " "))
	if auth.IsInvalid(err) {
		return auth.Identity{}, refuse("The API key is unknown, mistyped, expired or revoked.")
	}
	if err != nil {
		return auth.Identity{}, err
	}
	note(ctx, identity)
	return identity, nil
}

// Screen returns nil for a request that can be passed on to a process that checks keys itself: it
// has a good key, or none. That process sees the address of this one, and so cannot tell who
// guesses.
func (a *API) Screen(r *http.Request) error {
	if r.Header.Get("Authorization") == "" {
		return nil
	}
	_, err := a.authenticate(r.Context(), r)
	return err
}

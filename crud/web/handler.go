package web

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"lodestone/pkg/api"
	"lodestone/pkg/postgres"
	"lodestone/pkg/problem"
)

// timeout bounds the work for one page.
const timeout = 15 * time.Second

// maxForm is the size of the largest form that is read, in bytes.
const maxForm = 64 << 10

// Handler writes a page, or returns an error before anything was sent, which becomes a status page.
type Handler func(w http.ResponseWriter, r *http.Request) error

// Unbranded is the brand of pages for visitors that are no account's.
func Unbranded(*http.Request) Brand { return Brand{} }

// NothingHere is the page of addresses that people may come to and that have none.
func NothingHere(http.ResponseWriter, *http.Request) error { return Error(NotFound, Brand{}) }

// Mount serves a page at a pattern. A form that another site sent is refused: without cookies it
// could not act for the visitor, but it could spend the visitor's share of requests. A private site
// shows the page to who has its secret.
func (s *Site) Mount(a *api.API, pattern string, fn Handler) { s.MountBranded(a, pattern, fn, nil) }

// BrandOf returns the brand of the account whose page a request asks for; the zero value if there
// is none, or it cannot be found.
type BrandOf func(r *http.Request) Brand

// MountBranded is Mount for a page for visitors of an account: also the status pages of errors that
// come before the page carry the brand, and are in the language of the page.
func (s *Site) MountBranded(a *api.API, pattern string, fn Handler, brand BrandOf) {
	a.Handle(pattern, s.guarded(s.public(fn, brand)))
}

// guarded asks for the secret of a private site.
func (s *Site) guarded(next http.Handler) http.Handler {
	if s.cookie != "" {
		return s.private(next)
	}
	return next
}

func (s *Site) public(fn Handler, brand BrandOf) http.Handler {
	return s.bounded(Transfer{maxForm, timeout}, fn, brand)
}

// BadForm returns the status page of a form that could not be read.
func BadForm(err error) error {
	_, large := errors.AsType[*http.MaxBytesError](err)
	network, slow := errors.AsType[net.Error](err)
	switch {
	case large:
		return err
	case slow && network.Timeout():
		return Error(TooSlow, Brand{}).Because(err)
	default:
		return Error(Unreadable, Brand{}).Because(err)
	}
}

// Because returns a copy that keeps the cause, which is logged and never shown.
func (s *Status) Because(cause error) *Status {
	c := *s
	c.cause = cause
	return &c
}

// WriteError answers with the status page of an error. This is the one place that decides it, and
// that logs the cause of what is our fault.
func (s *Site) WriteError(w http.ResponseWriter, r *http.Request, err error) {
	s.WriteBranded(w, r, err, nil)
}

// WriteBranded is WriteError with the brand of an account, if the error names none. Whose page is
// not there is known to no one.
func (s *Site) WriteBranded(w http.ResponseWriter, r *http.Request, err error, brand BrandOf) {
	requestID := api.RequestID(r.Context())
	st := s.statusOf(err)
	if st.Kind == NotFound && s.redirectTidy(w, r) {
		return
	}
	if st.Kind.StatusCode() >= http.StatusInternalServerError && !errors.Is(r.Context().Err(), context.Canceled) {
		s.log.Error("page failed", "request_id", requestID, "status", st.Kind.StatusCode(), "error", err.Error())
	}
	if brand != nil { // it is a visitor's page
		branded := *st
		if st.Brand == (Brand{}) && st.Kind != NotFound && r.Context().Err() == nil {
			branded.Brand = brand(r)
		}
		branded.texts = s.Texts(r, branded.Brand)
		st = &branded
	}
	s.WriteStatus(w, r, st, requestID)
}

// WriteProblem answers a browser with the page of a problem of the API.
func (s *Site) WriteProblem(w http.ResponseWriter, r *http.Request, p *problem.Problem) {
	kinds := map[problem.Code]Kind{
		problem.NotFound: NotFound, problem.RateLimited: TooManyRequests, problem.PayloadTooLarge: TooLarge,
		problem.Unavailable: Unavailable, problem.Internal: Failed,
	}
	kind, known := kinds[p.Code]
	if known && kind == NotFound && s.redirectTidy(w, r) {
		return
	}
	st := &Status{Kind: kind}
	if !known {
		st = &Status{Kind: Other, problem: p}
	} else if !strings.HasPrefix(r.URL.Path, "/api/") {
		st.texts = s.Texts(r, Brand{})
	}
	if kind == NotFound && strings.HasPrefix(r.URL.Path, "/dashboard/") { // someone who works there
		st.Action = Action{Words: "Open the dashboard", URL: s.Path("/dashboard")}
	}
	if seconds, err := strconv.Atoi(p.Header().Get("Retry-After")); err == nil {
		st.Wait = time.Duration(seconds) * time.Second
	}
	s.WriteStatus(w, r, st, api.RequestID(r.Context()))
}

func (s *Site) statusOf(err error) *Status {
	if st, ok := errors.AsType[*Status](err); ok {
		return st
	}
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return Error(TooLarge, Brand{})
	}
	away := errors.Is(err, context.DeadlineExceeded) || postgres.IsUnavailable(err)
	for _, is := range s.unavailable {
		away = away || is(err)
	}
	if away {
		return Error(Unavailable, Brand{})
	}
	return Error(Failed, Brand{})
}

package crud

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httputil"
	"net/url"
	"time"

	"lodestone/pkg/api"
	"lodestone/pkg/problem"
	"lodestone/pkg/tracing"
)

// analyticsPath is the path that the query process serves.
const analyticsPath = "/api/v1/analytics"

// stallTimeout is how long a part of an answer may be missing, or not be taken by the client,
// before the connection is broken.
const stallTimeout = time.Minute

// proxy passes requests for analytics on to the query process, which checks their keys itself.
func (s *Service) proxy(a *api.API) error {
	target, err := url.Parse(s.config.QueryURL)
	if err != nil {
		return fmt.Errorf("parse the address of the query process: %w", err)
	}
	p := &httputil.ReverseProxy{
		Transport: s.query,
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.SetXForwarded()
			r.Out.Header.Set(api.RequestIDHeader, api.RequestID(r.In.Context()))
			tracing.Pass(r.In.Context(), r.Out.Header)
		},
		ModifyResponse: func(r *http.Response) error {
			// This process has set its own, the same.
			r.Header.Del(api.RequestIDHeader)
			r.Header.Del("X-Content-Type-Options")
			return nil
		},
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			a.WriteProblem(w, r,
				problem.New(problem.Unavailable,
					"The analytics are not available. Try again.").Because(err).RetryAfter(time.Second))
		},
	}
	screened := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := a.Screen(r); err != nil {
			a.WriteProblem(w, r, err)
			return
		}
		w, r, done := a.Relay(&streamWriter{w, http.NewResponseController(w)}, r)
		defer done()
		p.ServeHTTP(w, r)
	})
	a.Handle(analyticsPath, screened)
	a.Handle(analyticsPath+"/", screened)
	return nil
}

// streamWriter lets an answer take as long as its parts keep coming and the client takes them:
// exports and streams outlive the server's own limits.
type streamWriter struct {
	http.ResponseWriter
	connection *http.ResponseController
}

// WriteHeader implements http.ResponseWriter.
func (f *streamWriter) WriteHeader(status int) {
	_ = f.extend() // the first Write has the same error
	f.ResponseWriter.WriteHeader(status)
}

// Write implements io.Writer.
func (f *streamWriter) Write(b []byte) (int, error) {
	if err := f.extend(); err != nil {
		return 0, err
	}
	return f.ResponseWriter.Write(b)
}

func (f *streamWriter) extend() error {
	until := time.Now().Add(stallTimeout)
	for _, set := range []func(time.Time) error{f.connection.SetReadDeadline, f.connection.SetWriteDeadline} {
		if err := set(until); err != nil && !errors.Is(err, http.ErrNotSupported) {
			return fmt.Errorf("extend the time of the answer: %w", err)
		}
	}
	return nil
}

// Unwrap lets the proxy reach the connection.
func (f *streamWriter) Unwrap() http.ResponseWriter { return f.ResponseWriter }

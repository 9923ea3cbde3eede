package crud

import (
	"fmt"
	"net/http"
	"net/http/httputil"
	"net/url"
	"time"

	"lodestone/pkg/api"
	"lodestone/pkg/problem"
)

// analyticsPath is what the query process serves.
const analyticsPath = "/api/v1/analytics"

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
		},
		ModifyResponse: func(r *http.Response) error {
			// This process has set its own, the same.
			r.Header.Del(api.RequestIDHeader)
			r.Header.Del("X-Content-Type-Options")
			return nil
		},
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			a.WriteProblem(w, r, problem.New(problem.Unavailable, "The analytics are not available. Try again.").Because(err).RetryAfter(time.Second))
		},
	}
	screened := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := a.Screen(r); err != nil {
			a.WriteProblem(w, r, err)
			return
		}
		p.ServeHTTP(w, r)
	})
	a.Handle(analyticsPath, screened)
	a.Handle(analyticsPath+"/", screened)
	return nil
}

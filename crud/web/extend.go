package web

import (
	"context"
	"fmt"
	"io/fs"
	"net/http"
	"time"

	"lodestone/pkg/api"
)

// Add adds the definitions of another HTML file to a page. Pages that share a frame of their own
// parse the frame, and add what differs.
func (t *Template) Add(files fs.FS, html string) error {
	var err error
	if t.html, err = t.html.ParseFS(files, html); err != nil {
		return fmt.Errorf("parse page %s: %w", html, err)
	}
	return nil
}

// AddStyle adds styles behind those of the page. They are ours: nothing in them is typed.
func (t *Template) AddStyle(css string) { t.css += css }

// Transfer bounds a form that carries a file, or an answer that is one.
type Transfer struct {
	MaxBytes int64 // of the form
	Timeout  time.Duration
}

// MountTransfer is Mount for a page that takes or gives a file.
func (s *Site) MountTransfer(a *api.API, pattern string, bounds Transfer, fn Handler) {
	a.Handle(pattern, s.guarded(s.bounded(bounds, fn, nil)))
}

func (s *Site) bounded(bounds Transfer, fn Handler, brand BrandOf) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), bounds.Timeout)
		defer cancel()
		r = r.WithContext(ctx)
		r.Body = http.MaxBytesReader(w, r.Body, bounds.MaxBytes)
		err := s.forms.Check(r)
		if err != nil {
			err = Error(Refused, Brand{}).Because(err)
		} else {
			err = fn(w, r)
		}
		if err != nil {
			s.WriteBranded(w, r, err, brand)
		}
	})
}

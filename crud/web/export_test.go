package web

import "net/http"

// Serve returns what Mount mounts.
func (s *Site) Serve(fn Handler) http.Handler { return s.guarded(s.public(fn, nil)) }

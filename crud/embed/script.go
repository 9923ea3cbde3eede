package embed

import (
	"net/http"
	"strings"
)

// scriptMaxAge lets a browser use the script again without asking for an hour, so that a new
// release is everywhere within one; and for a day while it asks.
const scriptMaxAge = "public, max-age=3600, stale-while-revalidate=86400"

// serveScript answers with the script. Every page may load it: what it may show, the form's own
// answer decides.
func (f *Forms) serveScript(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	if f.script == nil {
		h.Set("Cache-Control", "no-store")
		http.Error(w, "This program was built without the script: its operator has to run `make web` and build it again.",
			http.StatusNotFound)
		return
	}
	h.Set("Cache-Control", scriptMaxAge)
	h.Set("ETag", f.script.ETag)
	h.Set("Vary", "Accept-Encoding")
	h.Set("Access-Control-Allow-Origin", "*")             // for tags with integrity or crossorigin
	h.Set("Cross-Origin-Resource-Policy", "cross-origin") // pages that isolate themselves load it, too
	if strings.Contains(r.Header.Get("If-None-Match"), f.script.ETag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	f.script.Serve(w, r)
}

package asset

import (
	"net/http"
	"strconv"
	"strings"
)

// Serve answers a GET or a HEAD with the file, in the smallest form that the client takes. Other
// headers are the caller's.
func (f *File) Serve(w http.ResponseWriter, r *http.Request) {
	body, coding := f.Encode(strings.Join(r.Header.Values("Accept-Encoding"), ","))
	h := w.Header()
	h.Set("Content-Type", f.Type)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	if coding != "" {
		h.Set("Content-Encoding", coding)
	}
	w.WriteHeader(http.StatusOK)
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) // a visitor that left needs no answer
	}
}

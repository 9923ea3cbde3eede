package attachment

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"lodestone/pkg/problem"
)

// StallTimeout is how long a client may take no byte of a file before its connection is broken.
const StallTimeout = 30 * time.Second

// Writer writes a file as the answer to a request. The answer begins with the first Write, also an
// empty one: a handler that fails before can answer with a problem, and one that fails later has to
// break the connection.
type Writer struct {
	w          http.ResponseWriter
	connection *http.ResponseController
	name       string
	choice     Choice
	begun      bool
}

// Create returns a Writer for a file, which is named by what it holds and the time. HTTP/1.0 is
// refused: there, the end of the connection is the end of the file.
func Create(w http.ResponseWriter, r *http.Request, name string, c Choice) (*Writer, error) {
	if !r.ProtoAtLeast(1, 1) {
		return nil, problem.New(problem.InvalidParameter,
			"Files need HTTP/1.1 or newer: with older versions, an incomplete file looks complete. You may have to set a proxy in between to HTTP/1.1.")
	}
	return &Writer{
		w: w, connection: http.NewResponseController(w), choice: c,
		name: "lodestone-" + name + "-" + time.Now().UTC().Format("20060102T150405Z") + "." + string(c.Format),
	}, nil
}

// Write implements io.Writer.
func (a *Writer) Write(b []byte) (int, error) {
	if !a.begun {
		a.begun = true
		h := a.w.Header()
		h.Set("Content-Type", a.choice.Format.ContentType())
		h.Set("Content-Disposition", `attachment; filename="`+a.name+`"`)
		h.Set("Cache-Control", "no-store")
		a.w.WriteHeader(http.StatusOK)
		if a.choice.BOM && a.choice.Format == CSV {
			if _, err := a.Write([]byte("\ufeff")); err != nil {
				return 0, err
			}
		}
	}
	if err := a.connection.SetWriteDeadline(time.Now().Add(StallTimeout)); err != nil &&
		!errors.Is(err, http.ErrNotSupported) {
		return 0, fmt.Errorf("extend the time of the answer: %w", err)
	}
	return a.w.Write(b)
}

package magnet

import (
	"errors"
	"fmt"
	"net/http"
	"time"
)

// A download goes on for as long as a write of 32 KiB takes no longer than stallTime, and the whole
// of it no longer than transferTimeout and a second for every minRate bytes: slow lines do that,
// and one that stands still gives its place to others.
const (
	stallTime = 30 * time.Second
	minRate   = 8 << 10
)

// Pace writes a file to a client that has to take it at a minimum rate. It belongs to one
// goroutine.
type Pace struct {
	http.ResponseWriter
	connection *http.ResponseController
	end        time.Time
}

// NewPace returns a writer of so many bytes.
func NewPace(w http.ResponseWriter, bytes int64) *Pace {
	end := time.Now().Add(transferTimeout + time.Duration(bytes/minRate)*time.Second)
	return &Pace{w, http.NewResponseController(w), end}
}

// Write implements io.Writer.
func (p *Pace) Write(b []byte) (int, error) {
	until := time.Now().Add(stallTime)
	if until.After(p.end) {
		until = p.end
	}
	if err := p.connection.SetWriteDeadline(until); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return 0, fmt.Errorf("write file: %w", err)
	}
	return p.ResponseWriter.Write(b)
}

// Unwrap lets http.ResponseController reach the connection.
func (p *Pace) Unwrap() http.ResponseWriter { return p.ResponseWriter }

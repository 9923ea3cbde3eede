package file

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"lodestone/pkg/problem"
)

// An upload goes on for as long as progressBytes arrive in each stallTime: slow lines do that, and
// one that stands still gives its place to others.
const (
	progressBytes = 64 << 10
	stallTime     = 20 * time.Second
)

// progress reads the body of a request that has to arrive at a minimum rate, until a time at the
// latest.
type progress struct {
	body       io.Reader
	connection *http.ResponseController
	stall      time.Duration
	end        time.Time
	left       int // bytes that still have to arrive before the present deadline
}

// Read implements io.Reader.
func (p *progress) Read(into []byte) (int, error) {
	if p.left <= 0 {
		next := time.Now().Add(p.stall)
		if next.After(p.end) {
			next = p.end
		}
		if err := p.until(next); err != nil {
			return 0, err
		}
		p.left = progressBytes
	}
	n, err := p.body.Read(into)
	p.left -= n
	return n, err
}

// done lets the connection live until the end of the time for the request: the server goes on
// reading from it while the answer is being prepared, and takes a deadline that passes for a client
// that left.
func (p *progress) done() error { return p.until(p.end) }

func (p *progress) until(at time.Time) error {
	if err := p.connection.SetReadDeadline(at); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return fmt.Errorf("receive file: %w", err)
	}
	return nil
}

func tooSlow(err error) error {
	return problem.Invalid(problem.Field{Field: UploadPart,
		Message: fmt.Sprintf("arrived too slowly: at least %d KiB have to arrive in every %d seconds",
			progressBytes>>10, int(stallTime.Seconds()))}).Because(err)
}

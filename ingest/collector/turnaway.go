package collector

import (
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/valyala/fasthttp"
)

// connLimits bounds the open connections.
type connLimits struct {
	total     int
	perIP     int           // 0: no limit
	slack     time.Duration // by how much a timeout of a connection may be longer
	refused   func(refusalReason)
	exhausted func(error) // called when no connection can be accepted, since no file descriptor is free
}

// maxTurnedAway bounds the connections that are being told why they are not served; more are closed
// without a word.
const maxTurnedAway = 256

// turnedAway is the connections that are being refused. They count in no limit.
type turnedAway struct {
	awayMu sync.Mutex
	away   map[net.Conn]struct{}
	wait   sync.WaitGroup
}

// turnAway answers a connection in place of a request, and closes it.
func (t *turnedAway) turnAway(c net.Conn, reason refusalReason, limits connLimits) {
	limits.refused(reason)
	t.awayMu.Lock()
	full := len(t.away) >= maxTurnedAway
	if !full {
		if t.away == nil {
			t.away = make(map[net.Conn]struct{})
		}
		t.away[c] = struct{}{}
	}
	t.awayMu.Unlock()
	if full {
		_ = c.Close() // nothing depends on it
		return
	}
	t.wait.Go(func() {
		defer func() {
			t.awayMu.Lock()
			delete(t.away, c)
			t.awayMu.Unlock()
			_ = c.Close()
		}()
		const patience = time.Second
		if c.SetWriteDeadline(time.Now().Add(patience)) != nil {
			return
		}
		if _, err := c.Write(refusalOf(reason)); err != nil {
			return
		}
		drain(c, patience)
	})
}

// closeTurnedAway ends those that are still being answered, and waits for them.
func (l *listener) closeTurnedAway() {
	l.awayMu.Lock()
	for c := range l.away {
		_ = c.Close()
	}
	l.awayMu.Unlock()
	l.wait.Wait()
}

// refusalOf returns a whole answer.
func refusalOf(reason refusalReason) []byte {
	no := refusal{fasthttp.StatusServiceUnavailable, codeUnavailable, "There are too many connections at the moment (--collector-max-connections). Nothing was accepted: send all of it again."}
	if reason == refusedAddressConnections {
		no = refusal{fasthttp.StatusTooManyRequests, codeRateLimited, "There are too many connections from this address (--collector-max-connections-per-ip). Nothing was accepted: send all of it again."}
	}
	body := appendProblem(nil, no, nil, false)
	head := fmt.Sprintf("HTTP/1.1 %d %s\r\nDate: %s\r\nContent-Type: application/problem+json\r\nContent-Length: %d\r\nConnection: close\r\n"+
		"Retry-After: %s\r\n%s: %s\r\nAccess-Control-Allow-Origin: *\r\nAccess-Control-Expose-Headers: %s\r\n\r\n",
		no.status, http.StatusText(no.status), time.Now().UTC().Format(http.TimeFormat), len(body), retryAfter, headerRequestID, requestID(new([requestIDBytes]byte), nil), exposedHeaders)
	return append([]byte(head), body...)
}

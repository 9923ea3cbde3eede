package bench

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/google/uuid"

	"lodestone/cmd/lodestone-lab/bench/traffic"
	"lodestone/pkg/event"
	"lodestone/pkg/token"
)

// idLength is that of a UUID in its canonical form.
const idLength = 36

// newID returns an event id: one of version 4.
func newID() (id uuid.UUID) {
	binary.NativeEndian.PutUint64(id[:8], rand.Uint64())
	binary.NativeEndian.PutUint64(id[8:], rand.Uint64())
	id[6] = id[6]&0x0f | 0x40
	id[8] = id[8]&0x3f | 0x80
	return id
}

// writeID puts a new id over one that stands in a text.
func writeID(text []byte) {
	id := newID()
	for from, at := 0, 0; from < len(id); from, at = from+1, at+2 {
		if at == 8 || at == 13 || at == 18 || at == 23 {
			at++
		}
		hex.Encode(text[at:], id[from:from+1])
	}
}

// messages makes requests of realistic events, with real tokens.
type messages struct {
	generator *traffic.Generator
	tokens    *token.Ring
}

// worldEvents is how much traffic the accounts and links of the collector's load would make in a
// year.
const worldEvents = 2_000_000

func newMessages(seed uint64, tokens *token.Ring) *messages {
	return &messages{traffic.New(traffic.Year(seed, worldEvents)), tokens}
}

// one is a request of one event as a reader's browser sends it when a page is hidden.
func (m *messages) one() request {
	var e event.Event
	m.next(&e)
	body := m.appendEvent(nil, &e, time.Now())
	head := fmt.Sprintf(
		"POST /v1/events HTTP/1.1\r\nHost: events.example.com\r\nConnection: keep-alive\r\nContent-Length: %d\r\n"+
			"User-Agent: %s\r\nContent-Type: text/plain;charset=UTF-8\r\nAccept: */*\r\nOrigin: https://guides.example.com\r\n"+
			"Sec-Fetch-Site: same-site\r\nSec-Fetch-Mode: no-cors\r\nSec-Fetch-Dest: empty\r\nReferer: https://guides.example.com/\r\n"+
			"Accept-Encoding: gzip, deflate, br, zstd\r\nAccept-Language: en-GB,en;q=0.9\r\n\r\n", len(body), e.UserAgent)
	return newRequest(head, body, 1)
}

// batch is a request of so many events, as a server sends those of its visitors.
func (m *messages) batch(events int) request {
	var e event.Event
	body := []byte{'['}
	for i := range events {
		if i > 0 {
			body = append(body, ',')
		}
		m.next(&e)
		body = m.appendEvent(body, &e, time.Now())
	}
	body = append(body, ']')
	head := fmt.Sprintf("POST /v1/events HTTP/1.1\r\nHost: events.example.com\r\nUser-Agent: %s\r\nContent-Length: %d\r\n"+
		"Content-Type: application/json\r\nAccept-Encoding: gzip\r\n\r\n", e.UserAgent, len(body))
	return newRequest(head, body, events)
}

// next is the next event of a person who did not object to being counted.
func (m *messages) next(e *event.Event) {
	m.generator.Next(e)
	for len(e.UserAgent) == 0 || e.Bot != "" {
		m.generator.Next(e)
	}
}

const idField = `"event_id":"`

func newRequest(head string, body []byte, events int) request {
	r := request{wire: append([]byte(head), body...), events: events}
	for at := range len(r.wire) - len(idField) {
		if string(r.wire[at:at+len(idField)]) == idField {
			r.ids = append(r.ids, at+len(idField))
		}
	}
	return r
}

// appendEvent appends an event as JSON. It happened 200 ms before now.
func (m *messages) appendEvent(b []byte, e *event.Event, now time.Time) []byte {
	const layout = "2006-01-02T15:04:05.000Z07:00"
	token := m.tokens.Sign(token.Claims{
		AccountID: e.AccountID, LeadMagnetID: e.LeadMagnetID, GenericLinkID: e.GenericLinkID, AccessLinkID: e.AccessLinkID,
		MagnetVersion: e.MagnetVersion,
	})
	data, session := "", ""
	if e.Page > 0 {
		data = fmt.Sprintf(`"page":%d,"duration_ms":%d`, e.Page, e.DurationMS)
	}
	if e.SessionID != uuid.Nil {
		session = fmt.Sprintf(`,"session_id":"%s"`, e.SessionID)
	}
	return fmt.Appendf(b, `{"token":"%s","event_type":"%s","event_data":{%s},`+idField+
		`%s"%s,"created_at":"%s","sent_at":"%s"}`,
		token, e.Type, data, e.EventID, session, now.UTC().Add(-200*time.Millisecond).Format(layout),
		now.UTC().Format(layout))
}

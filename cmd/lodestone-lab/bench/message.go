package bench

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/bits"
	"strconv"
	"time"

	"github.com/google/uuid"

	"lodestone/cmd/lodestone-lab/bench/traffic"
	"lodestone/pkg/event"
	"lodestone/pkg/token"
)

// idLength is that of a UUID in its canonical form.
const idLength = 36

// idSource writes event ids that do not repeat within a run: those of version 4, of a mixed counter.
type idSource struct{ state uint64 }

func (s *idSource) next() uint64 {
	s.state += 0x9e3779b97f4a7c15
	high, low := bits.Mul64(s.state, 0xd6e8feb86659fd93)
	return high ^ low
}

// write puts an id over one that stands there.
func (s *idSource) write(text []byte) {
	var id [16]byte
	s.fill(&id)
	var digits [32]byte
	hex.Encode(digits[:], id[:])
	copy(text[:8], digits[:8])
	copy(text[9:13], digits[8:12])
	copy(text[14:18], digits[12:16])
	copy(text[19:23], digits[16:20])
	copy(text[24:], digits[20:])
}

func (s *idSource) fill(id *[16]byte) {
	binary.LittleEndian.PutUint64(id[:8], s.next())
	binary.LittleEndian.PutUint64(id[8:], s.next())
	id[6] = id[6]&0x0f | 0x40
	id[8] = id[8]&0x3f | 0x80
}

// messages makes requests of realistic events, with real tokens.
type messages struct {
	generator *traffic.Generator
	tokens    *token.Ring
}

// worldEvents is how much traffic the accounts and links of the collector's load would make in a year.
const worldEvents = 2_000_000

func newMessages(seed uint64, tokens *token.Ring) *messages {
	return &messages{traffic.New(traffic.Year(seed, worldEvents)), tokens}
}

// one is a request of one event as a reader's browser sends it when a page is hidden.
func (m *messages) one() request {
	var e event.Event
	m.next(&e)
	body := m.appendEvent(nil, &e, time.Now())
	head := fmt.Sprintf("POST /v1/events HTTP/1.1\r\nHost: events.example.com\r\nConnection: keep-alive\r\nContent-Length: %d\r\n"+
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

// appendEvent appends an event as JSON. It happened a moment before now.
func (m *messages) appendEvent(b []byte, e *event.Event, now time.Time) []byte {
	const layout = "2006-01-02T15:04:05.000Z07:00"
	b = append(b, `{"token":"`...)
	b = append(b, m.tokens.Sign(token.Claims{
		AccountID: e.AccountID, LeadMagnetID: e.LeadMagnetID, GenericLinkID: e.GenericLinkID, AccessLinkID: e.AccessLinkID, MagnetVersion: e.MagnetVersion,
	})...)
	b = append(b, `","event_type":"`...)
	b = append(b, e.Type.String()...)
	b = append(b, `","event_data":{`...)
	if e.Page > 0 {
		b = append(b, `"page":`...)
		b = strconv.AppendUint(b, uint64(e.Page), 10)
		b = append(b, `,"duration_ms":`...)
		b = strconv.AppendUint(b, uint64(e.DurationMS), 10)
	}
	b = append(b, `},`+idField...)
	b = append(b, e.EventID.String()...)
	if e.SessionID != uuid.Nil {
		b = append(b, `","session_id":"`...)
		b = append(b, e.SessionID.String()...)
	}
	b = append(b, `","created_at":"`...)
	b = now.UTC().Add(-200*time.Millisecond).AppendFormat(b, layout)
	b = append(b, `","sent_at":"`...)
	b = now.UTC().AppendFormat(b, layout)
	return append(b, `"}`...)
}

package collector

import (
	"fmt"
	"time"

	"github.com/google/uuid"

	"lodestone/pkg/event"
	"lodestone/pkg/token"
)

// sender is what the events of one request have in common.
type sender struct {
	receivedAt time.Time
	userAgent  []byte
	bot        string
	private    bool // asked not to be tracked, and that is honoured
}

// fault is why an element is no event. The zero fault is none.
type fault struct {
	code    Code
	message string
}

// parse fills ev from an element. Its rules, in the order in which they are checked:
//
//   - The element is an object with a valid token of an access link; invalid_token otherwise.
//   - Members other than the seven fields: unknown_field. Names are compared exactly.
//   - A field that occurs twice is refused under the field's own code. null means absent.
//   - event_type is a string, one of event.Types.
//   - event_data: see data.go. event_id and session_id are UUIDs of any version in the canonical
//     form of 36 characters, but not the nil UUID; an absent event_id is made here.
//   - created_at and sent_at are RFC 3339 with a time zone; see clock.go.
//
// ev.Data and ev.UserAgent alias the request.
func (c *Collector) parse(ev *event.Event, e *element, s *sender) fault {
	if e.kind != '{' {
		return fault{InvalidToken, "the element is " + kindName(e.kind) + "; an event is an object with at least token and event_type"}
	}
	claims, f := c.claims(e, &eventsDoor)
	if f.code != "" {
		return f
	}
	if e.unknown != nil {
		return fault{UnknownField, e.unknownMessage(&eventsDoor)}
	}
	*ev = event.Event{
		AccountID:     claims.AccountID,
		LeadMagnetID:  claims.LeadMagnetID,
		GenericLinkID: claims.GenericLinkID,
		AccessLinkID:  claims.AccessLinkID,
		MagnetVersion: claims.MagnetVersion,
		UserAgent:     s.userAgent,
		Bot:           s.bot,
		ReceivedAt:    s.receivedAt.UnixMilli(),
	}
	return c.parseFields(ev, e)
}

// parseFields fills in what stands in the element besides the token.
func (c *Collector) parseFields(ev *event.Event, e *element) (f fault) {
	if f = parseType(ev, e); f.code != "" {
		return f
	}
	if e.twice(fieldEventData) {
		return fault{InvalidEventData, "event_data is given twice"}
	}
	if f = parseData(ev, e.values[fieldEventData]); f.code != "" {
		return f
	}
	if ev.EventID, f = parseID(e, fieldEventID, InvalidEventID); f.code != "" {
		return f
	}
	if ev.EventID == uuid.Nil {
		ev.EventID = c.newID()
	}
	if ev.SessionID, f = parseID(e, fieldSessionID, InvalidSessionID); f.code != "" {
		return f
	}
	return parseTimes(ev, e)
}

func (c *Collector) claims(e *element, d *door) (*token.Claims, fault) {
	if e.twice(fieldToken) {
		return nil, fault{InvalidToken, "token is given twice"}
	}
	value := e.values[fieldToken]
	if value == nil {
		return nil, fault{InvalidToken, "token is missing; give the tracking_token of the link"}
	}
	text, ok := unquote(value)
	if !ok {
		return nil, fault{InvalidToken, "token is not a string; give the tracking_token of the link"}
	}
	claims, err := c.tokens.Verify(text)
	if err != nil {
		return nil, fault{InvalidToken, "token does not verify; give the tracking_token of the link, unchanged"}
	}
	if d.views {
		if claims.GenericLinkID == uuid.Nil {
			return nil, fault{InvalidToken, "token belongs to an access link without a landing page; give the tracking_token of a generic link"}
		}
	} else if claims.AccessLinkID == uuid.Nil {
		return nil, fault{InvalidToken, "token belongs to a landing page, which has link views only; give the tracking_token of an access link"}
	}
	return claims, fault{}
}

func parseType(ev *event.Event, e *element) fault {
	const allowed = "; allowed are page_viewed, download_started and download_completed"
	if e.twice(fieldEventType) {
		return fault{InvalidEventType, "event_type is given twice"}
	}
	value := e.values[fieldEventType]
	if value == nil {
		return fault{InvalidEventType, "event_type is missing" + allowed}
	}
	text, ok := unquote(value)
	if !ok {
		return fault{InvalidEventType, "event_type is not a string" + allowed}
	}
	if ev.Type, ok = event.ParseType(string(text)); !ok {
		return fault{InvalidEventType, "event_type is unknown" + allowed}
	}
	return fault{}
}

func parseID(e *element, f field, code Code) (uuid.UUID, fault) {
	wrong := func(what string) (uuid.UUID, fault) {
		return uuid.Nil, fault{code, fmt.Sprintf("%s %s; give a UUID such as 01890a5d-ac96-774b-bcce-b302099a8057, or leave it out", fieldNames[f], what)}
	}
	if e.twice(f) {
		return wrong("is given twice")
	}
	value := e.values[f]
	if value == nil {
		return uuid.Nil, fault{}
	}
	text, ok := unquote(value)
	if !ok {
		return wrong("is not a string")
	}
	const canonical = 36 // the library also reads other forms, of other lengths
	id, err := uuid.ParseBytes(text)
	if err != nil || len(text) != canonical {
		return wrong("is not a UUID in its canonical form")
	}
	if id == uuid.Nil {
		return wrong("is the nil UUID")
	}
	return id, fault{}
}

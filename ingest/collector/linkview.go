package collector

import (
	"github.com/google/uuid"

	"lodestone/pkg/event"
	"lodestone/pkg/source"
)

// parseView fills v from an element. Its rules are those of parse, as far as the fields are the
// same; and:
//
//   - The token has a generic link. The token of an access link has one, too, if a generic link
//     created it.
//   - referrer and url are strings, stored as source.Address returns them. They are left out where
//     the sender asked not to be tracked.
//
// A link view happens when it is received.
func (c *Collector) parseView(v *event.LinkView, e *element, from *sender) *fieldError {
	if e.kind != '{' {
		return &fieldError{InvalidToken, "the element is " + kindName(e.kind) +
			"; a link view is an object with at least token"}
	}
	claims, f := c.claims(e, &viewsEndpoint)
	if f != nil {
		return f
	}
	if e.unknown != nil {
		return &fieldError{UnknownField, e.unknownMessage(&viewsEndpoint)}
	}
	*v = event.LinkView{
		AccountID:     claims.AccountID,
		LeadMagnetID:  claims.LeadMagnetID,
		GenericLinkID: claims.GenericLinkID,
		UserAgent:     from.userAgent,
		Bot:           from.bot,
		Suspect:       string(from.suspect),
		Origin:        from.origin,
		CreatedAt:     from.receivedAt.UnixMilli(),
		ReceivedAt:    from.receivedAt.UnixMilli(),
	}
	if v.EventID, f = parseID(e, fieldEventID, InvalidEventID); f != nil {
		return f
	}
	if v.EventID == uuid.Nil {
		v.EventID = newID()
	}
	if v.Referrer, f = parseURL(e, fieldReferrer); f != nil {
		return f
	}
	if v.URL, f = parseURL(e, fieldURL); f != nil {
		return f
	}
	if from.private {
		v.Referrer, v.URL = nil, nil
	}
	return nil
}

// parseURL returns an address as it is stored. What it says is not judged: referrers are written by
// all kinds of programs.
func parseURL(e *element, f field) ([]byte, *fieldError) {
	wrong := func(what string) ([]byte, *fieldError) {
		return nil, &fieldError{InvalidEventData, fieldNames[f] + " " + what + "; give a string, or leave it out"}
	}
	if e.twice(f) {
		return wrong("is given twice")
	}
	value := e.values[f]
	if value == nil {
		return nil, nil
	}
	text, ok := unquote(value)
	if !ok {
		return wrong("is not a string")
	}
	return []byte(source.Address(string(text))), nil
}

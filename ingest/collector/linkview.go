package collector

import (
	"bytes"
	"slices"

	"github.com/google/uuid"

	"lodestone/pkg/event"
)

// parseView fills v from an element. Its rules are those of parse, as far as the fields are the
// same; and:
//
//   - The token has a generic link. The token of an access link has one, too, if a generic link created it.
//   - referrer and url are strings; a longer one than event.MaxURLBytes is cut, and of a query only campaign parameters
//     stay. They are left out where the sender asked not to be tracked.
//
// A link view happens when it is received.
func (c *Collector) parseView(v *event.LinkView, e *element, from *sender) *fieldError {
	if e.kind != '{' {
		return &fieldError{InvalidToken, "the element is " + kindName(e.kind) + "; a link view is an object with at least token"}
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
	return pageAddress(text), nil
}

// pageAddress returns the address of a page as it is stored: without its fragment, and without its query except for campaign
// parameters. Queries hold mail addresses, search terms and sessions, and a link view cannot be found by its visitor when that
// visitor is to be erased. The beacon shortens addresses itself; the pixel and other senders do not.
func pageAddress(text []byte) []byte {
	text, _, _ = bytes.Cut(validText(text, event.MaxURLBytes), []byte("#"))
	page, query, _ := bytes.Cut(text, []byte("?"))
	page = slices.Clip(page) // what follows it is the request's
	separator := byte('?')
	for parameter := range bytes.SplitSeq(query, []byte("&")) {
		name, _, _ := bytes.Cut(parameter, []byte("="))
		switch string(name) {
		case "utm_source", "utm_medium", "utm_campaign", "utm_content", "utm_term": // what ClickHouse reads from url
			page = append(append(page, separator), parameter...)
			separator = '&'
		}
	}
	return page
}

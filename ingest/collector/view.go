package collector

import (
	"unicode/utf8"

	"github.com/google/uuid"

	"lodestone/pkg/event"
)

// parseView fills v from an element. Its rules are those of parse, as far as the fields are the
// same; and:
//
//   - The token has a generic link. That of an access link that a generic link made has one, too.
//   - referrer and url are strings; a longer one than event.MaxURLBytes is cut. They are left out where
//     the sender asked not to be tracked.
//
// A link view happens when it is received.
func (c *Collector) parseView(v *event.LinkView, e *element, s *sender) fault {
	if e.kind != '{' {
		return fault{InvalidToken, "the element is " + kindName(e.kind) + "; a link view is an object with at least token"}
	}
	claims, f := c.claims(e, &viewsDoor)
	if f.code != "" {
		return f
	}
	if e.unknown != nil {
		return fault{UnknownField, e.unknownMessage(&viewsDoor)}
	}
	*v = event.LinkView{
		AccountID:     claims.AccountID,
		LeadMagnetID:  claims.LeadMagnetID,
		GenericLinkID: claims.GenericLinkID,
		UserAgent:     s.userAgent,
		Bot:           s.bot,
		CreatedAt:     s.receivedAt.UnixMilli(),
		ReceivedAt:    s.receivedAt.UnixMilli(),
	}
	if v.EventID, f = parseID(e, fieldEventID, InvalidEventID); f.code != "" {
		return f
	}
	if v.EventID == uuid.Nil {
		v.EventID = c.newID()
	}
	if v.Referrer, f = parseURL(e, fieldReferrer); f.code != "" {
		return f
	}
	if v.URL, f = parseURL(e, fieldURL); f.code != "" {
		return f
	}
	if s.private {
		v.Referrer, v.URL = nil, nil
	}
	return fault{}
}

// parseURL returns an address as it is kept. What it says is not judged: referrers are written by
// all kinds of programs.
func parseURL(e *element, f field) ([]byte, fault) {
	wrong := func(what string) ([]byte, fault) {
		return nil, fault{InvalidEventData, fieldNames[f] + " " + what + "; give a string, or leave it out"}
	}
	if e.twice(f) {
		return wrong("is given twice")
	}
	value := e.values[f]
	if value == nil {
		return nil, fault{}
	}
	text, ok := unquote(value)
	if !ok {
		return wrong("is not a string")
	}
	return sound(text, event.MaxURLBytes), fault{}
}

// sound returns text as it is kept: valid UTF-8 of at most limit bytes. It aliases the text if
// nothing had to be changed.
func sound(text []byte, limit int) []byte {
	if len(text) > limit {
		cut := limit
		// Not in the middle of a character; no character has more than three bytes after its first.
		for back := 0; back < utf8.UTFMax-1 && cut > 0 && !utf8.RuneStart(text[cut]); back++ {
			cut--
		}
		text = text[:cut]
	}
	if utf8.Valid(text) {
		return text
	}
	valid := make([]byte, 0, limit)
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text) // a broken byte becomes U+FFFD, which is longer
		if len(valid)+utf8.RuneLen(r) > limit {
			break
		}
		valid, text = utf8.AppendRune(valid, r), text[size:]
	}
	return valid
}

package event

import (
	"unicode/utf8"

	"github.com/google/uuid"
	"google.golang.org/protobuf/encoding/protowire"

	"lodestone/pkg/source"
)

// MaxURLBytes bounds the URL and the referrer of a link view.
const MaxURLBytes = source.MaxAddressBytes + source.MaxCampaignBytes

// LinkView is one view of a generic link's landing page. A zero IPHash means there is none. Times
// are Unix milliseconds, UTC.
type LinkView struct {
	AccountID     uuid.UUID
	LeadMagnetID  uuid.UUID
	GenericLinkID uuid.UUID
	EventID       uuid.UUID // unique within the generic link
	Referrer      []byte    // at most MaxURLBytes of UTF-8; empty: none, or withheld
	URL           []byte    // of the page; the same bounds
	IPHash        [ipHashBytes]byte
	UserAgent     []byte // at most MaxAgentBytes of UTF-8
	Bot           string // name of the rule that classified the sender as a bot; empty: a person
	Suspect       string // name of the rule that suspects the sender of being one; empty: none does
	Origin        Origin
	CreatedAt     int64 // when it happened
	ReceivedAt    int64 // when the collector got it
	Spooled       bool  // waited in a collector's spool
}

// Append appends the record of the link view to b and returns it. It does not validate.
func (v *LinkView) Append(b []byte) []byte {
	b = appendVarint(b, fieldVersion, SchemaVersion)
	b = appendUUID(b, fieldAccountID, v.AccountID)
	b = appendUUID(b, fieldLeadMagnetID, v.LeadMagnetID)
	b = appendUUID(b, fieldGenericLinkID, v.GenericLinkID)
	b = appendUUID(b, fieldEventID, v.EventID)
	if v.IPHash != [ipHashBytes]byte{} {
		b = appendBytes(b, fieldIPHash, v.IPHash[:])
	}
	b = appendBytes(b, fieldUserAgent, v.UserAgent)
	b = appendBytes(b, fieldBot, []byte(v.Bot))
	b = v.Origin.append(b)
	b = appendFixed64(b, fieldCreatedAt, v.CreatedAt)
	b = appendFixed64(b, fieldReceivedAt, v.ReceivedAt)
	if v.Spooled {
		b = appendVarint(b, fieldSpooled, 1)
	}
	b = appendBytes(b, fieldReferrer, v.Referrer)
	b = appendBytes(b, fieldURL, v.URL)
	return appendBytes(b, fieldSuspect, []byte(v.Suspect))
}

// Decode fills the link view from a record. It is total, as Event.Decode is. Referrer, URL and
// UserAgent alias the record.
func (v *LinkView) Decode(record []byte) error {
	*v = LinkView{}
	if err := scan(record, v); err != nil {
		return err
	}
	return v.Validate()
}

// Validate reports whether the link view can become a row.
func (v *LinkView) Validate() error {
	switch {
	case v.AccountID == uuid.Nil:
		return invalid("account_id", "is missing")
	case v.LeadMagnetID == uuid.Nil:
		return invalid("lead_magnet_id", "is missing")
	case v.GenericLinkID == uuid.Nil:
		return invalid("generic_link_id", "is missing")
	case v.EventID == uuid.Nil:
		return invalid("event_id", "is missing")
	case len(v.Referrer) > MaxURLBytes || !utf8.Valid(v.Referrer):
		return invalid("referrer", "is too long, or not UTF-8")
	case len(v.URL) > MaxURLBytes || !utf8.Valid(v.URL):
		return invalid("url", "is too long, or not UTF-8")
	case len(v.UserAgent) > MaxAgentBytes || !utf8.Valid(v.UserAgent):
		return invalid("user_agent", "is too long, or not UTF-8")
	case len(v.Bot) > MaxBotRuleBytes || !utf8.ValidString(v.Bot):
		return invalid("bot", "is too long, or not UTF-8")
	case len(v.Suspect) > MaxBotRuleBytes || !utf8.ValidString(v.Suspect):
		return invalid("suspect", "is too long, or not UTF-8")
	case !v.Origin.valid():
		return invalid("language or country", "is not a code")
	case v.CreatedAt < minUnixMilli || v.CreatedAt > maxUnixMilli:
		return invalid("created_at", "is out of range")
	case v.ReceivedAt < minUnixMilli || v.ReceivedAt > maxUnixMilli:
		return invalid("received_at", "is out of range")
	}
	return nil
}

func (v *LinkView) setNumber(num protowire.Number, n uint64) error {
	if num == fieldSpooled {
		if n > 1 {
			return invalid("spooled", "is out of range")
		}
		v.Spooled = n == 1
	}
	return nil
}

func (v *LinkView) setTime(num protowire.Number, t int64) {
	switch num {
	case fieldCreatedAt:
		v.CreatedAt = t
	case fieldReceivedAt:
		v.ReceivedAt = t
	}
}

func (v *LinkView) setBytes(num protowire.Number, b []byte) error {
	switch num {
	case fieldAccountID:
		return setUUID(&v.AccountID, num, b)
	case fieldLeadMagnetID:
		return setUUID(&v.LeadMagnetID, num, b)
	case fieldGenericLinkID:
		return setUUID(&v.GenericLinkID, num, b)
	case fieldEventID:
		return setUUID(&v.EventID, num, b)
	case fieldIPHash:
		if len(b) != ipHashBytes {
			return invalid("ip_hash", "is not 16 bytes")
		}
		v.IPHash = [ipHashBytes]byte(b)
	case fieldUserAgent:
		v.UserAgent = b
	case fieldBot:
		v.Bot = string(b)
	case fieldSuspect:
		v.Suspect = string(b)
	case fieldReferrer:
		v.Referrer = b
	case fieldURL:
		v.URL = b
	case fieldLanguage, fieldCountry:
		return v.Origin.set(num, b)
	}
	return nil
}

// Blank removes everything from the view that its sender gave.
func (v *LinkView) Blank() {
	v.Referrer, v.URL, v.IPHash, v.UserAgent, v.Origin = nil, nil, [ipHashBytes]byte{}, nil, Origin{}
}

package event

import (
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/google/uuid"
	"google.golang.org/protobuf/encoding/protowire"
)

// Field numbers of event.proto. The two messages share them where they mean the same.
const (
	fieldVersion = iota + 1
	fieldAccountID
	fieldLeadMagnetID
	fieldGenericLinkID
	fieldAccessLinkID
	fieldSessionID
	fieldEventID
	fieldMagnetVersion
	fieldType
	fieldPage
	fieldDurationMS
	fieldData
	fieldIPHash
	fieldUserAgent
	fieldBot
	fieldCreatedAt
	fieldReceivedAt
	fieldSpooled
	fieldReferrer
	fieldURL
	fieldLanguage
	fieldCountry
	fieldSuspect
)

var emptyObject = []byte("{}")

// Append appends the record of the event to b and returns it. It does not validate.
func (e *Event) Append(b []byte) []byte {
	b = appendVarint(b, fieldVersion, SchemaVersion)
	b = appendUUID(b, fieldAccountID, e.AccountID)
	b = appendUUID(b, fieldLeadMagnetID, e.LeadMagnetID)
	b = appendUUID(b, fieldGenericLinkID, e.GenericLinkID)
	b = appendUUID(b, fieldAccessLinkID, e.AccessLinkID)
	b = appendUUID(b, fieldSessionID, e.SessionID)
	b = appendUUID(b, fieldEventID, e.EventID)
	b = appendVarint(b, fieldMagnetVersion, uint64(e.MagnetVersion))
	b = appendVarint(b, fieldType, uint64(e.Type))
	b = appendVarint(b, fieldPage, uint64(e.Page))
	b = appendVarint(b, fieldDurationMS, uint64(e.DurationMS))
	if len(e.Data) > len(emptyObject) {
		b = appendBytes(b, fieldData, e.Data)
	}
	if e.IPHash != [ipHashBytes]byte{} {
		b = appendBytes(b, fieldIPHash, e.IPHash[:])
	}
	b = appendBytes(b, fieldUserAgent, e.UserAgent)
	if e.Bot != "" {
		b = protowire.AppendTag(b, fieldBot, protowire.BytesType)
		b = protowire.AppendString(b, e.Bot)
	}
	b = e.Origin.append(b)
	b = appendFixed64(b, fieldCreatedAt, e.CreatedAt)
	b = appendFixed64(b, fieldReceivedAt, e.ReceivedAt)
	if e.Spooled {
		b = appendVarint(b, fieldSpooled, 1)
	}
	return b
}

// MarkSpooled appends to a record of any kind that it waited in a spool, and returns it: the last
// value of a field counts.
func MarkSpooled(record []byte) []byte { return appendVarint(record, fieldSpooled, 1) }

// Decode fills the event from a record. It is total: any bytes give an event that Validate
// accepts and whose Data is a JSON object, or an error that wraps ErrMalformed, ErrNewer or
// ErrInvalid. Data and UserAgent alias the record; fields of the event are overwritten.
func (e *Event) Decode(record []byte) error {
	*e = Event{Data: emptyObject}
	if !e.decodePlain(record) {
		*e = Event{Data: emptyObject}
		if err := scan(record, e); err != nil {
			return err
		}
	}
	err := e.Validate()
	if err != nil && !errors.Is(err, ErrNewer) {
		return err
	}
	if !utf8.Valid(e.UserAgent) || !utf8.ValidString(e.Bot) {
		return invalid("user_agent", "is not UTF-8")
	}
	if !isPlainObject(e.Data) && (e.Data[0] != '{' || !utf8.Valid(e.Data) || !json.Valid(e.Data)) {
		return invalid("event_data", "is not a JSON object")
	}
	return err
}

func (e *Event) setNumber(num protowire.Number, v uint64) error {
	var limit uint64
	switch num {
	case fieldMagnetVersion, fieldPage, fieldDurationMS:
		limit = 1<<32 - 1
	case fieldType:
		limit = 1<<8 - 1
	case fieldSpooled:
		limit = 1
	default:
		return nil
	}
	if v > limit {
		return fmt.Errorf("%w: field %d is out of range", ErrInvalid, num)
	}
	switch num {
	case fieldMagnetVersion:
		e.MagnetVersion = uint32(v)
	case fieldPage:
		e.Page = uint32(v)
	case fieldDurationMS:
		e.DurationMS = uint32(v)
	case fieldType:
		e.Type = Type(v)
	case fieldSpooled:
		e.Spooled = v == 1
	}
	return nil
}

func (e *Event) setTime(num protowire.Number, v int64) {
	switch num {
	case fieldCreatedAt:
		e.CreatedAt = v
	case fieldReceivedAt:
		e.ReceivedAt = v
	}
}

func (e *Event) setBytes(num protowire.Number, v []byte) error {
	var id *uuid.UUID
	switch num {
	case fieldAccountID:
		id = &e.AccountID
	case fieldLeadMagnetID:
		id = &e.LeadMagnetID
	case fieldGenericLinkID:
		id = &e.GenericLinkID
	case fieldAccessLinkID:
		id = &e.AccessLinkID
	case fieldSessionID:
		id = &e.SessionID
	case fieldEventID:
		id = &e.EventID
	case fieldData:
		if len(v) == 0 {
			return invalid("event_data", "is empty")
		}
		e.Data = v
	case fieldIPHash:
		if len(v) != ipHashBytes {
			return invalid("ip_hash", "is not 16 bytes")
		}
		e.IPHash = [ipHashBytes]byte(v)
	case fieldUserAgent:
		e.UserAgent = v
	case fieldBot:
		e.Bot = string(v)
	case fieldLanguage, fieldCountry:
		return e.Origin.set(num, v)
	}
	if id != nil {
		return setUUID(id, num, v)
	}
	return nil
}

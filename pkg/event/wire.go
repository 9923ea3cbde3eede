package event

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"google.golang.org/protobuf/encoding/protowire"
)

// ErrMalformed is wrapped by the errors of decoding about bytes that are no record.
var ErrMalformed = errors.New("malformed record")

// ErrNewer is wrapped by the errors of decoding about a record that a newer release wrote: it is
// well formed and names an account and an event, but its schema version or event type is beyond
// those that this build knows.
var ErrNewer = errors.New("written by a newer release")

// fields takes the fields of a record as they come. Numbers that it does not know are none of its
// business: a later release of the same schema version may have added them.
type fields interface {
	setNumber(num protowire.Number, v uint64) error
	setTime(num protowire.Number, v int64)
	setBytes(num protowire.Number, v []byte) error
}

// scan reads a record of a schema version that this build knows.
func scan(record []byte, into fields) error {
	version := uint64(0)
	for b := record; len(b) > 0; {
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			return malformed("field tag", protowire.ParseError(n))
		}
		b = b[n:]
		var err error
		switch typ {
		case protowire.VarintType:
			var v uint64
			if v, n = protowire.ConsumeVarint(b); n < 0 {
				return malformed("number", protowire.ParseError(n))
			}
			if num == fieldVersion {
				version = v
				if v > maxRecordVersion {
					return newerVersion(record, v)
				}
			}
			err = into.setNumber(num, v)
		case protowire.Fixed64Type:
			var v uint64
			if v, n = protowire.ConsumeFixed64(b); n < 0 {
				return malformed("time", protowire.ParseError(n))
			}
			into.setTime(num, int64(v))
		case protowire.BytesType:
			var v []byte
			if v, n = protowire.ConsumeBytes(b); n < 0 {
				return malformed("bytes", protowire.ParseError(n))
			}
			err = into.setBytes(num, v)
		default:
			if n = protowire.ConsumeFieldValue(num, typ, b); n < 0 {
				return malformed("field", protowire.ParseError(n))
			}
		}
		if err != nil {
			return err
		}
		b = b[n:]
	}
	if version == 0 {
		return fmt.Errorf("%w: no schema version", ErrMalformed)
	}
	return nil
}

// newerVersion returns the error about a record of a version above those that this build knows.
// Every version begins with its number and is a sequence of fields, with an account and an event
// id; anything else is not a record.
func newerVersion(record []byte, version uint64) error {
	if num, _, _ := protowire.ConsumeTag(record); num != fieldVersion || version > maxNewerVersion {
		return fmt.Errorf("%w: schema version %d", ErrMalformed, version)
	}
	ids := 0
	for b := record; len(b) > 0; {
		num, typ, n := protowire.ConsumeField(b)
		if n < 0 {
			return malformed("field of a newer version", protowire.ParseError(n))
		}
		if (num == fieldAccountID || num == fieldEventID) && typ == protowire.BytesType && n == idFieldBytes {
			ids |= 1 << num
		}
		b = b[n:]
	}
	if ids != 1<<fieldAccountID|1<<fieldEventID {
		return fmt.Errorf("%w: schema version %d without an account and an event id", ErrMalformed, version)
	}
	return fmt.Errorf("%w: schema version %d, this build reads up to %d", ErrNewer, version, maxRecordVersion)
}

const (
	maxNewerVersion = 1 << 16    // beyond it is noise
	idFieldBytes    = 1 + 1 + 16 // tag, length and a UUID
)

func malformed(what string, cause error) error {
	return fmt.Errorf("%w: %s: %w", ErrMalformed, what, cause)
}

func invalid(field, wrong string) error {
	return fmt.Errorf("%w: %s %s", ErrInvalid, field, wrong)
}

func setUUID(id *uuid.UUID, num protowire.Number, v []byte) error {
	if len(v) != len(id) {
		return fmt.Errorf("%w: field %d is not a UUID", ErrInvalid, num)
	}
	*id = uuid.UUID(v)
	return nil
}

func appendVarint(b []byte, num protowire.Number, v uint64) []byte {
	if v == 0 {
		return b
	}
	return protowire.AppendVarint(protowire.AppendTag(b, num, protowire.VarintType), v)
}

func appendUUID(b []byte, num protowire.Number, id uuid.UUID) []byte {
	if id == uuid.Nil {
		return b
	}
	return appendBytes(b, num, id[:])
}

func appendBytes(b []byte, num protowire.Number, v []byte) []byte {
	if len(v) == 0 {
		return b
	}
	return protowire.AppendBytes(protowire.AppendTag(b, num, protowire.BytesType), v)
}

func appendFixed64(b []byte, num protowire.Number, v int64) []byte {
	return binary.LittleEndian.AppendUint64(protowire.AppendTag(b, num, protowire.Fixed64Type), uint64(v))
}

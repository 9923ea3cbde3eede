package deadletter

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"
	"google.golang.org/protobuf/encoding/protowire"

	"lodestone/pkg/event"
)

// Field is one field of a record, for people.
type Field struct {
	Number int
	Name   string // empty: of a later schema, or none of ours
	Value  string
}

// form is how a field is shown.
type form int

const (
	formNumber form = iota
	formID
	formTime
	formText
	formPersonal // personal data of a visitor, or possibly: only its length, unless requested
)

// known are the fields of event.proto.
var known = map[protowire.Number]struct {
	name string
	form form
}{
	1: {"schema_version", formNumber}, 2: {"account_id", formID}, 3: {"lead_magnet_id", formID},
	4: {"generic_link_id", formID},
	5: {"access_link_id", formID}, 6: {"session_id", formID}, 7: {"event_id", formID}, 8: {"magnet_version", formNumber},
	9: {"event_type", formNumber}, 10: {"page", formNumber}, 11: {"duration_ms", formNumber},
	12: {"event_data", formPersonal},
	13: {"ip_hash", formPersonal}, 14: {"user_agent", formPersonal}, 15: {"bot", formText}, 16: {"created_at", formTime},
	17: {"received_at", formTime}, 18: {"spooled", formNumber}, 19: {"referrer", formPersonal}, 20: {"url", formPersonal},
	21: {"language", formPersonal}, 22: {"country", formPersonal},
}

// Fields decodes a record as far as it has the wire format of records, whatever its schema, and
// returns the number of bytes that it could not decode. Personal data, and fields that this build
// does not know, are shown by their length only unless personal is set.
func Fields(record []byte, personal bool) (fields []Field, rest int) {
	for b := record; len(b) > 0; {
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			return fields, len(b)
		}
		v := b[n:]
		f := Field{Number: int(num), Name: known[num].name}
		switch typ {
		case protowire.VarintType:
			var x uint64
			x, n = protowire.ConsumeVarint(v)
			f.Value = strconv.FormatUint(x, 10)
			if num == 9 && x <= uint64(event.DownloadCompleted) {
				f.Value += " (" + event.Type(x).String() + ")"
			}
		case protowire.Fixed64Type:
			var x uint64
			x, n = protowire.ConsumeFixed64(v)
			f.Value = strconv.FormatInt(int64(x), 10)
			if known[num].form == formTime {
				f.Value += " (" + time.UnixMilli(int64(x)).UTC().Format(time.RFC3339Nano) + ")"
			}
		case protowire.BytesType:
			var x []byte
			x, n = protowire.ConsumeBytes(v)
			f.Value = text(num, x, personal)
		default:
			n = protowire.ConsumeFieldValue(num, typ, v)
			f.Value = fmt.Sprintf("%d bytes of type %d", n, typ)
		}
		if n < 0 {
			return fields, len(b)
		}
		fields = append(fields, f)
		b = v[n:]
	}
	return fields, 0
}

// text returns bytes in their most readable form.
func text(num protowire.Number, b []byte, personal bool) string {
	of, ok := known[num]
	switch {
	case ok && of.form == formID && len(b) == 16:
		return uuid.UUID(b).String()
	case ok && of.form == formID:
		return fmt.Sprintf("%d bytes, which are no UUID", len(b))
	case !personal && (!ok || of.form != formText):
		return fmt.Sprintf("%d bytes (withheld)", len(b))
	case utf8.Valid(b):
		return strconv.Quote(string(b))
	default:
		return hex.EncodeToString(b)
	}
}

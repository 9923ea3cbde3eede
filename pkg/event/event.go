// Package event is the one contract that the collector, the consumer and the tools share: what an
// event is, how it is written to Kafka, and the names of the topics.
package event

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/google/uuid"
)

// Kafka topics. Records are keyed by access link (events) or generic link (link views), so that
// repeats of one event always meet in one partition.
const (
	Topic            = "lodestone.events"
	LinkViewTopic    = "lodestone.link_views"
	DeadLetterTopic  = "lodestone.dead_letters"
	SchemaVersion    = 1
	MaxDataBytes     = 4096 // event_data as compact JSON
	MaxDataDepth     = 4    // objects and arrays within one another, the outer object included
	MaxAgentBytes    = 512  // a longer user agent is cut
	MaxBotRuleBytes  = 64
	MaxPage          = 1_000_000
	MaxDurationMS    = 86_400_000 // one day
	minUnixMilli     = 946_684_800_000
	maxUnixMilli     = 4_102_444_800_000
	ipHashBytes      = 16
	maxRecordVersion = SchemaVersion
)

// Event is one thing that a reader did with an access link's document. A zero UUID or a zero
// IPHash means there is none. Times are Unix milliseconds, UTC.
type Event struct {
	AccountID     uuid.UUID
	LeadMagnetID  uuid.UUID
	GenericLinkID uuid.UUID // zero: the access link was created by the API
	AccessLinkID  uuid.UUID
	SessionID     uuid.UUID // zero: sent without a session
	EventID       uuid.UUID // unique within the access link
	MagnetVersion uint32    // version of the lead magnet's file
	Type          Type
	Page          uint32 // page_viewed: from 1; 0: not given
	DurationMS    uint32 // time the page was visible; 0: not given
	Data          []byte // compact JSON object, at most MaxDataBytes
	IPHash        [ipHashBytes]byte
	UserAgent     []byte // at most MaxAgentBytes of UTF-8
	Bot           string // name of the rule that classified the sender as a bot; empty: a person
	Origin        Origin
	CreatedAt     int64 // when it happened
	ReceivedAt    int64 // when the collector got it
	Spooled       bool  // waited in a collector's spool, so it may be far from its first sending
}

// ErrInvalid is wrapped by every error of Validate.
var ErrInvalid = errors.New("invalid event")

// Validate reports whether the event can become a row: it checks everything that ClickHouse or a
// reader of the row relies on, except that Data is well-formed JSON (Decode checks that as well).
func (e *Event) Validate() error {
	switch {
	case e.AccountID == uuid.Nil:
		return invalid("account_id", "is missing")
	case e.LeadMagnetID == uuid.Nil:
		return invalid("lead_magnet_id", "is missing")
	case e.AccessLinkID == uuid.Nil:
		return invalid("access_link_id", "is missing")
	case e.EventID == uuid.Nil:
		return invalid("event_id", "is missing")
	case e.Type == 0:
		return invalid("event_type", "is missing")
	case len(e.Data) > MaxDataBytes:
		return invalid("event_data", "is too long")
	case len(e.UserAgent) > MaxAgentBytes:
		return invalid("user_agent", "is too long")
	case len(e.Bot) > MaxBotRuleBytes:
		return invalid("bot", "is too long")
	case !e.Origin.valid():
		return invalid("language or country", "is not a code")
	case e.Page > MaxPage:
		return invalid("page", "is out of range")
	case e.DurationMS > MaxDurationMS:
		return invalid("duration_ms", "is out of range")
	case e.CreatedAt < minUnixMilli || e.CreatedAt > maxUnixMilli:
		return invalid("created_at", "is out of range")
	case e.ReceivedAt < minUnixMilli || e.ReceivedAt > maxUnixMilli:
		return invalid("received_at", "is out of range")
	case int(e.Type) >= len(typeNames): // last: everything else is as it has to be
		return fmt.Errorf("%w: event type %d, this build knows up to %d", ErrNewer, e.Type, len(typeNames)-1)
	}
	return nil
}

// Blank removes everything from the event by which a person could be known: what stays of Data are
// Page and DurationMS. Package ingest/erasure does the same to events that are stored.
func (e *Event) Blank() {
	data := []byte{'{'}
	if e.Page > 0 {
		data = strconv.AppendUint(append(data, `"page":`...), uint64(e.Page), 10)
	}
	if e.DurationMS > 0 {
		if e.Page > 0 {
			data = append(data, ',')
		}
		data = strconv.AppendUint(append(data, `"duration_ms":`...), uint64(e.DurationMS), 10)
	}
	data = append(data, '}')
	e.Data, e.IPHash, e.UserAgent, e.Origin = data, [ipHashBytes]byte{}, nil, Origin{}
}

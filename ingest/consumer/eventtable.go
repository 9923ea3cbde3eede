package consumer

import (
	"time"

	"github.com/ClickHouse/ch-go/proto"

	"lodestone/pkg/event"
)

// eventStream is the way of events.
func eventStream() stream {
	return stream{
		topic: event.Topic,
		table: "events",
		link:  "access_link_id",
		make:  func() table { return newEventTable() },
	}
}

// eventTable holds rows of lodestone.events, column by column.
type eventTable struct {
	event event.Event

	accountID, leadMagnetID, genericLinkID proto.ColUUID
	accessLinkID, sessionID, eventID       proto.ColUUID
	eventType                              proto.ColEnum8
	eventData                              proto.ColStr
	magnetVersion, page, durationMS        proto.ColUInt32
	ipHash                                 proto.ColFixedStr16
	userAgent, bot                         *proto.ColLowCardinality[string]
	createdAt, receivedAt                  *proto.ColDateTime64
	place                                  placeColumns

	columns proto.Input
}

func newEventTable() *eventTable {
	t := &eventTable{
		userAgent:  new(proto.ColStr).LowCardinality(),
		bot:        new(proto.ColStr).LowCardinality(),
		createdAt:  newMillis(),
		receivedAt: newMillis(),
		place:      newPlaceColumns(),
	}
	t.columns = append(proto.Input{
		{Name: "account_id", Data: &t.accountID},
		{Name: "lead_magnet_id", Data: &t.leadMagnetID},
		{Name: "generic_link_id", Data: &t.genericLinkID},
		{Name: "access_link_id", Data: &t.accessLinkID},
		{Name: "session_id", Data: &t.sessionID},
		{Name: "event_id", Data: &t.eventID},
		// The server compares the type's full name, so the column carries the names of the values.
		{Name: "event_type", Data: proto.Wrap(&t.eventType, "'page_viewed' = 1, 'download_started' = 2, 'download_completed' = 3")},
		{Name: "event_data", Data: &t.eventData},
		{Name: "magnet_version", Data: &t.magnetVersion},
		{Name: "page", Data: &t.page},
		{Name: "duration_ms", Data: &t.durationMS},
		{Name: "ip_hash", Data: &t.ipHash},
		{Name: "user_agent", Data: t.userAgent},
		{Name: "bot", Data: t.bot},
		{Name: "created_at", Data: t.createdAt},
		{Name: "received_at", Data: t.receivedAt},
	}, t.place.columns()...)
	return t
}

func (t *eventTable) decode(record []byte) (decoded, error) {
	e := &t.event
	if err := e.Decode(record); err != nil {
		return decoded{}, err
	}
	return decoded{
		identity: identity{link: e.AccessLinkID, event: e.EventID},
		account:  e.AccountID, createdAt: e.CreatedAt, receivedAt: e.ReceivedAt, spooled: e.Spooled,
	}, nil
}

func (t *eventTable) add(at origin) {
	e := &t.event
	t.accountID.Append(e.AccountID)
	t.leadMagnetID.Append(e.LeadMagnetID)
	t.genericLinkID.Append(e.GenericLinkID)
	t.accessLinkID.Append(e.AccessLinkID)
	t.sessionID.Append(e.SessionID)
	t.eventID.Append(e.EventID)
	t.eventType.Append(proto.Enum8(e.Type))
	t.eventData.AppendBytes(e.Data)
	t.magnetVersion.Append(e.MagnetVersion)
	t.page.Append(e.Page)
	t.durationMS.Append(e.DurationMS)
	t.ipHash.Append(e.IPHash)
	t.userAgent.Append(string(e.UserAgent))
	t.bot.Append(e.Bot)
	t.createdAt.AppendRaw(proto.DateTime64(e.CreatedAt))
	t.receivedAt.AppendRaw(proto.DateTime64(e.ReceivedAt))
	t.place.add(at)
}

func (t *eventTable) rows() int { return t.place.rows() }

func (t *eventTable) input(before time.Time) proto.Input {
	t.place.bound(before)
	return t.columns
}

func (t *eventTable) reset() { t.columns.Reset() }

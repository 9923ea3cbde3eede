package stream

import (
	"time"

	"github.com/ClickHouse/ch-go/proto"

	"lodestone/pkg/event"
)

// Events is the way of events.
func Events() Stream {
	agents := newAgentParser()
	return Stream{
		Topic:   event.Topic,
		Table:   "events",
		Link:    "access_link_id",
		Decoder: func() Decoder { return &eventDecoder{erased: noOne{}} },
		Tables:  newTables(func() Table { return newEventTable(agents) }),
		decoder: func(erased ErasedIDs) Decoder { return &eventDecoder{erased: erased} },
		blanked: blankEvent,
	}
}

func blankEvent(record []byte, erased ErasedIDs) []byte {
	var e event.Event
	if err := e.Decode(record); err != nil || !hasEvent(erased, &e) {
		return record
	}
	e.Blank()
	return e.Append(nil)
}

// hasEvent reports whether an event is of a person, or of an account, that was erased.
func hasEvent(erased ErasedIDs, e *event.Event) bool {
	return erased.Has(e.AccessLinkID) || erased.Has(e.AccountID)
}

// eventTable holds rows of lodestone.events, column by column.
type eventTable struct {
	accountID, leadMagnetID, genericLinkID idColumn
	accessLinkID, sessionID, eventID       idColumn
	eventType                              proto.ColEnum8
	eventData                              stringColumn
	magnetVersion, page, durationMS        proto.ColUInt32
	ipHash                                 proto.ColFixedStr16
	visitor                                visitorColumns
	bot                                    *textColumn
	createdAt, receivedAt                  *proto.ColDateTime64
	place                                  placeColumns

	columns proto.Input
}

func newEventTable(agents *agentParser) *eventTable {
	t := &eventTable{
		visitor:    newVisitorColumns(agents),
		bot:        newTextColumn(),
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
		{Name: "event_type", Data: proto.Wrap(&t.eventType, event.TypeEnum())},
		{Name: "event_data", Data: &t.eventData},
		{Name: "magnet_version", Data: &t.magnetVersion},
		{Name: "page", Data: &t.page},
		{Name: "duration_ms", Data: &t.durationMS},
		{Name: "ip_hash", Data: &t.ipHash},
		{Name: "bot", Data: t.bot},
		{Name: "created_at", Data: t.createdAt},
		{Name: "received_at", Data: t.receivedAt},
	}, append(t.visitor.columns(), t.place.columns()...)...)
	return t
}

// eventRowBytes is the size of a row without its event_data.
const eventRowBytes = 208

// eventDecoder reads records of events.
type eventDecoder struct {
	event  event.Event
	erased ErasedIDs
}

func (d *eventDecoder) Decode(record []byte) (Record, error) {
	e := &d.event
	if err := e.Decode(record); err != nil {
		return Record{}, err
	}
	if hasEvent(d.erased, e) {
		e.Blank()
	}
	return Record{
		Identity: Identity{Link: e.AccessLinkID, Event: e.EventID},
		Account:  e.AccountID, CreatedAt: e.CreatedAt, ReceivedAt: e.ReceivedAt, Spooled: e.Spooled,
		Size: eventRowBytes + int64(len(e.Data)),
	}, nil
}

func (d *eventDecoder) Peek(record []byte) Identity {
	link, id := event.PeekIdentity(record)
	return Identity{Link: link, Event: id}
}

func (d *eventDecoder) Add(to Table, at Place) {
	e, t := &d.event, to.(*eventTable)
	t.accountID.Append(e.AccountID)
	t.leadMagnetID.Append(e.LeadMagnetID)
	t.genericLinkID.Append(e.GenericLinkID)
	t.accessLinkID.Append(e.AccessLinkID)
	t.sessionID.Append(e.SessionID)
	t.eventID.Append(e.EventID)
	t.eventType.Append(proto.Enum8(e.Type))
	t.eventData.Append(e.Data)
	t.magnetVersion.Append(e.MagnetVersion)
	t.page.Append(e.Page)
	t.durationMS.Append(e.DurationMS)
	t.ipHash.Append(e.IPHash)
	t.visitor.add(e.UserAgent, e.Origin)
	t.bot.AppendString(e.Bot)
	t.createdAt.AppendRaw(proto.DateTime64(e.CreatedAt))
	t.receivedAt.AppendRaw(proto.DateTime64(e.ReceivedAt))
	t.place.add(at)
}

func (t *eventTable) addRow(from Table, row int) {
	f := from.(*eventTable)
	t.accountID.AppendRow(f.accountID, row)
	t.leadMagnetID.AppendRow(f.leadMagnetID, row)
	t.genericLinkID.AppendRow(f.genericLinkID, row)
	t.accessLinkID.AppendRow(f.accessLinkID, row)
	t.sessionID.AppendRow(f.sessionID, row)
	t.eventID.AppendRow(f.eventID, row)
	t.eventType.Append(f.eventType[row])
	t.eventData.AppendRow(&f.eventData, row)
	t.magnetVersion.Append(f.magnetVersion[row])
	t.page.Append(f.page[row])
	t.durationMS.Append(f.durationMS[row])
	t.ipHash.Append(f.ipHash[row])
	t.visitor.addRow(&f.visitor, row)
	t.bot.Append(f.bot.Row(row))
	t.createdAt.AppendRaw(f.createdAt.Data[row])
	t.receivedAt.AppendRaw(f.receivedAt.Data[row])
	t.place.addRow(&f.place, row)
}

func (t *eventTable) Offsets() []int64 { return t.place.offset }

func (t *eventTable) Partitions() []int32 { return t.place.partition }

func (t *eventTable) Record(row int) Record {
	return Record{
		Identity: Identity{Link: t.accessLinkID.Row(row), Event: t.eventID.Row(row)},
		Account:  t.accountID.Row(row), CreatedAt: int64(t.createdAt.Data[row]),
	}
}

func (t *eventTable) Input(before time.Time) proto.Input {
	t.place.bound(before)
	return t.columns
}

func (t *eventTable) Reset() {
	t.columns.Reset()
	t.visitor.reset()
}

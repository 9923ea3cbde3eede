package stream

import (
	"time"

	"github.com/ClickHouse/ch-go/proto"

	"lodestone/pkg/event"
)

// LinkViews is the way of views of landing pages.
func LinkViews() Stream {
	agents := newAgentParser()
	return Stream{
		Topic:   event.LinkViewTopic,
		Table:   "link_views",
		Link:    "generic_link_id",
		Decoder: func() Decoder { return &linkViewDecoder{erased: noOne{}} },
		decoder: func(erased ErasedIDs) Decoder { return &linkViewDecoder{erased: erased} },
		Tables:  newTables(func() Table { return newLinkViewTable(agents) }),
		blanked: blankView,
	}
}

func blankView(record []byte, erased ErasedIDs) []byte {
	var v event.LinkView
	if err := v.Decode(record); err != nil || !erased.Has(v.AccountID) {
		return record
	}
	v.Blank()
	return v.Append(nil)
}

// linkViewTable holds rows of lodestone.link_views, column by column.
type linkViewTable struct {
	accountID, leadMagnetID, genericLinkID, eventID idColumn
	referrer, url                                   stringColumn
	ipHash                                          proto.ColFixedStr16
	visitor                                         visitorColumns
	bot, suspect                                    *textColumn
	createdAt, receivedAt                           *proto.ColDateTime64
	place                                           placeColumns

	columns proto.Input
}

func newLinkViewTable(agents *agentParser) *linkViewTable {
	t := &linkViewTable{
		visitor:    newVisitorColumns(agents),
		bot:        newTextColumn(),
		suspect:    newTextColumn(),
		createdAt:  newMillis(),
		receivedAt: newMillis(),
		place:      newPlaceColumns(),
	}
	t.columns = append(proto.Input{
		{Name: "account_id", Data: &t.accountID},
		{Name: "lead_magnet_id", Data: &t.leadMagnetID},
		{Name: "generic_link_id", Data: &t.genericLinkID},
		{Name: "event_id", Data: &t.eventID},
		{Name: "referrer", Data: &t.referrer},
		{Name: "url", Data: &t.url},
		{Name: "ip_hash", Data: &t.ipHash},
		{Name: "bot", Data: t.bot},
		{Name: "suspect", Data: t.suspect},
		{Name: "created_at", Data: t.createdAt},
		{Name: "received_at", Data: t.receivedAt},
	}, append(t.visitor.columns(), t.place.columns()...)...)
	return t
}

// linkViewRowBytes is the size of a row without its texts.
const linkViewRowBytes = 178

// linkViewDecoder reads records of link views.
type linkViewDecoder struct {
	view   event.LinkView
	erased ErasedIDs
}

func (d *linkViewDecoder) Decode(record []byte) (Record, error) {
	v := &d.view
	if err := v.Decode(record); err != nil {
		return Record{}, err
	}
	if d.erased.Has(v.AccountID) {
		v.Blank()
	}
	return Record{
		Identity: Identity{Link: v.GenericLinkID, Event: v.EventID},
		Account:  v.AccountID, CreatedAt: v.CreatedAt, ReceivedAt: v.ReceivedAt, Spooled: v.Spooled,
		Size: linkViewRowBytes + int64(len(v.Referrer)+len(v.URL)),
	}, nil
}

// Peek does not guess: link views are few.
func (d *linkViewDecoder) Peek([]byte) Identity { return Identity{} }

func (d *linkViewDecoder) Add(to Table, at Place) {
	v, t := &d.view, to.(*linkViewTable)
	t.accountID.Append(v.AccountID)
	t.leadMagnetID.Append(v.LeadMagnetID)
	t.genericLinkID.Append(v.GenericLinkID)
	t.eventID.Append(v.EventID)
	t.referrer.Append(v.Referrer)
	t.url.Append(v.URL)
	t.ipHash.Append(v.IPHash)
	t.visitor.add(v.UserAgent, v.Origin)
	t.bot.AppendString(v.Bot)
	t.suspect.AppendString(v.Suspect)
	t.createdAt.AppendRaw(proto.DateTime64(v.CreatedAt))
	t.receivedAt.AppendRaw(proto.DateTime64(v.ReceivedAt))
	t.place.add(at)
}

func (t *linkViewTable) addRow(from Table, row int) {
	f := from.(*linkViewTable)
	t.accountID.AppendRow(f.accountID, row)
	t.leadMagnetID.AppendRow(f.leadMagnetID, row)
	t.genericLinkID.AppendRow(f.genericLinkID, row)
	t.eventID.AppendRow(f.eventID, row)
	t.referrer.AppendRow(&f.referrer, row)
	t.url.AppendRow(&f.url, row)
	t.ipHash.Append(f.ipHash[row])
	t.visitor.addRow(&f.visitor, row)
	t.bot.Append(f.bot.Row(row))
	t.suspect.Append(f.suspect.Row(row))
	t.createdAt.AppendRaw(f.createdAt.Data[row])
	t.receivedAt.AppendRaw(f.receivedAt.Data[row])
	t.place.addRow(&f.place, row)
}

func (t *linkViewTable) Offsets() []int64 { return t.place.offset }

func (t *linkViewTable) Partitions() []int32 { return t.place.partition }

func (t *linkViewTable) Record(row int) Record {
	return Record{
		Identity: Identity{Link: t.genericLinkID.Row(row), Event: t.eventID.Row(row)},
		Account:  t.accountID.Row(row), CreatedAt: int64(t.createdAt.Data[row]),
	}
}

func (t *linkViewTable) Input(before time.Time) proto.Input {
	t.place.bound(before)
	return t.columns
}

func (t *linkViewTable) Reset() {
	t.columns.Reset()
	t.visitor.reset()
}

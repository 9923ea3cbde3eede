package consumer

import (
	"time"

	"github.com/ClickHouse/ch-go/proto"

	"lodestone/pkg/event"
)

// linkViewStream is the way of views of landing pages.
func linkViewStream() stream {
	return stream{
		topic: event.LinkViewTopic,
		table: "link_views",
		link:  "generic_link_id",
		make:  func() table { return newLinkViewTable() },
	}
}

// linkViewTable holds rows of lodestone.link_views, column by column.
type linkViewTable struct {
	view event.LinkView

	accountID, leadMagnetID, genericLinkID, eventID proto.ColUUID
	referrer, url                                   proto.ColStr
	ipHash                                          proto.ColFixedStr16
	userAgent, bot                                  *proto.ColLowCardinality[string]
	createdAt, receivedAt                           *proto.ColDateTime64
	place                                           placeColumns

	columns proto.Input
}

func newLinkViewTable() *linkViewTable {
	t := &linkViewTable{
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
		{Name: "event_id", Data: &t.eventID},
		{Name: "referrer", Data: &t.referrer},
		{Name: "url", Data: &t.url},
		{Name: "ip_hash", Data: &t.ipHash},
		{Name: "user_agent", Data: t.userAgent},
		{Name: "bot", Data: t.bot},
		{Name: "created_at", Data: t.createdAt},
		{Name: "received_at", Data: t.receivedAt},
	}, t.place.columns()...)
	return t
}

func (t *linkViewTable) decode(record []byte) (decoded, error) {
	v := &t.view
	if err := v.Decode(record); err != nil {
		return decoded{}, err
	}
	return decoded{
		identity: identity{link: v.GenericLinkID, event: v.EventID},
		account:  v.AccountID, createdAt: v.CreatedAt, receivedAt: v.ReceivedAt, spooled: v.Spooled,
	}, nil
}

func (t *linkViewTable) add(at origin) {
	v := &t.view
	t.accountID.Append(v.AccountID)
	t.leadMagnetID.Append(v.LeadMagnetID)
	t.genericLinkID.Append(v.GenericLinkID)
	t.eventID.Append(v.EventID)
	t.referrer.AppendBytes(v.Referrer)
	t.url.AppendBytes(v.URL)
	t.ipHash.Append(v.IPHash)
	t.userAgent.Append(string(v.UserAgent))
	t.bot.Append(v.Bot)
	t.createdAt.AppendRaw(proto.DateTime64(v.CreatedAt))
	t.receivedAt.AppendRaw(proto.DateTime64(v.ReceivedAt))
	t.place.add(at)
}

func (t *linkViewTable) rows() int { return t.place.rows() }

func (t *linkViewTable) input(before time.Time) proto.Input {
	t.place.bound(before)
	return t.columns
}

func (t *linkViewTable) reset() { t.columns.Reset() }

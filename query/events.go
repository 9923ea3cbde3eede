package query

import (
	"bytes"
	"context"
	"encoding/hex"
	plain "encoding/json"
	"fmt"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"

	"lodestone/pkg/api"
	"lodestone/pkg/auth"
	"lodestone/pkg/event"
	"lodestone/pkg/jsonschema"
	"lodestone/pkg/problem"
	"lodestone/query/eventlist"
)

// eventType is the name of a type of events.
type eventType string

// EnumValues implements jsonschema.Enum.
func (eventType) EnumValues() []string {
	var names []string
	for _, t := range event.Types() {
		names = append(names, t.String())
	}
	return names
}

// EventFilter says which events are listed or exported.
type EventFilter struct {
	AccessLinkID  *uuid.UUID `query:"access_link_id" doc:"Only events of this access link."`
	LeadMagnetID  *uuid.UUID `query:"lead_magnet_id" doc:"Only events of this lead magnet."`
	EventType     eventType  `query:"event_type" doc:"Only events of this type."`
	From          *time.Time `query:"from" doc:"Only events created at or after this time (ISO 8601)."`
	To            *time.Time `query:"to" doc:"Only events created before this time (ISO 8601)."`
	ReceivedAfter *time.Time `query:"received_after" doc:"Only events that entered this list after this time (ISO 8601), whenever they happened. To fetch new events without missing any, send the pagination.next_received_after of the previous fetch."`
	Bot           *bool      `query:"bot" doc:"true: only events of bots; false: no events of bots."`
}

type listEventsInput struct {
	api.CursorPaging
	EventFilter
}

// Event is an analytics event as the API shows it.
type Event struct {
	ID           uuid.UUID  `json:"id" format:"uuid" doc:"Unique within the access link."`
	AccessLinkID uuid.UUID  `json:"access_link_id" format:"uuid" doc:"Access link of the event."`
	EventType    eventType  `json:"event_type" doc:"Type of the event."`
	EventData    jsonObject `json:"event_data" doc:"Data of the event, such as the page number."`
	IPHash       *string    `json:"ip_hash" doc:"Keyed hash of the visitor's address; the key is destroyed within two days. Null if the address is withheld."`
	UserAgent    *string    `json:"user_agent" doc:"User agent of the visitor. Null if withheld."`
	CreatedAt    api.Time   `json:"created_at" doc:"When it happened."`
}

// EventPage is one page of a list of events.
type EventPage struct {
	Data       []Event         `json:"data" nullable:"false"`
	Pagination EventPagination `json:"pagination"`
}

// EventPagination is the Pagination of a list of events.
type EventPagination struct {
	Page              *int    `json:"page" minimum:"1" doc:"Number of this page, from 1. Null for pages requested by cursor."`
	PerPage           int     `json:"per_page" doc:"Elements per page."`
	Total             int64   `json:"total" doc:"Elements on all pages."`
	TotalPages        int64   `json:"total_pages" doc:"Number of pages."`
	NextCursor        *string `json:"next_cursor" doc:"Cursor of the next page; null on the last page."`
	NextReceivedAfter place   `json:"next_received_after" doc:"Value of received_after for the next fetch of new events. It is a few seconds in the past, so that events being stored now are not missed. A few events therefore appear twice; identify them by access_link_id and id. Send it unchanged: with several copies of the events, its microseconds identify the copy. When you follow cursors, every page has the value of the first page. With numbered pages, use the value of the first page."`
}

// place is a time of the API that tells the copy of the events that it is of
// (scope.ClickHouse.Resume).
type place struct{ api.Time }

// MarshalJSON implements json.Marshaler.
func (p place) MarshalJSON() ([]byte, error) {
	t := p.UTC()
	if t.Equal(t.Truncate(time.Millisecond)) {
		return p.Time.MarshalJSON()
	}
	return []byte(t.Format(`"2006-01-02T15:04:05.000000Z"`)), nil
}

// events is the result of reading a page: its events and one more, if there is one, the length of
// the list, and the time up to which it is complete.
type events struct {
	list    []eventlist.Event
	total   int64
	settled time.Time
}

func (q *Query) listEvents(ctx context.Context, in *listEventsInput) (*api.Answer[EventPage], error) {
	filter, err := in.filter()
	if err != nil {
		return nil, err
	}
	account := auth.From(ctx).AccountID
	found, err := q.read(ctx, account, filter, in.CursorPaging)
	if err != nil {
		return nil, err
	}
	list := found.list
	if len(list) > 0 { // events may be stored between the count and the page
		found.total = max(found.total, in.Offset()+int64(len(list)))
	}
	next := ""
	if int64(len(list)) > in.Limit() { // one more was read, to know whether there is a next page
		list = list[:in.Limit()]
		if next, err = q.cursors.seal(ctx, account, filter.Cursor(account, list[len(list)-1].Position,
			found.settled)); err != nil {
			return nil, err
		}
	}
	data := make([]Event, len(list))
	for i := range list {
		data[i] = present(&list[i])
	}
	page := api.ListCursor(ctx, in.CursorPaging, data, found.total, next)
	at := page.Body.Pagination
	return &api.Answer[EventPage]{Header: page.Header, Body: EventPage{
		page.Body.Data, EventPagination{at.Page, at.PerPage, at.Total, at.TotalPages, at.NextCursor,
			place{api.TimeOf(found.settled)}},
	}}, nil
}

func (in *EventFilter) filter() (eventlist.Filter, error) {
	if in.From != nil && in.To != nil && in.From.After(*in.To) {
		return eventlist.Filter{}, problem.Parameter(problem.Field{Field: "from", Message: "must not be after to"})
	}
	kind, _ := event.ParseType(string(in.EventType)) // absent is zero, and others were refused
	return eventlist.Filter{
		AccessLinkID: in.AccessLinkID, LeadMagnetID: in.LeadMagnetID, Type: kind,
		From: in.From, To: in.To, ReceivedAfter: in.ReceivedAfter, Bot: in.Bot,
	}, nil
}

func (q *Query) read(ctx context.Context, account uuid.UUID, f eventlist.Filter,
	p api.CursorPaging) (found events, err error) {
	if p.Cursor != "" {
		var c eventlist.Cursor
		if err := q.cursors.open(ctx, account, p.Cursor, &c); err != nil {
			return events{}, err
		}
		after, err := f.Position(account, c)
		if err != nil {
			return events{}, problem.Parameter(problem.Field{Field: "cursor", Message: err.Error()})
		}
		found.list, found.total, err = q.events.After(ctx, account, q.inCopy(ctx, f), after, p.Limit()+1)
		found.settled = time.UnixMicro(c.Settled)
		return found, err
	}
	// First: what is settled after the list was read need not be in it.
	settled, err := q.events.Settled(ctx)
	if err != nil {
		return events{}, err
	}
	found.list, found.total, err = q.events.Page(ctx, account, q.inCopy(ctx, f), p.Offset(), p.Limit()+1)
	found.settled = q.ch.Resume(q.ch.At(ctx, settled))
	return found, err
}

// inCopy returns the filter for the copy of the events that the request reads. The one that was
// asked for stays what cursors are of.
func (q *Query) inCopy(ctx context.Context, f eventlist.Filter) eventlist.Filter {
	if f.ReceivedAfter != nil {
		f.ReceivedAfter = new(q.ch.From(ctx, *f.ReceivedAfter))
	}
	return f
}

func present(e *eventlist.Event) Event {
	shown := Event{
		ID: e.ID, AccessLinkID: e.AccessLinkID, EventType: eventType(e.Type), EventData: jsonObject{e.Data},
		CreatedAt: api.TimeOf(e.Position.CreatedAt),
	}
	if e.IPHash != ([16]byte{}) {
		hash := hex.EncodeToString(e.IPHash[:])
		shown.IPHash = &hash
	}
	if e.UserAgent != "" {
		shown.UserAgent = &e.UserAgent
	}
	return shown
}

// jsonObject is a JSON object that is passed on as it was stored.
type jsonObject struct{ text []byte }

// MarshalJSON implements json.Marshaler. What was stored is valid JSON, but the answer is stricter:
// a name may not occur twice and a surrogate may not stand alone. Such an object is written again,
// with the last of the names and a replacement character.
func (o jsonObject) MarshalJSON() ([]byte, error) {
	if jsontext.Value(o.text).IsValid() {
		return o.text, nil
	}
	var value map[string]any
	decoder := plain.NewDecoder(bytes.NewReader(o.text))
	decoder.UseNumber()
	if err := decoder.Decode(&value); err != nil {
		return nil, fmt.Errorf("read stored event_data: %w", err)
	}
	text, err := plain.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("write stored event_data: %w", err)
	}
	return text, nil
}

// JSONSchema implements jsonschema.Provider.
func (jsonObject) JSONSchema(*jsonschema.Set) *jsonschema.Schema {
	return jsonschema.AnyObject(map[string]any{"page": 3, "duration_ms": 8200})
}

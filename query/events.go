package query

import (
	"context"
	"encoding/hex"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"lodestone/pkg/api"
	"lodestone/pkg/auth"
	"lodestone/pkg/event"
	"lodestone/pkg/problem"
	"lodestone/query/eventlist"
)

type listEventsInput struct {
	api.CursorPaging
	AccessLinkID  *uuid.UUID `query:"access_link_id" doc:"Only events of this access link."`
	LeadMagnetID  *uuid.UUID `query:"lead_magnet_id" doc:"Only events of this lead magnet."`
	EventType     string     `query:"event_type" enum:"page_viewed,download_started,download_completed" doc:"Only events of this type."`
	From          *time.Time `query:"from" doc:"Only events created at or after this time (ISO 8601)."`
	To            *time.Time `query:"to" doc:"Only events created before this time (ISO 8601)."`
	ReceivedAfter *time.Time `query:"received_after" doc:"Only events received after this time (ISO 8601), whenever they happened: for pulls of what is new. An event can be listed a moment after it was received, so let pulls overlap by a minute."`
	Bot           *bool      `query:"bot" doc:"true: only events of bots; false: none of them."`
}

// Event is an analytics event as the API shows it.
type Event struct {
	ID           uuid.UUID  `json:"id" doc:"Unique within the access link."`
	AccessLinkID uuid.UUID  `json:"access_link_id"`
	EventType    string     `json:"event_type" enum:"page_viewed,download_started,download_completed"`
	EventData    jsonObject `json:"event_data" doc:"What belongs to the type of the event, such as the page."`
	IPHash       *string    `json:"ip_hash" doc:"Keyed hash of the visitor's address; the key is destroyed within two days. Null when withheld."`
	UserAgent    *string    `json:"user_agent" doc:"Null when withheld."`
	CreatedAt    api.Time   `json:"created_at" doc:"When it happened."`
}

func (q *Query) listEvents(ctx context.Context, in *listEventsInput) (*api.Answer[api.CursorPage[Event]], error) {
	filter, err := in.filter()
	if err != nil {
		return nil, err
	}
	account := auth.From(ctx).AccountID
	events, total, err := q.read(ctx, account, filter, in.CursorPaging)
	if err != nil {
		return nil, err
	}
	if len(events) > 0 { // the count may be a moment older than the page
		total = max(total, in.Offset()+int64(len(events)))
	}
	next := ""
	if int64(len(events)) > in.Limit() { // one more was read, to know whether there is a next page
		events = events[:in.Limit()]
		if next, err = api.EncodeCursor(filter.Cursor(account, events[len(events)-1].Position)); err != nil {
			return nil, err
		}
	}
	data := make([]Event, len(events))
	for i := range events {
		data[i] = present(&events[i])
	}
	return api.ListCursor(ctx, in.CursorPaging, data, total, next), nil
}

func (in *listEventsInput) filter() (eventlist.Filter, error) {
	if in.From != nil && in.To != nil && in.From.After(*in.To) {
		return eventlist.Filter{}, problem.Parameter(problem.Field{Field: "from", Message: "must not be after to"})
	}
	kind, _ := event.ParseType(in.EventType) // absent is zero, and others were refused
	return eventlist.Filter{
		AccessLinkID: in.AccessLinkID, LeadMagnetID: in.LeadMagnetID, Type: kind,
		From: in.From, To: in.To, ReceivedAfter: in.ReceivedAfter, Bot: in.Bot,
	}, nil
}

// read returns the events of a page and one more, if there is one, and how many the list has.
func (q *Query) read(ctx context.Context, account uuid.UUID, f eventlist.Filter, p api.CursorPaging) ([]eventlist.Event, int64, error) {
	limit := p.Limit() + 1
	if p.Cursor != "" {
		var c eventlist.Cursor
		if err := api.DecodeCursor(p.Cursor, &c); err != nil {
			return nil, 0, err
		}
		after, err := f.Position(account, c)
		if err != nil {
			return nil, 0, problem.Parameter(problem.Field{Field: "cursor", Message: err.Error()})
		}
		return q.countAnd(ctx, account, f, func(ctx context.Context) ([]eventlist.Event, error) {
			return q.events.After(ctx, account, f, after, limit)
		})
	}
	if p.Page == 1 {
		return q.countAnd(ctx, account, f, func(ctx context.Context) ([]eventlist.Event, error) {
			return q.events.Page(ctx, account, f, 0, limit)
		})
	}
	// Not at the same time: beyond the end there is nothing to skip to.
	total, err := q.events.Count(ctx, account, f)
	if err != nil || p.Offset() >= total {
		return nil, total, err
	}
	events, err := q.events.Page(ctx, account, f, p.Offset(), limit)
	return events, total, err
}

// countAnd counts the list while it reads events of it.
func (q *Query) countAnd(ctx context.Context, account uuid.UUID, f eventlist.Filter, read func(context.Context) ([]eventlist.Event, error)) (events []eventlist.Event, total int64, err error) {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		total, err = q.events.Count(ctx, account, f)
		return err
	})
	group.Go(func() (err error) {
		events, err = read(ctx)
		return err
	})
	err = group.Wait()
	return events, total, err
}

func present(e *eventlist.Event) Event {
	shown := Event{
		ID: e.ID, AccessLinkID: e.AccessLinkID, EventType: e.Type, EventData: jsonObject{e.Data},
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

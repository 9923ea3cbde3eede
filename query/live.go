package query

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"

	"lodestone/pkg/api"
	"lodestone/pkg/auth"
	"lodestone/pkg/problem"
	"lodestone/query/live"
	"lodestone/query/scope"
)

type liveInput struct {
	EventFilter
	LastEventID string `query:"last_event_id" maxLength:"16384" pattern:"^[A-Za-z0-9_-]*$" patternDescription:"an id that this stream sent" doc:"As the header Last-Event-ID, for clients that cannot set it. The header takes precedence."`
	LastSeen    string `header:"Last-Event-ID" maxLength:"16384" doc:"The id of the last message that you received. The stream continues after it without loss, and repeats events stored in the 10 seconds before: identify events by access_link_id and id. Without it, the stream begins with the next stored event."`
}

// after returns the id from which the stream is to continue; zero: with what is new.
func (in *liveInput) after(ctx context.Context, c *cursors) (time.Time, error) {
	name, text := "Last-Event-ID", in.LastSeen
	if text == "" {
		name, text = "last_event_id", in.LastEventID
	}
	if text == "" {
		return time.Time{}, nil
	}
	var microseconds int64
	err := c.open(ctx, auth.From(ctx).AccountID, text, &microseconds)
	if problem.Is(err, problem.InvalidParameter) {
		err = problem.Parameter(problem.Field{Field: name, Message: "is not an id that this stream sent"})
	}
	return time.UnixMicro(microseconds), err
}

const liveDescription = "Server-sent events: each event of people, or with bot=true of bots, is sent at least once, about as soon as the list of " +
	"events has it, and in the same form. A message has its id, its type, and the event as data, in this order; a message without " +
	"data gives the id at which the stream begins. After a lost connection, send the id of the last message as Last-Event-ID. A " +
	"comment every 15 seconds shows that the connection works. An account may have 20 streams. A client that is too slow is " +
	"disconnected. The stream ends within a minute after its key is revoked or expires. Pages of the dashboard send their session " +
	"cookie instead of a key."

const liveExample = "id: AbjrzIz3MQAB\nevent: page_viewed\n" +
	`data: {"id":"0191d3c5-8a4e-7c1f-9b1d-3f2f6f0a7e55","access_link_id":"0191d3c5-8a4e-7c1f-9b1d-3f2f6f0a7e56","event_type":"page_viewed",` +
	`"event_data":{"page":3,"duration_ms":8200},"ip_hash":"9f86d081884c7d659a2feaa0c55ad015","user_agent":null,"created_at":"2026-03-01T09:30:00.000Z"}` + "\n\n"

// registerLive adds the stream of events.
func (q *Query) registerLive(a *api.API) {
	api.RegisterStream(a, api.Operation{
		ID: "stream-analytics-events", Method: http.MethodGet, Path: "/api/v1/analytics/live",
		Scope: auth.Read, Tag: tag, Sessions: true,
		Summary: "Stream analytics events", Description: liveDescription, Errors: []problem.Code{problem.RateLimited},
	}, liveExample, q.streamEvents)
}

func (q *Query) streamEvents(ctx context.Context, in *liveInput) (api.Source, error) {
	if in.Bot == nil {
		in.Bot = new(false)
	}
	filter, err := in.filter()
	if err != nil {
		return nil, err
	}
	after, err := in.after(ctx, q.cursors)
	if err != nil {
		return nil, err
	}
	listener, err := q.live.Listen(auth.From(ctx).AccountID, q.inCopy(ctx, filter), after)
	switch {
	case errors.Is(err, live.ErrAccount):
		return nil, problem.New(problem.RateLimited,
			"The account has reached its limit of streams. Close one, or use one for several purposes.").RetryAfter(liveAgain)
	case errors.Is(err, live.ErrFull):
		return nil, problem.New(problem.Unavailable,
			"The server has reached its limit of streams. Connect again later.").RetryAfter(liveAgain)
	case errors.Is(err, live.ErrAhead):
		return nil, problem.Parameter(problem.Field{Field: "Last-Event-ID",
			Message: "is ahead of everything that is stored: connect without it"})
	case err != nil:
		return nil, err
	}
	return &liveSource{Listener: listener, ch: q.ch, cursors: q.cursors, account: auth.From(ctx).AccountID}, nil
}

// liveAgain is after what time a stream that was refused can be tried again.
const liveAgain = 10 * time.Second

// liveSource is a listener whose events are sent.
type liveSource struct {
	*live.Listener
	ch      *scope.ClickHouse
	cursors *cursors
	account uuid.UUID
	begun   bool
}

// Next implements api.Source.
func (s *liveSource) Next(ctx context.Context) ([]byte, error) {
	if !s.begun {
		first, err := s.Begin(ctx)
		if err != nil {
			return nil, err
		}
		id, err := s.id(ctx, first)
		s.begun = err == nil
		return []byte("id: " + id + "\nretry: 1000\n\n"), err
	}
	messages, err := s.Listener.Next(ctx)
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	for _, m := range messages {
		id, err := s.id(ctx, m.ID) // by the key that the first message took
		if err != nil {
			return nil, err
		}
		data, err := json.Marshal(present(m.Event), jsontext.AllowInvalidUTF8(true))
		if err != nil {
			return nil, fmt.Errorf("encode event: %w", err)
		}
		text.WriteString("id: " + id + "\nevent: " + m.Event.Type + "\ndata: ")
		text.Write(data)
		text.WriteString("\n\n")
	}
	return text.Bytes(), nil
}

// id returns the text of an id.
func (s *liveSource) id(ctx context.Context, at time.Time) (string, error) {
	return s.cursors.seal(ctx, s.account, s.ch.Resume(at).UnixMicro())
}

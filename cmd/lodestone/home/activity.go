package home

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/pkg/store"
	"lodestone/query/eventlist"
	"lodestone/query/live"
)

// shown is how many activities the page shows.
const shown = 40

// Activity is one action of a visitor.
type Activity struct {
	ID    string    `json:"id"` // unique
	At    time.Time `json:"at"`
	Who   string    `json:"who"`   // an address; "": its link is deleted
	What  string    `json:"what"`  // such as "read page 3 for 8 s"
	Title string    `json:"title"` // of the document
	Kind  string    `json:"kind"`  // asked, opened, read or downloaded
	Bot   bool      `json:"bot"`   // a program did it

	// Reader is the path of the dashboard's screen of the reader.
	Reader string `json:"reader,omitempty"`

	// Session is the id of the session in which it happened, the ID of its opening.
	Session string `json:"session,omitempty"`
}

// newest returns the latest actions: forms and sessions from Postgres, and events.
func (h *Home) newest(ctx context.Context) ([]Activity, error) {
	events, err := h.deps.Live.Newest(ctx, h.deps.Account, shown)
	if err != nil {
		return nil, err
	}
	var activities []Activity
	err = h.deps.Postgres.AccountSnapshot(ctx, h.deps.Account, func(tx pgx.Tx) (err error) {
		if activities, err = h.entered(ctx, tx); err != nil {
			return err
		}
		read, err := h.activitiesOf(ctx, tx, events)
		activities = append(activities, read...)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read what happened: %w", err)
	}
	slices.SortStableFunc(activities, func(a, b Activity) int { return b.At.Compare(a.At) })
	markBots(activities)
	return activities[:min(shown, len(activities))], nil
}

// markBots marks all of a session in which a bot read.
func markBots(activities []Activity) {
	bots := map[string]bool{}
	for _, a := range activities {
		if a.Bot && a.Session != "" {
			bots[a.Session] = true
		}
	}
	for i := range activities {
		a := &activities[i]
		a.Bot = a.Bot || bots[a.Session] || bots[a.ID]
	}
}

// activitiesOf returns events as activities.
func (h *Home) activitiesOf(ctx context.Context, tx pgx.Tx, events []*live.Event) ([]Activity, error) {
	readers, err := readersOf(ctx, tx, events)
	if err != nil {
		return nil, err
	}
	activities := make([]Activity, len(events))
	for i, e := range events {
		a := Activity{ID: e.AccessLinkID.String() + "/" + e.ID.String(), At: e.Position.CreatedAt, Bot: e.Bot}
		if r, ok := readers[e.AccessLinkID]; ok {
			a.Who, a.Title, a.Reader = r.Email, r.Title, h.reader(r.ID)
		}
		a.Kind, a.What = describe(&e.Event)
		if e.SessionID != uuid.Nil {
			a.Session = e.SessionID.String()
		}
		activities[i] = a
	}
	return activities, nil
}

// entered returns the newest forms and sessions.
func (h *Home) entered(ctx context.Context, tx pgx.Tx) ([]Activity, error) {
	rows, err := store.New(tx).NewestEntries(ctx, shown)
	if err != nil {
		return nil, err //nolint:wrapcheck // the caller does
	}
	texts := map[string]string{"asked": "asked for the document", "opened": "opened the document"}
	activities := make([]Activity, 0, 2*shown)
	for _, r := range rows {
		activities = append(activities, Activity{ID: r.ID.String(), At: r.At.UTC(), Who: r.Email, Title: r.Title, Kind: r.Kind, What: texts[r.Kind], Reader: h.reader(r.AccessLinkID)})
	}
	return activities, nil
}

// reader returns the path of the dashboard's screen of who has an access link; "" without one.
func (h *Home) reader(link uuid.UUID) string {
	if link == uuid.Nil {
		return ""
	}
	return h.deps.Pages.Path("/dashboard/readers/" + link.String())
}

// readersOf returns who reads what, by access link.
func readersOf(ctx context.Context, tx pgx.Tx, events []*live.Event) (map[uuid.UUID]store.ReadersOfRow, error) {
	ids := make([]uuid.UUID, len(events))
	for i := range events {
		ids[i] = events[i].AccessLinkID
	}
	rows, err := store.New(tx).ReadersOf(ctx, ids)
	if err != nil {
		return nil, err //nolint:wrapcheck // the caller does
	}
	readers := map[uuid.UUID]store.ReadersOfRow{}
	for _, r := range rows {
		readers[r.ID] = r
	}
	return readers, nil
}

// describe returns the kind of an event and a text for it.
func describe(e *eventlist.Event) (kind, what string) {
	switch e.Type {
	case "download_started":
		return "downloaded", "clicked on download"
	case "download_completed":
		return "downloaded", "downloaded the complete file"
	}
	// Who sends events may put anything into them.
	var d struct {
		Page     json.Number `json:"page"`
		Duration json.Number `json:"duration_ms"`
	}
	_ = json.Unmarshal(e.Data, &d) // then there is no page
	page, err := strconv.Atoi(d.Page.String())
	if err != nil {
		return "read", "read a page"
	}
	what = "read page " + strconv.Itoa(page)
	if ms, err := strconv.ParseInt(d.Duration.String(), 10, 64); err == nil && ms > 0 {
		what += " for " + span(time.Duration(ms)*time.Millisecond)
	}
	return "read", what
}

// span says a time as people do.
func span(d time.Duration) string {
	switch {
	case d < 9950*time.Millisecond:
		return strconv.FormatFloat(d.Seconds(), 'f', 1, 64) + " s"
	case d < 10*time.Second:
		return "10 s"
	case d < time.Minute:
		return strconv.Itoa(int(d.Seconds())) + " s"
	case d < time.Hour:
		return strconv.Itoa(int(d.Minutes())) + " min " + strconv.Itoa(int(d.Seconds())%60) + " s"
	default:
		return strconv.Itoa(int(d.Hours())) + " h " + strconv.Itoa(int(d.Minutes())%60) + " min"
	}
}

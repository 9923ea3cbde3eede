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

	"lodestone/query/eventlist"
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
}

// newest returns the latest actions of people: forms and sessions from Postgres, and events.
func (h *Home) newest(ctx context.Context) ([]Activity, error) {
	people := false
	events, _, err := h.deps.Events.Page(ctx, h.deps.Account, eventlist.Filter{Bot: &people}, 0, shown)
	if err != nil {
		return nil, err
	}
	var activities []Activity
	err = h.deps.Postgres.AccountSnapshot(ctx, h.deps.Account, func(tx pgx.Tx) (err error) {
		if activities, err = entered(ctx, tx); err != nil {
			return err
		}
		readers, err := readersOf(ctx, tx, events)
		if err != nil {
			return err
		}
		for i := range events {
			e := &events[i]
			m := Activity{ID: e.AccessLinkID.String() + "/" + e.ID.String(), At: e.Position.CreatedAt}
			m.Who, m.Title = readers[e.AccessLinkID].email, readers[e.AccessLinkID].title
			m.Kind, m.What = describe(e)
			activities = append(activities, m)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read what happened: %w", err)
	}
	slices.SortStableFunc(activities, func(a, b Activity) int { return b.At.Compare(a.At) })
	return activities[:min(shown, len(activities))], nil
}

// entered returns the newest forms and sessions.
func entered(ctx context.Context, tx pgx.Tx) ([]Activity, error) {
	rows, err := tx.Query(ctx, `
		(SELECT s.id, s.submitted_at AS at, s.email, m.title, 'asked' AS kind
		 FROM submissions s JOIN generic_links g ON g.id = s.generic_link_id JOIN lead_magnets m ON m.id = g.lead_magnet_id
		 ORDER BY s.submitted_at DESC LIMIT $1)
		UNION ALL
		(SELECT s.id, s.started_at, a.email, m.title, 'opened'
		 FROM sessions s JOIN access_links a ON a.id = s.access_link_id JOIN lead_magnets m ON m.id = a.lead_magnet_id
		 ORDER BY s.started_at DESC LIMIT $1)
		ORDER BY at DESC LIMIT $1`, shown)
	if err != nil {
		return nil, err //nolint:wrapcheck // the caller does
	}
	texts := map[string]string{"asked": "asked for the document", "opened": "opened the document"}
	activities := make([]Activity, 0, 2*shown)
	for rows.Next() {
		var id uuid.UUID
		var m Activity
		if err := rows.Scan(&id, &m.At, &m.Who, &m.Title, &m.Kind); err != nil {
			return nil, err //nolint:wrapcheck // the caller does
		}
		m.ID, m.What, m.At = id.String(), texts[m.Kind], m.At.UTC()
		activities = append(activities, m)
	}
	return activities, rows.Err() //nolint:wrapcheck // the caller does
}

type reader struct{ email, title string }

// readersOf returns who reads what, by access link.
func readersOf(ctx context.Context, tx pgx.Tx, events []eventlist.Event) (map[uuid.UUID]reader, error) {
	ids := make([]uuid.UUID, len(events))
	for i := range events {
		ids[i] = events[i].AccessLinkID
	}
	rows, err := tx.Query(ctx, `
		SELECT a.id, a.email, m.title FROM access_links a JOIN lead_magnets m ON m.id = a.lead_magnet_id WHERE a.id = ANY ($1)`, ids)
	if err != nil {
		return nil, err //nolint:wrapcheck // the caller does
	}
	readers := map[uuid.UUID]reader{}
	for rows.Next() {
		var id uuid.UUID
		var r reader
		if err := rows.Scan(&id, &r.email, &r.title); err != nil {
			return nil, err //nolint:wrapcheck // the caller does
		}
		readers[id] = r
	}
	return readers, rows.Err() //nolint:wrapcheck // the caller does
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

package client

import (
	"context"
	"net/url"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// Event is one action of a reader in the document of an access link.
type Event struct {
	ID           string         `json:"id"`
	AccessLinkID string         `json:"access_link_id"`
	EventType    string         `json:"event_type"`
	EventData    jsontext.Value `json:"event_data"` // an object
	IPHash       *string        `json:"ip_hash"`
	UserAgent    *string        `json:"user_agent"`
	CreatedAt    time.Time      `json:"created_at"`
}

// EventFilter selects events. Empty fields match all events. Cursor cannot be combined with Page.
type EventFilter struct {
	Paging
	Cursor        string
	AccessLinkID  string
	LeadMagnetID  string
	EventType     string
	From          time.Time // inclusive
	To            time.Time // exclusive
	ReceivedAfter time.Time // exclusive; NextReceivedAfter of the pull before
	Bot           *bool
}

// Events returns a page of the events, the newest first.
func (c *Client) Events(ctx context.Context, f EventFilter) (Page[Event], error) {
	q := f.Query()
	set(q, "cursor", f.Cursor)
	set(q, "access_link_id", f.AccessLinkID)
	set(q, "lead_magnet_id", f.LeadMagnetID)
	set(q, "event_type", f.EventType)
	setTime(q, "from", f.From)
	setTime(q, "to", f.To)
	setTime(q, "received_after", f.ReceivedAfter)
	if f.Bot != nil {
		q.Set("bot", strconv.FormatBool(*f.Bot))
	}
	return Get[Page[Event]](ctx, c, eventsPath, q)
}

// EmailSummary summarises the activity of one email address. Times are nil when there is none.
type EmailSummary struct {
	TotalLinks        int64      `json:"total_links"`
	TotalViews        int64      `json:"total_views"`
	UniqueLeadMagnets int64      `json:"unique_lead_magnets"`
	FirstLinkCreated  *time.Time `json:"first_link_created"`
	LastLinkCreated   *time.Time `json:"last_link_created"`
	FirstAccess       *time.Time `json:"first_access"`
	LastAccess        *time.Time `json:"last_access"`
}

// EmailSummary returns the summary of an address, over one lead magnet or, with "", over all.
func (c *Client) EmailSummary(ctx context.Context, email, leadMagnetID string) (EmailSummary, error) {
	q := url.Values{"email": {email}}
	set(q, "lead_magnet_id", leadMagnetID)
	return Get[EmailSummary](ctx, c, emailSumPath, q)
}

func setTime(q url.Values, name string, t time.Time) {
	if !t.IsZero() {
		q.Set(name, t.UTC().Format(time.RFC3339Nano))
	}
}

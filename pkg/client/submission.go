package client

import (
	"context"
	"net/url"
	"time"
)

// Submission is an address that a generic link captured. Name is nil where the link collects none.
type Submission struct {
	ID            string     `json:"id"`
	GenericLinkID string     `json:"generic_link_id"`
	Email         string     `json:"email"`
	Name          *string    `json:"name"`
	State         string     `json:"state"`
	Verified      bool       `json:"verified"`
	Viewed        bool       `json:"viewed"`
	ViewCount     int64      `json:"view_count"`
	SubmittedAt   time.Time  `json:"submitted_at"`
	FirstViewedAt *time.Time `json:"first_viewed_at"`
	LastViewedAt  *time.Time `json:"last_viewed_at"`

	Answers     map[string]string `json:"answers"`
	UTM         map[string]string `json:"utm"`
	ConsentedAt *time.Time        `json:"consented_at"`

	VerificationEndsAt *time.Time `json:"verification_ends_at"`

	Agreements []AcceptedAgreement `json:"agreements"` // oldest first
}

// AcceptedAgreement is a text that a visitor accepted with a submission.
type AcceptedAgreement struct {
	Title      *string   `json:"title"`
	Text       string    `json:"text"`
	AcceptedAt time.Time `json:"accepted_at"`
}

// SubmissionFilter chooses submissions. Empty fields choose all. Cursor is not used together with
// Page.
type SubmissionFilter struct {
	Paging
	Cursor string
	Since  time.Time // exclusive
	Until  time.Time // exclusive
}

// Submissions returns a page of the submissions of a generic link, the newest first.
func (c *Client) Submissions(ctx context.Context, genericLinkID string, f SubmissionFilter) (Page[Submission], error) {
	q := f.Query()
	set(q, "cursor", f.Cursor)
	setTime(q, "since", f.Since)
	setTime(q, "until", f.Until)
	return Get[Page[Submission]](ctx, c, linksPath+"/"+url.PathEscape(genericLinkID)+"/submissions", q)
}

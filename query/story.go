package query

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/google/uuid"

	"lodestone/pkg/api"
	"lodestone/pkg/auth"
	"lodestone/pkg/jsonschema"
	"lodestone/pkg/problem"
	"lodestone/pkg/store"
	"lodestone/query/reader"
)

type storyInput struct {
	ID uuid.UUID `path:"access_link_id" doc:"Id of an access link of the person."`
}

// ReaderStory is all that is known of the person behind an access link.
type ReaderStory struct {
	AccessLinkID uuid.UUID          `json:"access_link_id" format:"uuid" doc:"Requested access link."`
	PersonID     uuid.UUID          `json:"person_id" format:"uuid" doc:"The person behind its address; the access link itself if it was deleted."`
	Email        *string            `json:"email" doc:"Address, as typed for the newest of the access links; null if the access link was deleted."`
	Name         *string            `json:"name" doc:"Name that was set for the person, else that of the newest submission; null if there is none."`
	Status       *string            `json:"status" doc:"Status of the person; null if the access link was deleted. get-person has more."`
	Source       ReaderSource       `json:"source" doc:"Where the person came from first: the source of their first submission."`
	Totals       ReaderTotals       `json:"totals" doc:"What the person did, through all access links."`
	AccessLinks  []ReaderLink       `json:"access_links" nullable:"false" doc:"Access links of the address, oldest first. Empty if the access link was deleted: then only its events form the story."`
	Submission   *ReaderSubmission  `json:"submission" nullable:"true" doc:"Submission that the access link was created for; null if there is none."`
	Submissions  []ReaderSubmission `json:"submissions" nullable:"false" doc:"All submissions that the access links were created for, oldest first."`
	Sessions     []ReaderSession    `json:"sessions" nullable:"false" doc:"Sessions through all access links, newest first, at most 500. Sessions with only downloads are listed, but not counted in totals."`
	Truncated    bool               `json:"truncated" doc:"Whether there are more than 500 sessions, or more than 5,000 visits and downloads. Then older sessions are omitted, as are visits and downloads of older sessions or at the end of a long one. The numbers still count them."`
	ExcludedBots int64              `json:"excluded_bots" doc:"Events of bots, which are excluded."`
	AsOf         api.Time           `json:"as_of" doc:"Everything stored before this time is included. Newer events may be."`
	Labels       map[string]string  `json:"labels" doc:"Titles of the lead magnets."`
}

// ReaderLink is an access link of a person.
type ReaderLink struct {
	ID            uuid.UUID  `json:"id" format:"uuid"`
	LeadMagnetID  uuid.UUID  `json:"lead_magnet_id" format:"uuid"`
	GenericLinkID *uuid.UUID `json:"generic_link_id" format:"uuid" doc:"Generic link through which it was created."`
	SubmissionID  *uuid.UUID `json:"submission_id" format:"uuid" doc:"Submission that it was created for."`
	Source        string     `json:"source" enum:"api,mail,form" doc:"How its URL was delivered. A link shown by a form (form) may be read by anyone who typed the address."`
	IsActive      bool       `json:"is_active" doc:"Whether it can be opened."`
	MaxViews      *int32     `json:"max_views" doc:"How many times it can be opened; null for no limit."`
	ExpiresAt     *api.Time  `json:"expires_at" doc:"When it expires; null for never."`
	CreatedAt     api.Time   `json:"created_at"`
}

// ReaderSubmission is a submission of a person.
type ReaderSubmission struct {
	ID            uuid.UUID          `json:"id" format:"uuid"`
	GenericLinkID uuid.UUID          `json:"generic_link_id" format:"uuid"`
	LeadMagnetID  uuid.UUID          `json:"lead_magnet_id" format:"uuid"`
	Email         string             `json:"email" doc:"Email address, as typed."`
	Name          *string            `json:"name" doc:"Name; null if none was given, or the generic link does not collect names."`
	Answers       []ReaderAnswer     `json:"answers" nullable:"false" doc:"Answers in the fields of the form, in its order."`
	State         submissionState    `json:"state" doc:"State: the address must be verified first, the document can be read, or the document was read."`
	Verified      bool               `json:"verified" doc:"Whether the address was verified."`
	VerifiedAt    *api.Time          `json:"verified_at"`
	SubmittedAt   api.Time           `json:"submitted_at"`
	UTM           *map[string]string `json:"utm" doc:"Parameters of the landing page's URL, such as utm_source; null if there were none."`
	Referrer      *string            `json:"referrer" doc:"Referrer of the landing page, without its query."`
	ConsentedAt   *api.Time          `json:"consented_at" doc:"When the visitor agreed to consent_text; null if there was none."`
	ConsentText   *string            `json:"consent_text" doc:"What the visitor agreed to, as it was shown."`
	PrivacyURL    *string            `json:"privacy_url" doc:"Privacy policy that was linked."`
}

// ReaderAnswer is an answer in a field of a form.
type ReaderAnswer struct {
	Key    string `json:"key" doc:"Key of the field."`
	Label  string `json:"label" doc:"Label of the field; its key if the form no longer has it."`
	Answer string `json:"answer"`
}

// submissionState is how far a submission is.
type submissionState string

const (
	awaitingVerification submissionState = "awaiting_verification"
	ready                submissionState = "ready"
	viewed               submissionState = "viewed"
)

// EnumValues implements jsonschema.Enum.
func (submissionState) EnumValues() []string {
	return jsonschema.Values([]submissionState{awaitingVerification, ready, viewed})
}

// ReaderSession is a session of a person.
type ReaderSession struct {
	SessionID    *uuid.UUID       `json:"session_id" format:"uuid" doc:"Null for an event without a session, which counts as a session."`
	AccessLinkID uuid.UUID        `json:"access_link_id" format:"uuid"`
	LeadMagnetID uuid.UUID        `json:"lead_magnet_id" format:"uuid"`
	StartedAt    api.Time         `json:"started_at" doc:"First event."`
	LastEventAt  api.Time         `json:"last_event_at"`
	Device       string           `json:"device" doc:"Kind of device: desktop, mobile, tablet, other or unknown."`
	UserAgent    *string          `json:"user_agent" doc:"Null if withheld."`
	PageViews    int64            `json:"page_views" doc:"Views of pages."`
	Pages        int64            `json:"pages" doc:"Distinct pages viewed."`
	ReadingMS    int64            `json:"reading_ms" doc:"Sum of the visible times, in milliseconds."`
	Visits       []PageVisit      `json:"visits" nullable:"false" doc:"Page views, in chronological order."`
	Downloads    []ReaderDownload `json:"downloads" nullable:"false" doc:"Downloads that began or were completed, in chronological order."`
}

// PageVisit is a view of a page.
type PageVisit struct {
	Page          *int     `json:"page" minimum:"1" doc:"Null if the event has none."`
	MagnetVersion int      `json:"magnet_version" doc:"Version of the document."`
	Start         api.Time `json:"start" doc:"When the page became visible."`
	MS            int64    `json:"ms" doc:"How long the page was visible, in milliseconds."`
}

// ReaderDownload is a download that began or was completed.
type ReaderDownload struct {
	EventType eventType `json:"event_type"`
	CreatedAt api.Time  `json:"created_at"`
}

// Timeless implements api.TimelessBody.
func (s ReaderStory) Timeless() any {
	s.AsOf = api.Time{}
	return s
}

func (q *Query) readerStory(ctx context.Context, in *storyInput) (*api.Answer[ReaderStory], error) {
	account := auth.From(ctx).AccountID
	s, err := q.readers.Story(ctx, account, in.ID)
	if errors.Is(err, reader.ErrUnknown) {
		return nil, problem.Missing("access link")
	}
	if err != nil {
		return nil, err
	}
	story := ReaderStory{
		AccessLinkID: in.ID, PersonID: s.ID, Email: s.Email, Name: s.Name, Status: s.Status,
		Source: presentSource(s.Source), Totals: presentTotals(&s.Activity),
		AccessLinks: make([]ReaderLink, len(s.Links)), Submissions: make([]ReaderSubmission, len(s.Submissions)),
		Sessions:  make([]ReaderSession, len(s.Sessions)),
		Truncated: s.Truncated, ExcludedBots: s.ExcludedBots, AsOf: api.TimeOf(s.AsOf),
	}
	for i, l := range s.Links {
		story.AccessLinks[i] = ReaderLink{
			l.ID, l.LeadMagnetID, l.GenericLinkID, l.SubmissionID, l.Source, l.IsActive, l.MaxViews,
			api.OptionalTime(l.ExpiresAt), api.TimeOf(l.CreatedAt),
		}
	}
	for i := range s.Submissions {
		if story.Submissions[i], err = presentSubmission(&s.Submissions[i]); err != nil {
			return nil, err
		}
		if &s.Submissions[i] == s.Submission {
			story.Submission = &story.Submissions[i]
		}
	}
	magnets := s.Magnets
	for i := range s.Sessions {
		story.Sessions[i] = presentSession(&s.Sessions[i])
	}
	for _, l := range s.Links {
		magnets = append(magnets, l.LeadMagnetID)
	}
	story.Labels, err = q.readers.Titles(ctx, account, magnets)
	return api.OK(story), err
}

func presentSubmission(s *store.SubmissionsOfReaderRow) (ReaderSubmission, error) {
	shown := ReaderSubmission{
		ID: s.ID, GenericLinkID: s.GenericLinkID, LeadMagnetID: s.LeadMagnetID, Email: s.Email,
		State: ready, Verified: s.Verified,
		VerifiedAt: api.OptionalTime(s.VerifiedAt), SubmittedAt: api.TimeOf(s.SubmittedAt), Referrer: s.Referrer,
		ConsentedAt: api.OptionalTime(s.ConsentedAt), ConsentText: s.ConsentText, PrivacyURL: s.PrivacyURL,
	}
	if s.CollectName {
		shown.Name = s.Name
	}
	switch {
	case s.Viewed:
		shown.State = viewed
	case s.VerificationRequired && !s.Verified:
		shown.State = awaitingVerification
	}
	var err error
	if shown.Answers, err = presentAnswers(s.Fields, s.Answers); err != nil {
		return ReaderSubmission{}, fmt.Errorf("read answers of submission %s: %w", s.ID, err)
	}
	if s.UTM != nil {
		if err := json.Unmarshal(s.UTM, &shown.UTM); err != nil {
			return ReaderSubmission{}, fmt.Errorf("read parameters of submission %s: %w", s.ID, err)
		}
	}
	return shown, nil
}

// presentAnswers returns answers in the order of the form, and then those of fields that it no
// longer has.
func presentAnswers(form, stored []byte) ([]ReaderAnswer, error) {
	var fields []struct{ Key, Label string }
	var answers map[string]string
	if err := errors.Join(json.Unmarshal(form, &fields), json.Unmarshal(stored, &answers)); err != nil {
		return nil, err
	}
	list := []ReaderAnswer{}
	for _, f := range fields {
		if answer, ok := answers[f.Key]; ok {
			list = append(list, ReaderAnswer{f.Key, f.Label, answer})
			delete(answers, f.Key)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(answers)) {
		list = append(list, ReaderAnswer{key, key, answers[key]})
	}
	return list, nil
}

func presentSession(s *reader.Session) ReaderSession {
	shown := ReaderSession{
		SessionID: s.ID, AccessLinkID: s.AccessLinkID, LeadMagnetID: s.LeadMagnetID, StartedAt: api.TimeOf(s.Started),
		LastEventAt: api.TimeOf(s.Last),
		Device:      s.Device, UserAgent: orNull(s.UserAgent), PageViews: s.PageViews, Pages: s.Pages, ReadingMS: s.ReadingMS,
		Visits: make([]PageVisit, len(s.Visits)), Downloads: make([]ReaderDownload, len(s.Downloads)),
	}
	for i, v := range s.Visits {
		shown.Visits[i] = PageVisit{MagnetVersion: v.Version, Start: api.TimeOf(v.Started), MS: v.MS}
		if v.Page > 0 {
			shown.Visits[i].Page = &s.Visits[i].Page
		}
	}
	for i, d := range s.Downloads {
		shown.Downloads[i] = ReaderDownload{eventType(d.Type.String()), api.TimeOf(d.At)}
	}
	return shown
}

func presentSource(s reader.Source) ReaderSource {
	return ReaderSource{
		orNull(s.UTMSource), orNull(s.UTMMedium), orNull(s.UTMCampaign), orNull(s.UTMContent),
		orNull(s.UTMTerm), orNull(s.ReferrerHost),
	}
}

func presentTotals(a *reader.Activity) ReaderTotals {
	t := ReaderTotals{
		Magnets: a.Magnets, Sessions: a.Sessions, Pages: a.Pages, PageViews: a.PageViews, ReadingMS: a.ReadingMS,
		Finished: a.Finished, Downloads: a.Downloads,
	}
	if t.Magnets == nil {
		t.Magnets = []uuid.UUID{}
	}
	if a.LastSeen.UnixMilli() > 0 { // there is an event
		t.FirstSeenAt, t.LastSeenAt = api.OptionalTime(&a.FirstSeen), api.OptionalTime(&a.LastSeen)
		t.Score = a.Score.Sum()
		t.ScoreParts = ReaderScore(a.Score)
	}
	return t
}

// orNull returns a text, or nil for none.
func orNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

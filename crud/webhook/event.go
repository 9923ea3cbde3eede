package webhook

import (
	"slices"

	"github.com/google/uuid"

	"lodestone/crud/mail"
	"lodestone/pkg/api"
	"lodestone/pkg/jsonschema"
	"lodestone/pkg/store"
	"lodestone/pkg/suspect"
)

// Kind is a kind of event, as an endpoint asks for it.
type Kind string

// The kinds of events.
const (
	KindLinkCreated       Kind = "link.created"
	KindLinkAccessed      Kind = "link.accessed"
	KindFormSubmitted     Kind = "form.submitted"
	KindFormVerified      Kind = "form.verified"
	KindSessionEnded      Kind = "session.ended"
	KindDownloadCompleted Kind = "download.completed"
	KindAlertStarted      Kind = "alert.started"
	// What notices are about: new leads, what readers do, the weekly report, disabled webhooks,
	// alerts.
	KindLeads    Kind = "notice.leads"
	KindReaders  Kind = "notice.readers"
	KindWeekly   Kind = "notice.weekly"
	KindWebhooks Kind = "notice.webhooks"
	KindAlerts   Kind = "notice.alerts"
	// kindTest is sent when its owner tests an endpoint, and cannot be asked for.
	kindTest Kind = "webhook.test"
)

var (
	eventKinds = []Kind{KindLinkCreated, KindLinkAccessed, KindFormSubmitted, KindFormVerified,
		KindSessionEnded, KindDownloadCompleted, KindAlertStarted}
	noticeKinds = []Kind{KindLeads, KindReaders, KindWeekly, KindWebhooks, KindAlerts}
)

// Kinds returns the kinds that an endpoint can ask for: those of events, and then those of notices.
func Kinds() []Kind { return slices.Concat(eventKinds, noticeKinds) }

// EnumValues implements jsonschema.Enum.
func (Kind) EnumValues() []string { return jsonschema.Values(Kinds()) }

// Event is something that endpoints are sent: one of the structs below, which are the data of its
// message. Fields are added over time; none changes its meaning.
type Event interface {
	kind() Kind
}

// Link names the access link that an event happened on, and what it belongs to.
type Link struct {
	AccessLinkID  uuid.UUID  `json:"access_link_id"`
	LeadMagnetID  uuid.UUID  `json:"lead_magnet_id"`
	GenericLinkID *uuid.UUID `json:"generic_link_id"` // nil: created by the API, or its link was deleted
	SubmissionID  *uuid.UUID `json:"submission_id"`   // nil: likewise
	Email         string     `json:"email"`           // of the recipient
	// how the URL was handed out: api, mail or form, the latter to whoever typed the address
	Source string `json:"source"`
}

// LinkOf names an access link.
func LinkOf(a store.AccessLink) Link {
	return Link{
		AccessLinkID: a.ID, LeadMagnetID: a.LeadMagnetID, GenericLinkID: a.GenericLinkID, SubmissionID: a.SubmissionID,
		Email: a.Email, Source: a.Source,
	}
}

// Visitor is what is known of whoever caused an event. Every event of a visitor has it, and a
// receiver needs one rule for all of them: what judges visitors in another way adds its field here.
type Visitor struct {
	Bot     bool    `json:"bot"`     // a program that says that it is one
	Suspect *string `json:"suspect"` // rule that suspects one that does not say so; nil: none does
	IsBot   bool    `json:"is_bot"`  // not counted: a bot, or suspected by a rule that the account believes
}

// VisitorOf returns the visitor of what is known: a program that says so, the rule that suspects
// one, and whether the account leaves out what that rule suspects.
func VisitorOf(bot bool, rule suspect.Rule, leftOut bool) Visitor {
	v := Visitor{Bot: bot, IsBot: bot || leftOut}
	if rule != "" && !bot {
		v.Suspect = (*string)(&rule)
	}
	return v
}

// LinkCreated says that an access link was created.
type LinkCreated struct {
	Link
	URL       string    `json:"url"` // opens the document for whoever has it
	MaxViews  *int32    `json:"max_views"`
	ExpiresAt *api.Time `json:"expires_at"`
	Visitor             // who sent the form; no bot if the API created the link
	CreatedAt api.Time  `json:"created_at"`
}

// LinkAccessed says that an access link was opened: a session began.
type LinkAccessed struct {
	Link
	SessionID  uuid.UUID `json:"session_id"`
	Visitor              // a bot spent no view
	AccessedAt api.Time  `json:"accessed_at"`
}

// FormSubmitted says that an address was captured by a generic link for the first time.
type FormSubmitted struct {
	SubmissionID         uuid.UUID         `json:"submission_id"`
	GenericLinkID        uuid.UUID         `json:"generic_link_id"`
	LeadMagnetID         uuid.UUID         `json:"lead_magnet_id"`
	Email                string            `json:"email"`
	Name                 *string           `json:"name"` // nil: none was given
	VerificationRequired bool              `json:"verification_required"`
	Answers              map[string]string `json:"answers"` // in the fields of the form, by key
	UTM                  map[string]string `json:"utm"`     // parameters of the landing page, such as utm_source; may be nil
	Visitor
	SubmittedAt api.Time `json:"submitted_at"`
}

// FormVerified says that the address of a submission was verified.
type FormVerified struct {
	SubmissionID  uuid.UUID         `json:"submission_id"`
	GenericLinkID uuid.UUID         `json:"generic_link_id"`
	LeadMagnetID  uuid.UUID         `json:"lead_magnet_id"`
	Email         string            `json:"email"`
	Name          *string           `json:"name"`
	Answers       map[string]string `json:"answers"`
	Visitor                         // never a bot, which cannot verify an address
	VerifiedAt    api.Time          `json:"verified_at"`
}

// SessionEnded says that a session had no activity for a while, and so is over.
type SessionEnded struct {
	Link
	SessionID uuid.UUID `json:"session_id"`
	Visitor
	StartedAt  api.Time `json:"started_at"`
	EndedAt    api.Time `json:"ended_at"`    // of the last activity
	Pages      []int32  `json:"pages"`       // that were seen, each once, in ascending order
	DurationMS int64    `json:"duration_ms"` // that pages were visible, all together
}

// DownloadCompleted says that the last byte of the document went out.
type DownloadCompleted struct {
	Link
	SessionID *uuid.UUID `json:"session_id"` // nil: without a session
	Visitor
	MagnetVersion int32    `json:"magnet_version"` // of the file
	FileName      string   `json:"file_name"`
	FileSize      int64    `json:"file_size"` // bytes
	CompletedAt   api.Time `json:"completed_at"`
}

// AlertStarted says that a rule of alerts applies: a number left its usual range or passed a
// threshold, or nothing comes from a page any more. A thing has one message until it is over.
type AlertStarted struct {
	AlertID       uuid.UUID  `json:"alert_id"`
	RuleID        uuid.UUID  `json:"rule_id"`
	Kind          string     `json:"kind"` // of the rule: silent, range, above or below
	Metric        string     `json:"metric"`
	Direction     string     `json:"direction"` // above, below or silent
	LeadMagnetID  *uuid.UUID `json:"lead_magnet_id"`
	GenericLinkID *uuid.UUID `json:"generic_link_id"`
	UTMCampaign   *string    `json:"utm_campaign"`
	Value         int64      `json:"value"`
	UsualLow      *int64     `json:"usual_low"` // nil: a threshold was passed
	UsualHigh     *int64     `json:"usual_high"`
	Threshold     *int64     `json:"threshold"`
	Since         api.Time   `json:"since"` // the beginning of the day, or when a visit came last
	Pages         []string   `json:"pages"` // of silent: those with the most visitors before, as host and path
}

// Notice is a notice of the account, in the words of its mail.
type Notice struct {
	About Kind
	Words mail.Words
}

// testMessage is the text of a test.
const testMessage = "This is a test of the webhook."

// testData is the data of a test.
type testData struct {
	EndpointID uuid.UUID `json:"endpoint_id"`
	Message    string    `json:"message"`
}

func (LinkCreated) kind() Kind       { return KindLinkCreated }
func (LinkAccessed) kind() Kind      { return KindLinkAccessed }
func (FormSubmitted) kind() Kind     { return KindFormSubmitted }
func (FormVerified) kind() Kind      { return KindFormVerified }
func (SessionEnded) kind() Kind      { return KindSessionEnded }
func (DownloadCompleted) kind() Kind { return KindDownloadCompleted }
func (AlertStarted) kind() Kind      { return KindAlertStarted }
func (n Notice) kind() Kind          { return n.About }
func (testData) kind() Kind          { return kindTest }

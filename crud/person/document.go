package person

import (
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"

	"lodestone/crud/mail"
	"lodestone/crud/user"
	"lodestone/crud/webhook"
	"lodestone/pkg/api"
	"lodestone/pkg/jsonschema"
)

// PersonDocument is everything that an account stores about an address.
type PersonDocument struct { //nolint:revive // the API's schemas have these names
	Email         string               `json:"email" doc:"Address that was asked for."`
	PersonID      uuid.UUID            `json:"person_id" format:"uuid" doc:"The person in reports, in SQL, and in the audit log: a keyed hash of the address."`
	ExportedAt    api.Time             `json:"exported_at" doc:"When the document was created."`
	Submissions   []PersonSubmission   `json:"submissions" nullable:"false" doc:"Forms that were sent with the address, oldest first."`
	Verifications []PersonVerification `json:"verifications" nullable:"false" doc:"Mails that asked to confirm the address. They are removed a week after they expire."`
	AccessLinks   []PersonAccessLink   `json:"access_links" nullable:"false" doc:"Personal links, oldest first."`
	Sessions      []PersonSession      `json:"sessions" nullable:"false" doc:"Openings of these links, oldest first."`
	Downloads     []PersonDownload     `json:"downloads" nullable:"false" doc:"Downloads in these sessions, oldest first."`
	Events        []PersonEvent        `json:"events" nullable:"false" doc:"Events of these links and of those that were deleted, as lines of the export of events (GET /api/v1/analytics/export) with visitor=true."`
	Reports       []PersonReport       `json:"reports" nullable:"false" doc:"Downloads of these links and of those that were deleted that wait to be reported as events, were reported within the last minute, or could not be reported within the last seven days."`
	Mails         []PersonMail         `json:"mails" nullable:"false" doc:"Mails that wait, were sent within the last minute, or could not be sent within the last seven days."`
	Chats         []PersonChatMessage  `json:"chat_messages" nullable:"false" doc:"Messages to chat channels that mention the address and wait, were sent within the last minute, or could not be sent within the last seven days."`
	Notices       []PersonNotice       `json:"notices" nullable:"false" doc:"Visits through these links that the owner is to be notified of, or was: a row for each, oldest first."`
	Deliveries    []webhook.Delivery   `json:"webhook_deliveries" nullable:"false" doc:"Messages to webhooks about these submissions and links."`
	Answers       []PersonAnswer       `json:"answers" nullable:"false" doc:"Answers that are kept for a day for repeated requests, as far as they mention the address, a link or a submission."`
	Keys          []PersonKey          `json:"idempotency_keys" nullable:"false" doc:"Keys of repeated requests with the address in them, which are kept for a day."`
	AuditLog      []user.Entry         `json:"audit_log" nullable:"false" doc:"What was done to these submissions and links, and what a user with the address did."`
}

// PersonSubmission is a form that was sent with an address.
type PersonSubmission struct { //nolint:revive // the API's schemas have these names
	ID            uuid.UUID          `json:"id" format:"uuid"`
	GenericLinkID uuid.UUID          `json:"generic_link_id" format:"uuid" doc:"Generic link that it was submitted through."`
	Email         string             `json:"email" doc:"Address, as typed."`
	Name          *string            `json:"name" doc:"Name; null if none was given."`
	SubmittedAt   api.Time           `json:"submitted_at"`
	UTM           *map[string]string `json:"utm" doc:"Parameters of the landing page's URL; null if there were none."`
	Referrer      *string            `json:"referrer" doc:"Page before the landing page, without its query."`
	ConsentText   *string            `json:"consent_text" doc:"What the visitor agreed to."`
	PrivacyURL    *string            `json:"privacy_url" doc:"Privacy policy that was linked."`
	ConsentedAt   *api.Time          `json:"consented_at"`
	VerifiedAt    *api.Time          `json:"verified_at" doc:"When the address was confirmed."`
	ViewCount     int64              `json:"view_count" doc:"Views of the document."`
	FirstViewedAt *api.Time          `json:"first_viewed_at"`
	LastViewedAt  *api.Time          `json:"last_viewed_at"`
}

// PersonVerification is a mail that asks to confirm an address.
type PersonVerification struct { //nolint:revive // the API's schemas have these names
	SubmissionID uuid.UUID `json:"submission_id" format:"uuid"`
	Email        string    `json:"email" doc:"Address, as typed that time."`
	Language     string    `json:"language" doc:"Language of the page and the mail."`
	SentAt       api.Time  `json:"sent_at" doc:"When the last mail was sent."`
	ExpiresAt    api.Time  `json:"expires_at"`
	UsedAt       *api.Time `json:"used_at" doc:"When it confirmed the address."`
}

// PersonAccessLink is a personal link.
type PersonAccessLink struct { //nolint:revive // the API's schemas have these names
	ID            uuid.UUID          `json:"id" format:"uuid"`
	LeadMagnetID  uuid.UUID          `json:"lead_magnet_id" format:"uuid" doc:"Document that it opens."`
	GenericLinkID *uuid.UUID         `json:"generic_link_id" format:"uuid"`
	SubmissionID  *uuid.UUID         `json:"submission_id" format:"uuid"`
	Email         string             `json:"email" doc:"Address, as typed."`
	Source        string             `json:"source" enum:"api,mail,form" doc:"How its URL was handed out."`
	UTM           *map[string]string `json:"utm" doc:"Parameters of the submission that it was created for."`
	Referrer      *string            `json:"referrer" doc:"Page before the landing page of that submission."`
	OpenedCount   int32              `json:"opened_count" doc:"How often it was opened."`
	ViewCount     int64              `json:"view_count" doc:"Sessions with a viewed page."`
	FirstViewedAt *api.Time          `json:"first_viewed_at"`
	LastViewedAt  *api.Time          `json:"last_viewed_at"`
	MaxViews      *int32             `json:"max_views"`
	ExpiresAt     *api.Time          `json:"expires_at"`
	IsActive      bool               `json:"is_active"`
	CreatedAt     api.Time           `json:"created_at"`
	UpdatedAt     api.Time           `json:"updated_at"`
}

// PersonSession is an opening of a link.
type PersonSession struct { //nolint:revive // the API's schemas have these names
	ID            uuid.UUID `json:"id" format:"uuid" doc:"session_id of its events."`
	AccessLinkID  uuid.UUID `json:"access_link_id" format:"uuid"`
	MagnetVersion int32     `json:"magnet_version" doc:"Version of the document."`
	StartedAt     api.Time  `json:"started_at"`
	LastActiveAt  api.Time  `json:"last_active_at"`
	EndedAt       *api.Time `json:"ended_at" doc:"Null if it may go on."`
	Pages         []int32   `json:"pages" nullable:"false" doc:"Pages viewed."`
	DurationMS    int64     `json:"duration_ms" doc:"Visible time."`
}

// PersonDownload is a click on download.
type PersonDownload struct { //nolint:revive // the API's schemas have these names
	ID          uuid.UUID `json:"id" format:"uuid"`
	SessionID   uuid.UUID `json:"session_id" format:"uuid"`
	StartedAt   api.Time  `json:"started_at"`
	CompletedAt *api.Time `json:"completed_at" doc:"When the whole file had been sent."`
}

// PersonReport is a download that is to be an event.
type PersonReport struct { //nolint:revive // the API's schemas have these names
	EventID      uuid.UUID `json:"event_id" format:"uuid" doc:"id of the event."`
	EventType    string    `json:"event_type" enum:"download_started,download_completed"`
	State        string    `json:"state" doc:"available, scheduled, running, retryable, completed, cancelled or discarded."`
	AccessLinkID uuid.UUID `json:"access_link_id" format:"uuid"`
	SessionID    uuid.UUID `json:"session_id" format:"uuid"`
	CreatedAt    api.Time  `json:"created_at"`
	UserAgent    *string   `json:"user_agent" doc:"User agent of the visitor's browser."`
	Language     *string   `json:"language" doc:"Language of the browser."`
	Country      *string   `json:"country" doc:"Country of the visitor."`
}

// PersonMail is a mail in the queue, without the links and codes that are secrets of its receiver.
type PersonMail struct { //nolint:revive // the API's schemas have these names
	Kind      string           `json:"kind" doc:"document, confirm, lead, digest, notices, webhook, sign-in or invitation."`
	State     string           `json:"state" doc:"available, scheduled, running, retryable, completed, cancelled or discarded."`
	CreatedAt api.Time         `json:"created_at"`
	To        string           `json:"to" doc:"Receiver. Notices about leads go to the owner of the account."`
	Title     *string          `json:"title" doc:"Title of the document."`
	Leads     []PersonMailLead `json:"leads" nullable:"false" doc:"What a notice says about the person as a lead."`
	Readings  []PersonReading  `json:"readings" nullable:"false" doc:"What a notice says about the person as a reader."`
}

// PersonMailLead is what a notice to the owner says about a person.
type PersonMailLead struct { //nolint:revive // the API's schemas have these names
	Email       string   `json:"email"`
	Name        *string  `json:"name"`
	Link        string   `json:"link" doc:"Title of the landing page or of its document."`
	Source      *string  `json:"source" doc:"Where the visitor came from."`
	Campaign    *string  `json:"campaign"`
	SubmittedAt api.Time `json:"submitted_at"`
}

// PersonReading is what a notice to the owner says about a reader's visit.
type PersonReading struct { //nolint:revive // the API's schemas have these names
	Email      string      `json:"email"`
	Title      string      `json:"title" doc:"Title of the document."`
	News       []mail.News `json:"news" nullable:"false" doc:"What the reader did: finished, downloaded, returned, opened."`
	Pages      int         `json:"pages" doc:"Pages that were viewed."`
	DurationMS int64       `json:"duration_ms" doc:"Visible time."`
	StartedAt  api.Time    `json:"started_at"`
}

// PersonChatMessage is a message in the queue, without its links.
type PersonChatMessage struct { //nolint:revive // the API's schemas have these names
	ChannelID uuid.UUID `json:"channel_id" format:"uuid" doc:"Chat channel that it is for."`
	State     string    `json:"state" doc:"available, scheduled, running, retryable, completed, cancelled or discarded."`
	CreatedAt api.Time  `json:"created_at"`
	Text      []string  `json:"text" nullable:"false" doc:"Its lines, the heading first, without those that name others alone."`
}

// PersonNotice is what the owner is to be notified of about a visit.
type PersonNotice struct { //nolint:revive // the API's schemas have these names
	SessionID    uuid.UUID   `json:"session_id" format:"uuid" doc:"Opening of the link."`
	AccessLinkID uuid.UUID   `json:"access_link_id" format:"uuid"`
	News         []mail.News `json:"news" nullable:"false" doc:"What the reader did: finished, downloaded, returned, opened."`
	Send         string      `json:"send" enum:"each,daily" doc:"When the mail is sent: when the visit is over, or once a day."`
	CreatedAt    api.Time    `json:"created_at"`
	SettledAt    *api.Time   `json:"settled_at" doc:"When the mail was queued, or none was wanted; null if it waits."`
}

// PersonKey is a key of repeated requests.
type PersonKey struct { //nolint:revive // the API's schemas have these names
	Operation string   `json:"operation" doc:"operationId of the request."`
	Key       string   `json:"key" doc:"Idempotency-Key."`
	CreatedAt api.Time `json:"created_at"`
}

// PersonAnswer is an answer that is kept for repeated requests.
type PersonAnswer struct { //nolint:revive // the API's schemas have these names
	Operation string       `json:"operation" doc:"operationId of the request."`
	CreatedAt api.Time     `json:"created_at"`
	Body      personObject `json:"body" doc:"The answer. A list has only the elements that mention the person."`
}

// personObject is a JSON object of another operation.
type personObject jsontext.Value

// MarshalJSON implements json.Marshaler.
func (o personObject) MarshalJSON() ([]byte, error) { return o, nil }

// JSONSchema implements jsonschema.Provider.
func (personObject) JSONSchema(*jsonschema.Set) *jsonschema.Schema { return jsonschema.AnyObject() }

// PersonEvent is a line of the export of events.
type PersonEvent = personObject //nolint:revive // the API's schemas have these names

package person

import (
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"

	"lodestone/crud/gate"
	"lodestone/crud/user"
	"lodestone/pkg/api"
	"lodestone/pkg/jsonschema"
)

// PersonDocument is everything that an account stores about an address.
type PersonDocument struct {
	Email         string               `json:"email" doc:"Requested address."`
	PersonID      uuid.UUID            `json:"person_id" format:"uuid" doc:"The person in reports, in SQL, and in the audit log: a keyed hash of the address."`
	ExportedAt    api.Time             `json:"exported_at" doc:"When the document was created."`
	Profile       *PersonProfile       `json:"profile" nullable:"true" doc:"What the account wrote down about the person; null if nothing."`
	Submissions   []PersonSubmission   `json:"submissions" nullable:"false" doc:"Forms that were sent with the address, oldest first."`
	Verifications []PersonVerification `json:"verifications" nullable:"false" doc:"Mails that asked to confirm the address. They are removed a week after they expire."`
	AccessLinks   []PersonAccessLink   `json:"access_links" nullable:"false" doc:"Personal links, oldest first."`
	Sessions      []PersonSession      `json:"sessions" nullable:"false" doc:"Openings of these links, oldest first."`
	Downloads     []PersonDownload     `json:"downloads" nullable:"false" doc:"Downloads in these sessions, oldest first."`
	Events        []PersonEvent        `json:"events" nullable:"false" doc:"Events of these links and of deleted ones, as lines of the export of events (GET /api/v1/analytics/export) with visitor=true."`
	Recipients    []PersonRecipient    `json:"recipients" nullable:"false" doc:"Places on lists of recipients, oldest first."`
	Unsubscribed  *api.Time            `json:"unsubscribed_at" doc:"When the person unsubscribed from the account's mails to recipients; null: not."`
	AuditLog      []user.Entry         `json:"audit_log" nullable:"false" doc:"Changes of these submissions and links, and actions of a user with the address."`
}

// PersonProfile is what an account wrote down about a person.
type PersonProfile struct {
	Name      *string  `json:"name" doc:"Name that was set; null for that of the newest submission."`
	Status    *string  `json:"status" doc:"Status that was set; null if none was."`
	Note      *string  `json:"note"`
	CreatedAt api.Time `json:"created_at"`
	UpdatedAt api.Time `json:"updated_at"`
}

// PersonSubmission is a form that was sent with an address.
type PersonSubmission struct {
	ID            uuid.UUID                `json:"id" format:"uuid"`
	GenericLinkID uuid.UUID                `json:"generic_link_id" format:"uuid" doc:"Generic link that it was submitted through."`
	Email         string                   `json:"email" doc:"Address, as typed."`
	Name          *string                  `json:"name" doc:"Name; null if none was given."`
	Answers       map[string]string        `json:"answers" nullable:"false" doc:"Answers in the fields of the form, by their keys."`
	SubmittedAt   api.Time                 `json:"submitted_at"`
	UTM           *map[string]string       `json:"utm" doc:"Parameters of the landing page's URL; null if there were none."`
	Referrer      *string                  `json:"referrer" doc:"Referrer of the landing page, without its query."`
	ConsentText   *string                  `json:"consent_text" doc:"What the visitor agreed to."`
	PrivacyURL    *string                  `json:"privacy_url" doc:"Privacy policy that was linked."`
	ConsentedAt   *api.Time                `json:"consented_at"`
	Agreements    []gate.AcceptedAgreement `json:"agreements" nullable:"false" doc:"Agreements that were accepted with it."`
	VerifiedAt    *api.Time                `json:"verified_at" doc:"When the address was confirmed."`
	ViewCount     int64                    `json:"view_count" doc:"Views of the document."`
	FirstViewedAt *api.Time                `json:"first_viewed_at"`
	LastViewedAt  *api.Time                `json:"last_viewed_at"`
}

// PersonVerification is a mail that asks to confirm an address.
type PersonVerification struct {
	SubmissionID uuid.UUID `json:"submission_id" format:"uuid"`
	Email        string    `json:"email" doc:"Address, as typed in that form."`
	Language     string    `json:"language" doc:"Language of the page and the mail."`
	SentAt       api.Time  `json:"sent_at" doc:"When the last mail was sent."`
	ExpiresAt    api.Time  `json:"expires_at"`
	UsedAt       *api.Time `json:"used_at" doc:"When the address was confirmed."`
}

// PersonAccessLink is a personal link.
type PersonAccessLink struct {
	ID            uuid.UUID          `json:"id" format:"uuid"`
	LeadMagnetID  uuid.UUID          `json:"lead_magnet_id" format:"uuid" doc:"Document that it opens."`
	GenericLinkID *uuid.UUID         `json:"generic_link_id" format:"uuid"`
	SubmissionID  *uuid.UUID         `json:"submission_id" format:"uuid"`
	Email         string             `json:"email" doc:"Address, as typed."`
	Source        string             `json:"source" enum:"api,mail,form" doc:"How its URL was delivered."`
	UTM           *map[string]string `json:"utm" doc:"Parameters of the submission that it was created for."`
	Referrer      *string            `json:"referrer" doc:"Referrer of the landing page of that submission."`
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

// PersonRecipient is a place on the list of recipients of a generic link.
type PersonRecipient struct {
	ID            uuid.UUID `json:"id" format:"uuid" doc:"Id of the access link too."`
	GenericLinkID uuid.UUID `json:"generic_link_id" format:"uuid" doc:"Generic link whose list it is."`
	Email         string    `json:"email" doc:"Address, as in the owner's list."`
	Name          *string   `json:"name" doc:"Name, as in the owner's list."`
	AddedAt       api.Time  `json:"added_at"`
	SentAt        *api.Time `json:"sent_at" doc:"When the mail was handed to the mail server."`
	RemindedAt    *api.Time `json:"reminded_at" doc:"When the reminder was."`
	BouncedAt     *api.Time `json:"bounced_at" doc:"When the mail server refused a mail."`
	Failure       *string   `json:"failure" doc:"Why the last mail was not delivered."`
}

// PersonSession is an opening of a link.
type PersonSession struct {
	ID            uuid.UUID `json:"id" format:"uuid" doc:"session_id of its events."`
	AccessLinkID  uuid.UUID `json:"access_link_id" format:"uuid"`
	MagnetVersion int32     `json:"magnet_version" doc:"Version of the document."`
	StartedAt     api.Time  `json:"started_at"`
	LastActiveAt  api.Time  `json:"last_active_at"`
	EndedAt       *api.Time `json:"ended_at" doc:"Null if it may continue."`
	Pages         []int32   `json:"pages" nullable:"false" doc:"Pages viewed."`
	DurationMS    int64     `json:"duration_ms" doc:"Visible time."`
}

// PersonDownload is a click on download.
type PersonDownload struct {
	ID          uuid.UUID `json:"id" format:"uuid"`
	SessionID   uuid.UUID `json:"session_id" format:"uuid"`
	StartedAt   api.Time  `json:"started_at"`
	CompletedAt *api.Time `json:"completed_at" doc:"When the whole file had been sent."`
}

// personObject is a JSON object of another operation.
type personObject jsontext.Value

// MarshalJSON implements json.Marshaler.
func (o personObject) MarshalJSON() ([]byte, error) { return o, nil }

// JSONSchema implements jsonschema.Provider.
func (personObject) JSONSchema(*jsonschema.Set) *jsonschema.Schema { return jsonschema.AnyObject() }

// PersonEvent is a line of the export of events.
type PersonEvent = personObject

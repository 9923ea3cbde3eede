// Package mail sends mails: what a transaction asked for goes to the queue in that transaction, and
// from there by SMTP until the receiving server took it or refused it for good.
package mail

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"lodestone/crud/queue"
	"lodestone/crud/web"
	"lodestone/pkg/locale"
	"lodestone/pkg/token"
)

// Kind says what a mail is about, and so which of Message's fields it needs.
type Kind string

// The kinds of mails.
const (
	// KindDocument gives a visitor the link to the document. It needs URL.
	KindDocument Kind = "document"
	// KindConfirm asks a visitor to confirm the address. It needs URL, Code and ExpiresAt.
	KindConfirm Kind = "confirm"
	// KindLead tells the owner of an account of a new lead. It needs Leads with one of them, and
	// Unsubscribe.
	KindLead Kind = "lead"
	// KindDigest tells the owner of an account of the leads of a day. It needs Leads, and Unsubscribe.
	KindDigest Kind = "digest"
	// KindNotices asks whoever reads an address to agree to notices. It needs URL.
	KindNotices Kind = "notices"
	// KindWebhook tells the owner of an account that a webhook was disabled. It needs Webhook, and
	// Unsubscribe.
	KindWebhook Kind = "webhook"
	// KindReading tells the owner of an account what one reader did. It needs Readings with one of
	// them, URL, and Unsubscribe.
	KindReading Kind = "reading"
	// KindReadings tells the owner of an account what the readers of a day did. It needs Readings, and
	// Unsubscribe.
	KindReadings Kind = "readings"
	// KindWeekly tells the owner of an account how a week went. It needs Weekly, URL, and Unsubscribe.
	KindWeekly Kind = "weekly"
	// KindAlerts tells the owner of an account what is unusual. It needs Alerts, URL, and Unsubscribe.
	KindAlerts Kind = "alerts"
	// KindSignIn lets a user into the dashboard. It needs URL, Code and ExpiresAt.
	KindSignIn Kind = "sign-in"
	// KindInvitation invites someone to an account. It needs URL, Account, Role and ExpiresAt.
	KindInvitation Kind = "invitation"
	// KindRecipient invites a recipient of a generic link to its document, in the owner's words. It
	// needs URL, Own, Recipient and Unsubscribe.
	KindRecipient Kind = "recipient"
	// KindReminder reminds a recipient. It needs the same.
	KindReminder Kind = "reminder"
)

// kinds are all kinds.
var kinds = []Kind{
	KindDocument, KindConfirm, KindLead, KindDigest, KindNotices, KindWebhook, KindReading, KindReadings,
	KindWeekly, KindAlerts, KindSignIn, KindInvitation, KindRecipient, KindReminder,
}

// branded reports whether mails of a kind look like their account. The one that asks an address to
// agree to notices looks like the installation, since anyone can enter an address.
func (k Kind) branded() bool {
	switch k {
	case KindNotices:
		return false
	default:
		return true
	}
}

// Message is a mail to be sent. Mails to visitors hold no text that a visitor typed: who submits
// someone else's address must not be able to write to that person. The names of accounts and
// documents are owners' texts.
type Message struct {
	Kind      Kind      `json:"kind"`
	AccountID uuid.UUID `json:"account_id"`
	To        string    `json:"to"` // address alone, without a name
	// URL is the target of the mail's button; a secret if it is for the receiver only.
	URL string `json:"url,omitempty"`
	// Code is the six digits that confirm the address in place of the URL; a secret.
	Code string `json:"code,omitempty"`
	// ExpiresAt is when URL and Code become worthless; the mail is not sent after it. Zero: never.
	ExpiresAt time.Time `json:"expires_at,omitzero"`
	// Title is the title of the document that a visitor asked for.
	Title string `json:"title,omitempty"`
	// Language is that of the form for a visitor, and that of the account for its owner; "": English.
	Language locale.Language `json:"language,omitempty"`
	// LeadMagnetID is the document of the mail; its cover is shown.
	LeadMagnetID uuid.UUID `json:"lead_magnet_id,omitzero"`
	// Timezone is that of the owner's account, an IANA name; "": UTC.
	Timezone string `json:"timezone,omitempty"`
	// Leads are the leads of a notice.
	Leads *Leads `json:"leads,omitempty"`
	// Readings are the readings of a notice.
	Readings *Readings `json:"readings,omitempty"`
	// Weekly is the report of a week.
	Weekly *Weekly `json:"weekly,omitempty"`
	// Alerts are those of a notice.
	Alerts *Alerts `json:"alerts,omitempty"`
	// Webhook is one that was disabled.
	Webhook *Webhook `json:"webhook,omitempty"`
	// Account is the name of the account that an invitation is to, as it was typed, and Role what the
	// receiver will be there.
	Account string `json:"account,omitempty"`
	Role    string `json:"role,omitempty"`
	// Void is a mail that is not sent: whoever enters an address to sign in must not find out, by the
	// time that it takes, whether the address is a user's.
	Void bool `json:"void,omitempty"`
	// Own is what an owner wrote to a recipient.
	Own *Own `json:"own,omitempty"`
	// Recipient is the recipient that the mail is for: it is not sent if that one is gone,
	// unsubscribed, or got it before.
	Recipient uuid.UUID `json:"recipient,omitzero"`
	// Unsubscribe is a page of the site where the receiver ends such mails; a POST to it ends them at
	// once.
	Unsubscribe string `json:"unsubscribe,omitempty"`
}

// Leads are new addresses that an account has.
type Leads struct {
	Day   string `json:"day,omitempty"`   // of a digest, such as Monday, 2 November 2026
	Total int    `json:"total,omitempty"` // of that day; more than those listed, if they are many
	List  []Lead `json:"list"`
	Last  bool   `json:"last,omitempty"` // no more mails about single leads follow within the hour
}

// Lead is one new address. Its texts are as they were typed: mails show them cleaned.
type Lead struct {
	Email       string    `json:"email"`
	Name        string    `json:"name,omitempty"`
	Link        string    `json:"link"`             // title of the page or of its document
	Source      string    `json:"source,omitempty"` // where the visitor came from
	Campaign    string    `json:"campaign,omitempty"`
	Answers     []Fact    `json:"answers,omitempty"` // in the fields of the form, by their labels
	Verified    bool      `json:"verified,omitempty"`
	SubmittedAt time.Time `json:"submitted_at"`
}

// Webhook is one that was disabled. Its texts are as they were typed: mails show them cleaned.
type Webhook struct {
	ID          uuid.UUID `json:"id"`
	Host        string    `json:"host"` // of its address; the rest may hold secrets
	Description string    `json:"description,omitempty"`
	DisabledAt  time.Time `json:"disabled_at"`

	Gone         int       `json:"gone,omitempty"`     // status by which it wants no more messages
	Failures     int       `json:"failures,omitempty"` // in a row
	FailingSince time.Time `json:"failing_since,omitzero"`
}

// News is something that a reader did and an owner may be notified of.
type News string

// The kinds of news, the most important one first.
const (
	Finished   News = "finished"
	Downloaded News = "downloaded"
	Returned   News = "returned"
	Opened     News = "opened"
)

// Readings are visits of readers.
type Readings struct {
	Day   string    `json:"day,omitempty"`   // of a daily mail, such as Monday, 2 November 2026
	Total int       `json:"total,omitempty"` // of that day; more than those listed, if they are many
	List  []Reading `json:"list"`
	Last  bool      `json:"last,omitempty"` // no more mails about single readers follow within the hour
}

// Reading is a reader's activity in one visit, or in those of a day.
type Reading struct {
	Email     string        `json:"email"` // of the reader
	Title     string        `json:"title"` // of the document
	News      []News        `json:"news"`  // at least one, the most important one first
	Pages     int           `json:"pages"` // that were seen
	PageCount int           `json:"page_count"`
	Duration  time.Duration `json:"duration"` // that pages were visible
	StartedAt time.Time     `json:"started_at"`
}

// Own is a mail in an owner's words.
type Own struct {
	Subject string `json:"subject"`
	Before  string `json:"before,omitempty"`   // text before the button
	After   string `json:"after,omitempty"`    // and behind it
	ReplyTo string `json:"reply_to,omitempty"` // the owner's address
}

// Receiver is the recipient of a mail about an account.
type Receiver struct {
	AccountID uuid.UUID
	Language  locale.Language // "": English
}

// Weekly is the report of a week, in the account's language.
type Weekly struct {
	Week    string         `json:"week"`    // such as Monday, 2 November to Sunday, 8 November 2026
	Readers int            `json:"readers"` // of the week
	Tiles   []Number       `json:"tiles"`
	Days    []Bar          `json:"days"`    // readers of each day
	Changes []string       `json:"changes"` // sentences
	Magnets []WeeklyMagnet `json:"magnets"`
	More    int            `json:"more,omitempty"` // lead magnets that are not listed
}

// Number is a number, and how it changed.
type Number struct {
	Label  string `json:"label"`
	Value  string `json:"value"`
	Change string `json:"change,omitempty"`
}

// Bar is one of a bar chart. Its length is a percentage of the longest one's.
type Bar struct {
	Label   string `json:"label"`
	Value   string `json:"value"`
	Percent int    `json:"percent"`
}

// WeeklyMagnet is a lead magnet with its funnel.
type WeeklyMagnet struct {
	Title string `json:"title"`
	URL   string `json:"url"`
	Steps []Bar  `json:"steps"`
}

func (m Message) validate() error {
	if m.AccountID == uuid.Nil {
		return errors.New("it has no account")
	}
	if _, err := wire(m.To); err != nil {
		return errors.New("it has no receiver that can be written to")
	}
	if !slices.Contains(kinds, m.Kind) {
		return fmt.Errorf("there is no kind %q", m.Kind)
	}
	return nil
}

// queueName is the queue of mails: a slow SMTP server holds up nothing else.
const queueName = "mail"

// Queue takes mails. It is safe for concurrent use.
type Queue struct {
	jobs   *queue.Queue
	tokens *token.Ring
	texts  *web.Catalogue
	site   string
	sender sender // nil: mails are not sent
}

// Send has a mail sent once the transaction commits, and not if it does not. Without an SMTP server
// and a mailbox, it waits for about a day for a process that has one. The transaction may be that
// of the message's account, or unscoped.
func (q *Queue) Send(ctx context.Context, tx pgx.Tx, m Message) error {
	return q.SendAll(ctx, tx, []Message{m}, 0)
}

// Later is the priority of mails that others go before.
const Later = 4

// SendAll is Send for many mails, with a priority; 0: they go before those that have one.
func (q *Queue) SendAll(ctx context.Context, tx pgx.Tx, messages []Message, priority int) error {
	jobs := make([]river.JobArgs, len(messages))
	for i, m := range messages {
		if err := m.validate(); err != nil {
			return fmt.Errorf("send mail: %w", err)
		}
		id, err := uuid.NewRandom()
		if err != nil {
			return fmt.Errorf("send mail: %w", err)
		}
		if jobs[i], err = seal(q.tokens, m, id); err != nil {
			return fmt.Errorf("send mail: %w", err)
		}
	}
	return q.jobs.InsertAll(ctx, tx, jobs,
		&river.InsertOpts{Queue: queueName, MaxAttempts: maxAttempts, Priority: priority})
}

// Package capture takes what visitors enter on a landing page: it makes submissions of addresses,
// has them verified where the link asks for it, and gives the document's personal link.
//
// Anyone can type anyone's address. So a link that the mailbox receives is shown in no browser that
// has not proved to read the mailbox; a form without verification gives its browser a link of its
// own, whose reading is not attributed to a verified address. With verification nothing but the
// mailbox leads to the document, however often its address was verified before. No answer says
// whether an address is known, and no mailbox is sent more than a few mails.
package capture

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/crud/accesslink"
	"lodestone/crud/gate"
	"lodestone/crud/mail"
	"lodestone/crud/web"
	"lodestone/crud/webhook"
	"lodestone/pkg/api"
	"lodestone/pkg/email"
	"lodestone/pkg/locale"
	"lodestone/pkg/password"
	"lodestone/pkg/postgres"
	"lodestone/pkg/ratelimit"
	"lodestone/pkg/store"
	"lodestone/pkg/suspect"
	"lodestone/pkg/token"
)

// Mailer has a mail sent once a transaction commits; it is implemented by mail.Queue.
type Mailer interface {
	Send(ctx context.Context, tx pgx.Tx, m mail.Message) error
	// Reaches reports whether mails can be sent to an address.
	Reaches(ctx context.Context, address string) bool
}

// Notifier notifies the owner of an account of a new lead once a transaction commits; it is
// implemented by notice.Notices.
type Notifier interface {
	NewLead(ctx context.Context, tx pgx.Tx, submission uuid.UUID) error
}

// Deps are the dependencies of capture. Notices, Networks and Now may be nil; all others are
// required.
type Deps struct {
	Postgres *postgres.Pool
	Limiter  *ratelimit.Visitors
	Mail     Mailer
	Notices  Notifier // nil: owners are not notified
	Tokens   *token.Ring
	Site     string            // public URL without a slash at the end
	Networks *suspect.Networks // nil: none is suspected
	Now      func() time.Time  // the clock; nil: time.Now
}

// Capture takes submissions. It is safe for concurrent use.
type Capture struct {
	config    Config
	deps      Deps
	passwords *password.Hasher
	turns     [turns]chan struct{} // of links, to have passcodes checked
}

// New returns the capture of an installation.
func New(c Config, d Deps) *Capture {
	if d.Now == nil {
		d.Now = time.Now
	}
	return &Capture{config: c, deps: d, passwords: password.New(), turns: newTurns()}
}

// keys returns what derives secrets: the first one new ones. Those of the others are still sent
// again.
func (c *Capture) keys() [][token.KeyBytes]byte { return c.deps.Tokens.DeriveEach("verification") }

// LimitError is the error of a visitor who did something too often.
type LimitError struct{ Wait time.Duration }

// Error implements error.
func (l *LimitError) Error() string { return "the visitor has to wait for " + l.Wait.String() }

// IsGone reports whether an error says that the link was deleted meanwhile.
func IsGone(err error) bool { return errors.Is(err, errGone) }

var errGone = errors.New("the link is gone")

// IsFull reports whether an error says that the link has as many people as it may.
func IsFull(err error) bool { return errors.Is(err, errFull) }

var errFull = errors.New("the link is full")

// Full reports whether a link takes no one more.
func Full(link store.GenericLink) bool {
	return link.MaxPeople != nil && link.SubmissionCount >= int64(*link.MaxPeople)
}

// Outcome is where a visitor goes next. At most one of the two is set; neither is where the form
// leads to a page of the owner's.
type Outcome struct {
	Access string // secret of an access link
	Page   string // secret of the page that waits for the verification
}

// Submit takes a form for a link. The errors that the visitor can correct are Invalid and
// *LimitError.
func (c *Capture) Submit(ctx context.Context, link store.GenericLink, f Form, client netip.Addr) (Outcome, error) {
	address, err := c.check(&f, link)
	if err != nil {
		return Outcome{}, err
	}
	reached := c.deps.Mail.Reaches(ctx, address.Text)
	if !reached && (link.RequireVerification || Redirect(link) != "") { // without the mail there is no way on
		return Outcome{}, Invalid{FieldEmail: "wrong.email.utf8"}
	}
	f.Suspect = c.deps.Networks.Rule(client)
	wait, err := c.deps.Limiter.TakeAddress(ctx, c.config.forms(), client, "")
	if err != nil {
		return Outcome{}, fmt.Errorf("submit form: %w", err)
	}
	if wait > 0 {
		return Outcome{}, &LimitError{wait}
	}
	if err := c.checkPasscode(ctx, link, f, client); err != nil {
		return Outcome{}, err
	}
	// Only now, so that no one can ask at will who is on a list.
	if key := gate.Refuses(link, address); key != "" {
		return Outcome{}, Invalid{FieldEmail: key}
	}
	wait, err = c.takeMail(ctx, address)
	if err != nil {
		return Outcome{}, fmt.Errorf("submit form: %w", err)
	}
	if wait > 0 && link.RequireVerification {
		return Outcome{}, &LimitError{wait} // without the mail there is no way on
	}
	var out Outcome
	var full bool
	err = c.deps.Postgres.Account(ctx, link.AccountID, func(tx pgx.Tx) (err error) {
		out, full, err = c.submit(ctx, tx, link, f, address, wait == 0 && reached)
		return err
	})
	if full || IsFull(err) {
		return Outcome{}, errFull
	}
	if postgres.IsForeignKeyViolation(err) || errors.Is(err, pgx.ErrNoRows) {
		return Outcome{}, errGone
	}
	if err != nil {
		return Outcome{}, fmt.Errorf("submit form: %w", err)
	}
	return out, nil
}

// takeMail counts a mail to a mailbox, and returns how long that has to wait.
func (c *Capture) takeMail(ctx context.Context, a email.Address) (wait time.Duration, err error) {
	for _, rule := range c.config.mails() {
		more, err := c.deps.Limiter.Take(ctx, rule, a.Mailbox())
		if err != nil {
			return 0, err
		}
		wait = max(wait, more)
	}
	return wait, nil
}

// submit records a form. For someone that a full link has already, it does what it does otherwise,
// and sends the mail; full tells to answer as to anyone else, since no answer says whether an
// address is known.
func (c *Capture) submit(ctx context.Context, tx pgx.Tx, link store.GenericLink, f Form, address email.Address,
	mayMail bool) (out Outcome, full bool, err error) {
	q, now := store.New(tx), c.deps.Now()
	if f.Suspect != "" {
		if f.leftOut, err = q.LeavesOut(ctx, string(f.Suspect)); err != nil {
			return Outcome{}, false, fmt.Errorf("read what the account leaves out: %w", err)
		}
	}
	first, err := c.record(ctx, tx, link, f, address, now)
	if err != nil {
		return Outcome{}, false, err
	}
	s, err := q.TakeSubmission(ctx, store.TakeSubmissionParams{GenericLinkID: link.ID, EmailKey: address.Key})
	if err != nil {
		return Outcome{}, false, fmt.Errorf("take submission: %w", err)
	}
	if err := gate.Accept(ctx, q, link, s.ID, now); err != nil {
		return Outcome{}, false, err
	}
	if link.RequireVerification {
		out.Page, err = c.beginVerification(ctx, tx, link, s, f, address.Text, now)
	} else {
		out.Access, err = c.formAccess(ctx, tx, link, s, f, mayMail)
	}
	if err != nil {
		return out, false, err
	}
	if !first {
		if full, err = q.IsLinkFull(ctx, link.ID); err != nil {
			return out, false, fmt.Errorf("look for a place: %w", err)
		}
		return out, full, nil
	}
	if !link.RequireVerification && !f.Bot {
		if err := c.notify(ctx, tx, s.ID); err != nil {
			return out, false, err
		}
	}
	// Last, since it makes other submissions to the link wait.
	counted, err := q.CountSubmission(ctx, link.ID)
	if err != nil {
		return out, false, fmt.Errorf("count submission: %w", err)
	}
	if counted == 0 {
		return out, false, errFull // nothing of it stays
	}
	return out, false, nil
}

func (c *Capture) notify(ctx context.Context, tx pgx.Tx, submission uuid.UUID) error {
	if c.deps.Notices == nil {
		return nil
	}
	if err := c.deps.Notices.NewLead(ctx, tx, submission); err != nil {
		return fmt.Errorf("tell the owner: %w", err)
	}
	return nil
}

// record adds the submission of an address, or to it what it lacks, and reports whether it is the
// first.
func (c *Capture) record(ctx context.Context, tx pgx.Tx, link store.GenericLink, f Form, address email.Address,
	now time.Time) (first bool, err error) {
	q := store.New(tx)
	id, err := uuid.NewV7()
	if err != nil {
		return false, fmt.Errorf("make id: %w", err)
	}
	p := store.InsertSubmissionParams{
		ID: id, AccountID: link.AccountID, GenericLinkID: link.ID, Email: address.Text, EmailKey: address.Key,
		VerificationRequired: link.RequireVerification, SubmittedAt: now,
	}
	if link.CollectName {
		p.Name = &f.Name
	}
	if p.Answers, err = json.Marshal(f.Answers); err != nil {
		return false, fmt.Errorf("encode answers: %w", err)
	}
	if link.HeadlineB != nil {
		p.HeadlineB = f.HeadlineB
	}
	if len(f.UTM) > 0 {
		if p.UTM, err = json.Marshal(f.UTM); err != nil {
			return false, fmt.Errorf("encode parameters: %w", err)
		}
	}
	if f.Referrer != "" {
		p.Referrer = &f.Referrer
	}
	if link.ConsentText != nil {
		p.ConsentText, p.PrivacyURL, p.ConsentedAt = link.ConsentText, link.PrivacyURL, &now
	}
	added, err := q.InsertSubmission(ctx, p)
	if err != nil {
		return false, fmt.Errorf("add submission: %w", err)
	}
	if added == 0 {
		s, err := q.TakeSubmission(ctx, store.TakeSubmissionParams{GenericLinkID: link.ID, EmailKey: address.Key})
		if err != nil {
			return false, fmt.Errorf("take submission: %w", err)
		}
		err = q.RepeatSubmission(ctx, store.RepeatSubmissionParams{
			ID: s.ID, Name: p.Name, Answers: p.Answers, VerificationRequired: p.VerificationRequired, ConsentText: p.ConsentText,
			PrivacyURL: p.PrivacyURL, ConsentedAt: p.ConsentedAt,
		})
		if err != nil {
			return false, fmt.Errorf("repeat submission: %w", err)
		}
		return false, nil
	}
	err = webhook.Emit(ctx, tx, c.deps.Tokens, link.AccountID, webhook.FormSubmitted{
		SubmissionID: id, GenericLinkID: link.ID, LeadMagnetID: link.LeadMagnetID, Email: address.Text, Name: p.Name,
		Answers:              f.Answers,
		VerificationRequired: link.RequireVerification, UTM: f.UTM, Visitor: f.visitor(),
		SubmittedAt: api.TimeOf(now),
	})
	if err != nil {
		return false, fmt.Errorf("tell webhooks: %w", err)
	}
	return true, nil
}

// visitor returns what webhooks say of who sent the form.
func (f Form) visitor() webhook.Visitor { return webhook.VisitorOf(f.Bot, f.Suspect, f.leftOut) }

// formAccess returns the secret of a link for whoever submitted the form, or "" if the form leads
// to a page of the owner's instead. The link is new each time, since the next to type the address
// may be someone else; the mailbox's own link is only in the mail. Links of a form do not count for
// a submission that was verified.
func (c *Capture) formAccess(ctx context.Context, tx pgx.Tx, link store.GenericLink, s store.Submission, f Form,
	mayMail bool) (string, error) {
	own, err := c.mailboxAccess(ctx, tx, link, s, f.visitor())
	if err != nil {
		return "", err
	}
	if mayMail {
		if err := c.mailDocument(ctx, tx, link, own, f.Language); err != nil {
			return "", err
		}
	}
	if Redirect(link) != "" {
		return "", nil
	}
	id, err := uuid.NewV7()
	if err != nil {
		return "", fmt.Errorf("make id: %w", err)
	}
	t, err := accesslink.NewToken(c.deps.Tokens, id)
	if err != nil {
		return "", err
	}
	p := store.InsertFormLinkParams{ID: id, TokenHash: t.Hash, TokenSealed: t.Sealed,
		TokenKey: t.Key, MailboxLinkID: own.ID}
	if !s.Verified {
		p.SubmissionID = &s.ID
	}
	if err := store.New(tx).InsertFormLink(ctx, p); err != nil {
		return "", fmt.Errorf("add link of form: %w", err)
	}
	return t.Text, nil
}

// mailboxLink is the link of a submission that only its mailbox receives, and the token in its URL.
type mailboxLink struct {
	store.AccessLink
	token string
}

// mailboxAccess returns the link of a submission that only its mailbox receives, which it makes if
// there is none yet. The submission's row is locked, so that there is only one.
func (c *Capture) mailboxAccess(ctx context.Context, tx pgx.Tx, link store.GenericLink, s store.Submission,
	by webhook.Visitor) (mailboxLink, error) {
	var expiresAt *time.Time
	now := c.deps.Now()
	if link.AccessDays != nil {
		expiresAt = new(now.AddDate(0, 0, int(*link.AccessDays)))
	}
	a, err := store.New(tx).MailboxLink(ctx, s.ID)
	if err == nil && expiresAt != nil {
		err = store.New(tx).RenewMailboxLink(ctx, store.RenewMailboxLinkParams{ID: a.ID, ExpiresAt: *expiresAt, Now: now})
	}
	if err == nil {
		text, err := accesslink.OpenToken(c.deps.Tokens, a)
		return mailboxLink{a, text}, err
	}
	if !errors.Is(err, pgx.ErrNoRows) {
		return mailboxLink{}, fmt.Errorf("find access link: %w", err)
	}
	id, err := uuid.NewV7()
	if err != nil {
		return mailboxLink{}, fmt.Errorf("make id: %w", err)
	}
	t, err := accesslink.NewToken(c.deps.Tokens, id)
	if err != nil {
		return mailboxLink{}, err
	}
	a, err = store.New(tx).InsertMailboxLink(ctx, store.InsertMailboxLinkParams{
		ID: id, AccountID: s.AccountID, LeadMagnetID: link.LeadMagnetID, GenericLinkID: &link.ID, SubmissionID: &s.ID,
		Email: s.Email, EmailKey: s.EmailKey, TokenHash: t.Hash, TokenSealed: t.Sealed, TokenKey: t.Key, ExpiresAt: expiresAt,
	})
	if err != nil {
		return mailboxLink{}, fmt.Errorf("add access link: %w", err)
	}
	err = webhook.Emit(ctx, tx, c.deps.Tokens, s.AccountID, webhook.LinkCreated{
		Link: webhook.LinkOf(a), URL: c.accessURL(t.Text), ExpiresAt: api.OptionalTime(a.ExpiresAt),
		Visitor:   by,
		CreatedAt: api.TimeOf(a.CreatedAt),
	})
	if err != nil {
		return mailboxLink{}, fmt.Errorf("emit webhook event: %w", err)
	}
	return mailboxLink{a, t.Text}, nil
}

func (c *Capture) mailDocument(ctx context.Context, tx pgx.Tx, link store.GenericLink, a mailboxLink,
	language locale.Language) error {
	title, err := store.New(tx).OfferTitle(ctx, link.ID)
	if err != nil {
		return fmt.Errorf("read title: %w", err)
	}
	err = c.deps.Mail.Send(ctx, tx, mail.Message{
		Kind: mail.KindDocument, AccountID: a.AccountID, To: a.Email, URL: c.accessURL(a.token), Title: title,
		LeadMagnetID: a.LeadMagnetID, Language: language,
	})
	if err != nil {
		return fmt.Errorf("mail the document's link: %w", err)
	}
	return nil
}

// Redirect returns the owner's page that follows the form of a link, or "". Nothing that a visitor
// sends is in it.
func Redirect(link store.GenericLink) string {
	if to := link.RedirectURL; to != nil && web.Origin(*to) != "" {
		return *to
	}
	return ""
}

func (c *Capture) accessURL(token string) string { return c.deps.Site + web.ReadingPath(token) }

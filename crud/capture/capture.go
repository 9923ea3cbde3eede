// Package capture takes what visitors enter on a landing page: it makes submissions of addresses, has
// them verified where the link asks for it, and gives the document's personal link.
//
// Anybody can type anybody's address. So with verification nothing but the mailbox leads to the
// document, however often its address was verified before; no answer tells whether an address is known;
// and no mailbox is sent more than a few mails.
package capture

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/crud/limit"
	"lodestone/crud/mail"
	"lodestone/crud/store"
	"lodestone/crud/webhook"
	"lodestone/pkg/api"
	"lodestone/pkg/email"
	"lodestone/pkg/postgres"
	"lodestone/pkg/token"
)

// Mailer has a mail sent once a transaction commits; it is implemented by mail.Queue.
type Mailer interface {
	Send(ctx context.Context, tx pgx.Tx, m mail.Message) error
}

// Noticer has an account's owner told of a new lead once a transaction commits; it is implemented by
// notice.Notices.
type Noticer interface {
	NewLead(ctx context.Context, tx pgx.Tx, submission uuid.UUID) error
}

// Parts is what capture works with. Notices and Now may be nil; all else is required.
type Parts struct {
	DB      *postgres.Pool
	Limiter *limit.Limiter
	Mail    Mailer
	Notices Noticer // nil: nobody is told
	Tokens  *token.Ring
	Site    string           // public URL without a slash at the end
	Now     func() time.Time // the clock; nil: time.Now
}

// Capture takes submissions. It is safe for concurrent use.
type Capture struct {
	config Config
	Parts
	key [token.KeyBytes]byte
}

// New returns the capture of an installation.
func New(c Config, p Parts) *Capture {
	if p.Now == nil {
		p.Now = time.Now
	}
	return &Capture{config: c, Parts: p, key: p.Tokens.Derive("verification")}
}

// Limited is the error of somebody who did something too often.
type Limited struct{ Wait time.Duration }

// Error implements error.
func (l *Limited) Error() string { return "the visitor has to wait for " + l.Wait.String() }

// IsGone reports whether an error says that the link was deleted meanwhile.
func IsGone(err error) bool { return errors.Is(err, errGone) }

var errGone = errors.New("the link is gone")

// Outcome is where a visitor goes next. One of the two is set.
type Outcome struct {
	Access string // secret of the personal link
	Page   string // secret of the page that waits for the verification
}

// Submit takes a form for a link. The errors that the visitor can mend are Invalid and *Limited.
func (c *Capture) Submit(ctx context.Context, link store.GenericLink, f Form, client netip.Addr) (Outcome, error) {
	address, err := c.check(f, link)
	if err != nil {
		return Outcome{}, err
	}
	wait, err := c.Limiter.TakeAddress(ctx, c.config.forms(), client, "")
	if err != nil {
		return Outcome{}, fmt.Errorf("submit form: %w", err)
	}
	if wait > 0 {
		return Outcome{}, &Limited{wait}
	}
	wait, err = c.takeMail(ctx, address)
	if err != nil {
		return Outcome{}, fmt.Errorf("submit form: %w", err)
	}
	if wait > 0 && link.RequireVerification {
		return Outcome{}, &Limited{wait} // without the mail there is no way on
	}
	var out Outcome
	err = c.DB.Account(ctx, link.AccountID, func(tx pgx.Tx) (err error) {
		out, err = c.submit(ctx, tx, link, f, address, wait == 0)
		return err
	})
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
		more, err := c.Limiter.Take(ctx, rule, mailbox(a))
		if err != nil {
			return 0, err
		}
		wait = max(wait, more)
	}
	return wait, nil
}

func (c *Capture) submit(ctx context.Context, tx pgx.Tx, link store.GenericLink, f Form, address email.Address, mayMail bool) (Outcome, error) {
	q, now := store.New(tx), c.Now()
	first, err := c.record(ctx, tx, link, f, address, now)
	if err != nil {
		return Outcome{}, err
	}
	s, err := q.TakeSubmission(ctx, store.TakeSubmissionParams{GenericLinkID: link.ID, EmailKey: address.Key})
	if err != nil {
		return Outcome{}, fmt.Errorf("take submission: %w", err)
	}
	var out Outcome
	if link.RequireVerification {
		out.Page, err = c.beginVerification(ctx, tx, s, address.Text, now)
	} else {
		out.Access, err = c.giveAccess(ctx, tx, link, s, mayMail)
	}
	if err != nil || !first {
		return out, err
	}
	if !link.RequireVerification {
		if err := c.notify(ctx, tx, s.ID); err != nil {
			return out, err
		}
	}
	// Last, since it makes other submissions to the link wait.
	if err := q.CountSubmission(ctx, link.ID); err != nil {
		return out, fmt.Errorf("count submission: %w", err)
	}
	return out, nil
}

func (c *Capture) notify(ctx context.Context, tx pgx.Tx, submission uuid.UUID) error {
	if c.Notices == nil {
		return nil
	}
	if err := c.Notices.NewLead(ctx, tx, submission); err != nil {
		return fmt.Errorf("tell the owner: %w", err)
	}
	return nil
}

// record adds the submission of an address, or to it what it lacks, and reports whether it is the first.
func (c *Capture) record(ctx context.Context, tx pgx.Tx, link store.GenericLink, f Form, address email.Address, now time.Time) (first bool, err error) {
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
			ID: s.ID, Name: p.Name, VerificationRequired: p.VerificationRequired, ConsentText: p.ConsentText, PrivacyURL: p.PrivacyURL, ConsentedAt: p.ConsentedAt,
		})
		if err != nil {
			return false, fmt.Errorf("repeat submission: %w", err)
		}
		return false, nil
	}
	err = webhook.Emit(ctx, tx, link.AccountID, webhook.FormSubmitted{
		SubmissionID: id, GenericLinkID: link.ID, LeadMagnetID: link.LeadMagnetID, Email: address.Text, Name: p.Name,
		VerificationRequired: link.RequireVerification, UTM: f.UTM, SubmittedAt: api.TimeOf(now),
	})
	if err != nil {
		return false, fmt.Errorf("tell webhooks: %w", err)
	}
	return true, nil
}

// giveAccess returns the secret of a submission's personal link, which it makes if there is none yet. The
// submission's row is locked, so that there is only one.
func (c *Capture) giveAccess(ctx context.Context, tx pgx.Tx, link store.GenericLink, s store.Submission, mayMail bool) (string, error) {
	q := store.New(tx)
	a, err := q.AccessLinkOfSubmission(ctx, s.ID)
	if errors.Is(err, pgx.ErrNoRows) {
		a, err = c.makeAccess(ctx, tx, link, s)
	}
	if err != nil {
		return "", fmt.Errorf("give access: %w", err)
	}
	if mayMail {
		err = c.Mail.Send(ctx, tx, mail.Message{Kind: mail.KindDocument, AccountID: s.AccountID, To: s.Email, URL: c.accessURL(a.Token)})
		if err != nil {
			return "", fmt.Errorf("mail the document's link: %w", err)
		}
	}
	return a.Token, nil
}

func (c *Capture) makeAccess(ctx context.Context, tx pgx.Tx, link store.GenericLink, s store.Submission) (a store.AccessLink, err error) {
	id, err := uuid.NewV7()
	if err != nil {
		return a, fmt.Errorf("make id: %w", err)
	}
	a, err = store.New(tx).InsertAccessLinkOfSubmission(ctx, store.InsertAccessLinkOfSubmissionParams{
		ID: id, AccountID: s.AccountID, LeadMagnetID: link.LeadMagnetID, GenericLinkID: &link.ID, SubmissionID: &s.ID,
		Email: s.Email, EmailKey: s.EmailKey, Token: strings.ToLower(newToken()),
	})
	if err != nil {
		return a, fmt.Errorf("add access link: %w", err)
	}
	err = webhook.Emit(ctx, tx, s.AccountID, webhook.LinkCreated{
		Link: webhook.Link{AccessLinkID: a.ID, LeadMagnetID: a.LeadMagnetID, GenericLinkID: a.GenericLinkID, SubmissionID: a.SubmissionID, Email: a.Email},
		URL:  c.accessURL(a.Token), CreatedAt: api.TimeOf(a.CreatedAt),
	})
	if err != nil {
		return a, fmt.Errorf("tell webhooks: %w", err)
	}
	return a, nil
}

func (c *Capture) accessURL(token string) string { return c.Site + "/a/" + token }

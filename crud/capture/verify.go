package capture

import (
	"cmp"
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/crud/field"
	"lodestone/crud/gate"
	"lodestone/crud/mail"
	"lodestone/crud/proof"
	"lodestone/crud/web"
	"lodestone/crud/webhook"
	"lodestone/pkg/api"
	"lodestone/pkg/email"
	"lodestone/pkg/locale"
	"lodestone/pkg/store"
)

// Limits of one verification. Each submission of the form begins another, and sends a mail, whose
// number is limited by mailbox: so a hundred codes a day can be tried for a mailbox, of a million.
const (
	maxAttempts = 5
	maxMails    = 4
	mailPause   = 30 * time.Second
	// repeats is how long a verification that was used succeeds again, with the same outcome: a button
	// is pressed twice, and the answer to the first press is lost.
	repeats = time.Minute
)

// State is how far a verification is.
type State int

// The states.
const (
	Open    State = iota // it waits
	Used                 // the address is verified by it
	Over                 // its time is over
	Guessed              // too many codes were tried; the link in the mail still works
)

// Verification is the state of a verification, as its page shows it.
type Verification struct {
	State     State
	Email     string    // as typed by who has the page
	Slug      string    // of the landing page
	Attempts  int       // codes that can still be tried
	Ends      time.Time // when code and link stop to work
	MayResend bool      // a mail can be sent again, now or after a pause

	row       store.Verification
	mailbox   string
	genericID uuid.UUID
}

func (c *Capture) seen(v store.Verification, mailbox, slug string, link uuid.UUID) Verification {
	out := Verification{Email: v.Email, Slug: slug, Attempts: maxAttempts - int(v.Attempts), Ends: v.ExpiresAt, row: v,
		mailbox: mailbox, genericID: link}
	switch {
	case v.UsedAt != nil:
		out.State = Used
	case !c.deps.Now().Before(v.ExpiresAt):
		out.State = Over
	case v.Attempts >= maxAttempts:
		out.State = Guessed
	}
	out.MayResend = (out.State == Open || out.State == Guessed) && v.Mails < maxMails
	return out
}

// ErrUnknown is the error of a secret that belongs to nothing.
var ErrUnknown = errors.New("there is no such verification")

// ByPage returns the verification of a waiting page.
func (c *Capture) ByPage(ctx context.Context, page string) (Verification, error) {
	row, err := store.New(c.deps.Postgres.Unscoped()).VerificationByPage(ctx, proof.Hash(page))
	if errors.Is(err, pgx.ErrNoRows) {
		return Verification{}, ErrUnknown
	}
	if err != nil {
		return Verification{}, fmt.Errorf("find verification: %w", err)
	}
	return c.seen(row.Verification, row.Mailbox, row.Slug, row.GenericLinkID), nil
}

// ByLink returns the verification of a mail's link.
func (c *Capture) ByLink(ctx context.Context, link string) (Verification, error) {
	row, err := store.New(c.deps.Postgres.Unscoped()).VerificationByLink(ctx, proof.Hash(link))
	if errors.Is(err, pgx.ErrNoRows) {
		return Verification{}, ErrUnknown
	}
	if err != nil {
		return Verification{}, fmt.Errorf("find verification: %w", err)
	}
	return c.seen(row.Verification, row.Mailbox, row.Slug, row.GenericLinkID), nil
}

func (c *Capture) beginVerification(ctx context.Context, tx pgx.Tx, link store.GenericLink, s store.Submission, f Form,
	typed string, now time.Time) (page string, err error) {
	id, err := uuid.NewV7()
	if err != nil {
		return "", fmt.Errorf("make id: %w", err)
	}
	secrets := proof.New(c.keys()[0])
	ends := now.Add(c.config.VerificationTime)
	err = store.New(tx).InsertVerification(ctx, store.InsertVerificationParams{
		ID: id, AccountID: s.AccountID, SubmissionID: s.ID, Email: typed, PageHash: proof.Hash(secrets.Page),
		LinkHash: proof.Hash(secrets.Link),
		CodeHash: proof.CodeHash(secrets.Page, secrets.Code), SentAt: now, ExpiresAt: ends,
		Language: string(cmp.Or(f.Language, locale.English)),
	})
	if err != nil {
		return "", fmt.Errorf("add verification: %w", err)
	}
	return secrets.Page, c.mailSecrets(ctx, tx, link.ID, s.AccountID, s.Email, secrets, ends, f.Language)
}

// mailSecrets goes to the address of the first submission: a later one differs from it in case
// alone.
func (c *Capture) mailSecrets(ctx context.Context, tx pgx.Tx, link, account uuid.UUID, to string, s proof.Secrets,
	ends time.Time, language locale.Language) error {
	title, err := store.New(tx).OfferTitle(ctx, link)
	if err != nil {
		return fmt.Errorf("read title: %w", err)
	}
	err = c.deps.Mail.Send(ctx, tx, mail.Message{
		Kind: mail.KindConfirm, AccountID: account, To: to, URL: c.deps.Site + web.ConfirmPath(s.Link), Code: s.Code,
		ExpiresAt: ends, Title: title, Language: language,
	})
	if err != nil {
		return fmt.Errorf("mail the verification: %w", err)
	}
	return nil
}

// Confirm is the press of the button behind a mail's link. Where the verification's state is not
// Open or Guessed, the outcome is empty and the state says why. The error is an Invalid, or one of
// IsFull, if the link does not take the person any more.
func (c *Capture) Confirm(ctx context.Context, link string) (Outcome, Verification, error) {
	v, err := c.ByLink(ctx, link)
	if err != nil {
		return Outcome{}, v, err
	}
	var out Outcome
	err = c.deps.Postgres.Account(ctx, v.row.AccountID, func(tx pgx.Tx) (err error) {
		out, err = c.complete(ctx, tx, v)
		return err
	})
	if err != nil {
		return Outcome{}, v, fmt.Errorf("confirm address: %w", err)
	}
	if out.Access == "" {
		v, err = c.ByLink(ctx, link)
	}
	return out, v, err
}

// Try is a code that was typed on the waiting page. An empty outcome means that it was wrong, or
// that the state of the verification, which is returned as it is now, allows no more. The errors
// are those of Confirm.
func (c *Capture) Try(ctx context.Context, page, typed string) (Outcome, Verification, error) {
	v, err := c.ByPage(ctx, page)
	if err != nil || v.State != Open && !c.usedJustNow(v) {
		return Outcome{}, v, err
	}
	given := proof.CodeHash(page, proof.Digits(typed))
	var out Outcome
	err = c.deps.Postgres.Account(ctx, v.row.AccountID, func(tx pgx.Tx) error {
		out = Outcome{}
		// The try is counted whatever comes of it, so a wrong code commits.
		tried, err := store.New(tx).TryCode(ctx, store.TryCodeParams{ID: v.row.ID, MaxAttempts: maxAttempts,
			Now: c.deps.Now(), UsedSince: c.deps.Now().Add(-repeats)})
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("count code: %w", err)
		}
		if subtle.ConstantTimeCompare(tried.CodeHash, given) != 1 {
			return nil
		}
		out, err = c.complete(ctx, tx, v)
		return err
	})
	if err != nil {
		return Outcome{}, v, fmt.Errorf("try code: %w", err)
	}
	if out.Access == "" {
		v, err = c.ByPage(ctx, page)
	}
	return out, v, err
}

func (c *Capture) usedJustNow(v Verification) bool {
	return v.State == Used && v.row.UsedAt.After(c.deps.Now().Add(-repeats))
}

// complete uses a verification up, and gives the document. What follows from a verification follows
// once.
func (c *Capture) complete(ctx context.Context, tx pgx.Tx, v Verification) (Outcome, error) {
	q, now := store.New(tx), c.deps.Now()
	used, err := q.UseVerification(ctx, store.UseVerificationParams{ID: v.row.ID, Now: now, UsedSince: now.Add(-repeats)})
	if err != nil || used == 0 {
		return Outcome{}, err
	}
	link, err := q.GetLink(ctx, v.genericID)
	if err != nil {
		return Outcome{}, fmt.Errorf("read link: %w", err)
	}
	s, err := q.TakeSubmissionByID(ctx, v.row.SubmissionID)
	if err != nil {
		return Outcome{}, fmt.Errorf("take submission: %w", err)
	}
	if err := admits(link, s); err != nil { // nothing of it stays: the owner may change it back
		return Outcome{}, err
	}
	changed, err := q.VerifySubmission(ctx, store.VerifySubmissionParams{ID: s.ID, VerifiedAt: &now})
	if err != nil {
		return Outcome{}, fmt.Errorf("verify submission: %w", err)
	}
	if changed > 0 {
		answers, err := field.Stored(s.Answers)
		if err != nil {
			return Outcome{}, err
		}
		err = webhook.Emit(ctx, tx, c.deps.Tokens, s.AccountID, webhook.FormVerified{
			SubmissionID: s.ID, GenericLinkID: link.ID, LeadMagnetID: link.LeadMagnetID, Email: s.Email, Name: s.Name,
			Answers: answers, VerifiedAt: api.TimeOf(now),
		})
		if err != nil {
			return Outcome{}, fmt.Errorf("tell webhooks: %w", err)
		}
	}
	own, err := c.verifiedAccess(ctx, tx, link, s)
	if err == nil && changed > 0 { // who verifies again has the mail of the first time
		err = c.mailDocument(ctx, tx, link, own, locale.Language(v.row.Language))
	}
	if err == nil && changed > 0 { // the notice leads to the link
		err = c.notify(ctx, tx, s.ID)
	}
	return Outcome{Access: own.token}, err
}

// admits returns an Invalid, or an error of IsFull, if the gate of a link does not take the person
// of a submission any more. Who waits has a place, unless the owner left fewer places than people.
func admits(link store.GenericLink, s store.Submission) error {
	address, err := email.Parse(s.Email)
	if err != nil {
		return fmt.Errorf("read stored address: %w", err)
	}
	if key := gate.Refuses(link, address); key != "" {
		return Invalid{FieldEmail: key}
	}
	if !s.Verified && link.MaxPeople != nil && link.SubmissionCount > int64(*link.MaxPeople) {
		return errFull
	}
	return nil
}

// verifiedAccess returns the mailbox's link of a submission that is verified. Links that forms gave
// before do not count for it any more: they were given to whoever typed the address.
func (c *Capture) verifiedAccess(ctx context.Context, tx pgx.Tx, link store.GenericLink,
	s store.Submission) (mailboxLink, error) {
	own, err := c.mailboxAccess(ctx, tx, link, s, webhook.Visitor{})
	if err != nil {
		return own, err
	}
	q := store.New(tx)
	if err := q.VerifyMailboxLink(ctx, own.ID); err != nil {
		return own, fmt.Errorf("mark access link as verified: %w", err)
	}
	if err := q.DetachFormLinks(ctx, s.ID); err != nil {
		return own, fmt.Errorf("detach links of forms: %w", err)
	}
	return own, nil
}

// Resend sends the mail of a waiting page again, with the same link and code. It reports false
// where no more is sent; *LimitError says for how long it is too early. The other errors are those
// of Confirm.
func (c *Capture) Resend(ctx context.Context, page string) (sent bool, v Verification, err error) {
	v, err = c.ByPage(ctx, page)
	if err != nil || !v.MayResend {
		return false, v, err
	}
	now := c.deps.Now()
	if wait := v.row.SentAt.Add(mailPause).Sub(now); wait > 0 {
		return false, v, &LimitError{wait}
	}
	address, err := email.Parse(v.mailbox)
	if err != nil {
		return false, v, fmt.Errorf("read stored address: %w", err)
	}
	if err := c.stillAdmits(ctx, v); err != nil {
		return false, v, err
	}
	wait, err := c.takeMail(ctx, address)
	if err != nil {
		return false, v, fmt.Errorf("send mail again: %w", err)
	}
	if wait > 0 {
		return false, v, &LimitError{wait}
	}
	secrets := proof.Again(c.keys(), page, v.row.LinkHash)
	err = c.deps.Postgres.Account(ctx, v.row.AccountID, func(tx pgx.Tx) error {
		counted, err := store.New(tx).ResendVerification(ctx, store.ResendVerificationParams{
			ID: v.row.ID, Now: now, MaxMails: maxMails, SentBefore: now.Add(-mailPause), LinkHash: proof.Hash(secrets.Link),
			CodeHash: proof.CodeHash(page, secrets.Code),
		})
		if sent = counted > 0; err != nil || !sent {
			return err
		}
		return c.mailSecrets(ctx, tx, v.genericID, v.row.AccountID, v.mailbox, secrets, v.row.ExpiresAt,
			locale.Language(v.row.Language))
	})
	if err != nil {
		return false, v, fmt.Errorf("send mail again: %w", err)
	}
	return sent, v, nil
}

// stillAdmits is admits for the verification that waits.
func (c *Capture) stillAdmits(ctx context.Context, v Verification) error {
	err := c.deps.Postgres.Account(ctx, v.row.AccountID, func(tx pgx.Tx) error {
		q := store.New(tx)
		link, err := q.GetLink(ctx, v.genericID)
		if err != nil {
			return fmt.Errorf("read link: %w", err)
		}
		s, err := q.TakeSubmissionByID(ctx, v.row.SubmissionID)
		if err != nil {
			return fmt.Errorf("take submission: %w", err)
		}
		return admits(link, s)
	})
	if err != nil {
		return fmt.Errorf("look whether the link takes the address: %w", err)
	}
	return nil
}

package notice

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/crud/mail"
	"lodestone/pkg/bot"
	"lodestone/pkg/email"
	"lodestone/pkg/locale"
	"lodestone/pkg/ratelimit"
	"lodestone/pkg/store"
)

const confirmPath = path + "confirm/"

// How often anyone is asked to agree to notices: a tenant can enter any address.
func questionsTo() ratelimit.Rule {
	return ratelimit.Rule{Name: "notice-questions-to", Quota: 3, Window: time.Hour}
}

func questionsOf() ratelimit.Rule {
	return ratelimit.Rule{Name: "notice-questions-of", Quota: 10, Window: 24 * time.Hour}
}

// MayAsk counts a question by an account to an address, and returns how long it has to wait.
func (n *Notices) MayAsk(ctx context.Context, account uuid.UUID, to email.Address) (time.Duration, error) {
	wait, err := n.limiter.Take(ctx, questionsOf(), account.String())
	if err != nil || wait > 0 {
		return wait, err
	}
	return n.limiter.Take(ctx, questionsTo(), to.Mailbox())
}

// Check returns an error that says which addresses mails can be sent to, if this is none.
func (n *Notices) Check(ctx context.Context, to email.Address) error {
	if !n.deps.Mail.Reaches(ctx, to.Text) {
		return mail.ErrUnreachable
	}
	return nil
}

// Ask has an address asked to agree to an account's notices once the transaction, which is the
// account's, commits.
func (n *Notices) Ask(ctx context.Context, tx pgx.Tx, account uuid.UUID, to string) error {
	if !mail.CanReach(to) {
		n.deps.Log.Warn("cannot ask to confirm an account's notify_email: no mail can be sent to it", "account_id", account)
		return nil
	}
	a, err := store.New(tx).TakeNotices(ctx)
	if err != nil {
		return fmt.Errorf("read language of account: %w", err)
	}
	return n.deps.Mail.Send(ctx, tx, mail.Message{
		Kind: mail.KindNotices, Language: locale.Or(a.Language, ""), AccountID: account, To: to,
		URL: n.deps.Pages.URL(confirmPath + n.grant(forConfirmation, account, to)),
	})
}

// confirmState is the data of the page.
type confirmState struct {
	To       string
	Done     bool    // it is confirmed
	More     string  // page on which notices are ended
	Language *string // of the account
	Program  bool    // a program pressed the button, and says that it is one: nothing happened
}

// askToConfirm is the page that the question leads to. Programs that look at mails follow links, so
// nothing happens until a person presses the button.
func (n *Notices) askToConfirm(w http.ResponseWriter, r *http.Request) error {
	return n.writeConfirm(w, r, false)
}

func (n *Notices) confirmed(w http.ResponseWriter, r *http.Request) error {
	return n.writeConfirm(w, r, true)
}

func (n *Notices) writeConfirm(w http.ResponseWriter, r *http.Request, confirm bool) error {
	program := confirm && n.deps.Bots.Classify(bot.RequestOf(r)) != ""
	s, err := n.confirm(r, confirm && !program)
	if err != nil {
		return err
	}
	status := http.StatusOK
	if s.Program = program; program {
		status = http.StatusForbidden
	}
	return n.confirmation.Write(w, r, status, n.page(r, "notice.confirm", s.Language, s))
}

func (n *Notices) confirm(r *http.Request, confirm bool) (s confirmState, err error) {
	err = n.ofToken(r, forConfirmation, func(q *store.Queries, account uuid.UUID, to string,
		a store.TakeNoticesRow) error {
		s = confirmState{To: to, Done: a.NotifyConfirmedAt != nil || confirm,
			More: n.unsubscribeURL(account, to), Language: a.Language}
		if !confirm {
			return nil
		}
		if _, err := q.ConfirmNotices(r.Context(), to); err != nil {
			return fmt.Errorf("confirm address for notices: %w", err)
		}
		return nil
	})
	return s, err
}

package recipient

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/crud/mail"
	"lodestone/pkg/api"
	"lodestone/pkg/auth"
	"lodestone/pkg/locale"
	"lodestone/pkg/problem"
	"lodestone/pkg/store"
)

// sendBatch is how many mails one transaction queues.
const sendBatch = 1000

// registerMails adds the operations that send mails.
func (r *Recipients) registerMails(a *api.API) {
	words := map[string]any{"subject": "{name}, our guide is out",
		"text": "Hello {name},\n\nread it here:\n{link}\n\nBest,\nKim"}
	again := map[string]any{"subject": "Did you see it?", "text": "Hello {name},\n\nit is still here:\n{link}",
		"after_days": 3}
	api.Register(a, api.Operation{
		ID: "send-to-recipients", Method: "POST", Path: path + "/send", Scope: auth.Write, Tag: tag,
		Timeout: importTimeout, Summary: "Send the document to recipients by mail",
		Description: "Queues one mail, in your words and the account's brand, for each recipient in the state added, or for those named. " +
			"No one gets it twice, and no one who unsubscribed gets it.",
		BodyExample: words, Errors: []problem.Code{problem.Conflict},
	}, r.send)
	api.Register(a, api.Operation{
		ID: "remind-recipients", Method: "POST", Path: path + "/remind", Scope: auth.Write, Tag: tag,
		Timeout: importTimeout, Summary: "Remind recipients by mail",
		Description: "Queues a reminder for each recipient who did not open the document for after_days after the mail, or, with before_page, " +
			"opened it and stopped before that page. Each recipient is reminded once.",
		BodyExample: again, Errors: []problem.Code{problem.Conflict},
	}, r.remind)
	api.Register(a, api.Operation{
		ID: "get-reminder-rule", Method: "GET", Path: path + "/reminder", Scope: auth.Read, Tag: tag,
		Summary: "Get the rule by which recipients are reminded",
	}, r.getRule)
	api.Register(a, api.Operation{
		ID: "set-reminder-rule", Method: "PUT", Path: path + "/reminder", Scope: auth.Write, Tag: tag,
		Summary:     "Set the rule by which recipients are reminded",
		Description: "Lodestone looks every hour for recipients to remind, as remind-recipients does.",
		BodyExample: again,
	}, r.setRule)
	api.Register(a, api.Operation{
		ID: "delete-reminder-rule", Method: "DELETE", Path: path + "/reminder", Scope: auth.Write, Tag: tag,
		Status: http.StatusNoContent, Summary: "Remove the rule by which recipients are reminded",
		Description: "The request succeeds even if there is none.",
	}, r.deleteRule)
}

// Words are a mail as an owner writes it.
type Words struct {
	Subject string `json:"subject" minLength:"1" maxLength:"150" doc:"Subject. {name} stands for the recipient's name."`
	Text    string `json:"text" format:"text" minLength:"1" maxLength:"5000" doc:"Text. {name} stands for the recipient's name, and {link} for the button with the personal link, which else comes last."`
}

var placeholder = regexp.MustCompile(`\{[^{}\s]*\}`)

// check returns the problem of words with placeholders that cannot be filled, or nil.
func (w Words) check() error {
	var wrong []problem.Field
	for _, f := range []struct{ field, text, allowed string }{
		{"subject", w.Subject, "{name}"}, {"text", w.Text, "{name} and {link}"},
	} {
		for _, found := range placeholder.FindAllString(f.text, -1) {
			if !strings.Contains(f.allowed, found) {
				wrong = append(wrong, problem.Field{Field: f.field, Message: "has " + found + "; allowed is " + f.allowed})
			}
		}
		if strings.Count(f.text, "{link}") > 1 {
			wrong = append(wrong, problem.Field{Field: f.field, Message: "has {link} twice; allowed is once"})
		}
	}
	if wrong != nil {
		return problem.Invalid(wrong...)
	}
	return nil
}

// maxName is how many characters of a name stand in a mail.
const maxName = 100

// to returns the words to one recipient. Without a name, the space before its place goes too.
func (w Words) to(name *string) *mail.Own {
	fill := func(text string) string {
		if name == nil {
			text = strings.ReplaceAll(text, " {name}", "")
			return strings.ReplaceAll(text, "{name}", "")
		}
		return strings.ReplaceAll(text, "{name}", mail.Clean(*name, maxName))
	}
	before, after, _ := strings.Cut(w.Text, "{link}")
	return &mail.Own{Subject: strings.TrimLeft(fill(w.Subject), " ,"), Before: fill(before),
		After: fill(strings.TrimLeft(after, " .,;:"))}
}

type sendInput struct {
	ID   uuid.UUID `path:"id" doc:"Id of the generic link."`
	Body struct {
		Words
		IDs []uuid.UUID `json:"ids" required:"false" nullable:"false" maxItems:"1000" doc:"Only these recipients; those who have got the mail are left out."`
	}
}

// Sending is what a request queued.
type Sending struct {
	Queued int `json:"queued" doc:"Mails that were queued."`
}

func (r *Recipients) send(ctx context.Context, in *sendInput) (*api.Answer[Sending], error) {
	n, err := r.queue(ctx, auth.From(ctx).AccountID, in.ID, letters{mail.KindRecipient, in.Body.Words,
		func(ctx context.Context, q *store.Queries) ([]receiver, error) {
			rows, err := q.QueueInvitations(ctx, store.QueueInvitationsParams{GenericLinkID: in.ID, IDs: in.Body.IDs,
				RowLimit: sendBatch})
			return receivers(rows), err
		}})
	if err != nil {
		return nil, err
	}
	return api.OK(Sending{n}), nil
}

// receiver is someone who is to get a mail.
type receiver = store.QueueInvitationsRow

func receivers[R store.QueueInvitationsRow | store.QueueRemindersRow](rows []R) []receiver {
	list := make([]receiver, len(rows))
	for i := range rows {
		list[i] = receiver(rows[i])
	}
	return list
}

// letters are mails of one kind. take marks at most sendBatch recipients as queued, and returns
// them.
type letters struct {
	kind  mail.Kind
	words Words
	take  func(ctx context.Context, q *store.Queries) ([]receiver, error)
}

// queue queues mails to the recipients of a link, and returns how many. Each transaction marks some
// recipients and queues their mails, so that whatever ends it half way, none gets two and none is
// marked without one. The error is a problem if the words are wrong, or the document is not active.
func (r *Recipients) queue(ctx context.Context, account, link uuid.UUID, l letters) (n int, err error) {
	if err := l.words.check(); err != nil {
		return 0, err
	}
	for {
		some := 0
		err := r.deps.Postgres.Account(ctx, account, func(tx pgx.Tx) error {
			q := store.New(tx)
			about, err := q.RecipientLetter(ctx, link)
			if errors.Is(err, pgx.ErrNoRows) {
				return problem.Missing("generic link")
			}
			if err != nil {
				return err
			}
			if !about.IsActive {
				return problem.New(problem.Conflict, "The lead magnet is not active: activate it before you send links to it.")
			}
			to, err := l.take(ctx, q)
			if err != nil {
				return err
			}
			some = len(to)
			mails := make([]mail.Message, len(to))
			for i, one := range to {
				own := l.words.to(one.Name)
				own.ReplyTo = about.ReplyTo
				mails[i] = mail.Message{
					Kind: l.kind, AccountID: account, To: one.Email, Title: about.Title, LeadMagnetID: about.LeadMagnetID,
					Language: locale.Or(&about.Language, ""), Own: own, Recipient: one.ID,
					Unsubscribe: r.unsubscribeURL(account, one.PersonID),
				}
				if mails[i].URL, err = r.urlOf(one.ID, one.TokenSealed); err != nil {
					return err
				}
			}
			return r.deps.Mail.SendAll(ctx, tx, mails, mail.Later)
		})
		if err != nil {
			return n, fmt.Errorf("queue mails to recipients: %w", err)
		}
		if n += some; some < sendBatch {
			return n, nil
		}
	}
}

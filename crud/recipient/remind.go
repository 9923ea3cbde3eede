package recipient

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/crud/link"
	"lodestone/crud/mail"
	"lodestone/pkg/api"
	"lodestone/pkg/auth"
	"lodestone/pkg/problem"
	"lodestone/pkg/store"
)

// ReminderRule says who is reminded, and in what words.
type ReminderRule struct {
	Words
	AfterDays  int32  `json:"after_days" minimum:"1" maximum:"90" doc:"Days after the mail, or after the last time that the document was read."`
	BeforePage *int32 `json:"before_page" required:"false" minimum:"2" maximum:"10000" doc:"Also recipients who opened the document and stopped before this page; null for none."`
}

type ruleInput struct {
	ID   uuid.UUID `path:"id" doc:"Id of the generic link."`
	Body ReminderRule
}

type remindInput struct {
	ID   uuid.UUID `path:"id" doc:"Id of the generic link."`
	Body struct {
		Words
		AfterDays  int32       `json:"after_days" minimum:"0" maximum:"90" doc:"Days after the mail, or after the last time that the document was read; 0 for all who are left."`
		BeforePage *int32      `json:"before_page" required:"false" minimum:"2" maximum:"10000" doc:"Also recipients who opened the document and stopped before this page; null for none."`
		IDs        []uuid.UUID `json:"ids" required:"false" nullable:"false" maxItems:"1000" doc:"Only these recipients."`
	}
}

func (r *Recipients) remind(ctx context.Context, in *remindInput) (*api.Answer[Sending], error) {
	n, err := r.remindBy(ctx, auth.From(ctx).AccountID, in.ID,
		ReminderRule{in.Body.Words, in.Body.AfterDays, in.Body.BeforePage}, in.Body.IDs)
	if err != nil {
		return nil, err
	}
	return api.OK(Sending{n}), nil
}

func (r *Recipients) remindBy(ctx context.Context, account, link uuid.UUID, rule ReminderRule,
	ids []uuid.UUID) (int, error) {
	return r.queue(ctx, account, link, letters{mail.KindReminder, rule.Words,
		func(ctx context.Context, q *store.Queries) ([]receiver, error) {
			rows, err := q.QueueReminders(ctx, store.QueueRemindersParams{GenericLinkID: link, AfterDays: rule.AfterDays,
				BeforePage: rule.BeforePage, IDs: ids, RowLimit: sendBatch})
			return receivers(rows), err
		}})
}

func (r *Recipients) getRule(ctx context.Context, in *linkInput) (*api.Answer[ReminderRule], error) {
	var row store.ReminderRule
	err := r.deps.Postgres.AccountSnapshot(ctx, auth.From(ctx).AccountID, func(tx pgx.Tx) (err error) {
		row, err = store.New(tx).GetReminderRule(ctx, in.ID)
		return err
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, problem.Missing("reminder rule of a generic link")
	}
	if err != nil {
		return nil, fmt.Errorf("get reminder rule: %w", err)
	}
	return api.OK(ruleOf(row)), nil
}

func ruleOf(row store.ReminderRule) ReminderRule {
	return ReminderRule{Words{row.Subject, row.Body}, row.AfterDays, row.BeforePage}
}

func (r *Recipients) setRule(ctx context.Context, in *ruleInput) (*api.Answer[ReminderRule], error) {
	if err := in.Body.check(); err != nil {
		return nil, err
	}
	account := auth.From(ctx).AccountID
	err := r.deps.Postgres.Account(ctx, account, func(tx pgx.Tx) error {
		q := store.New(tx)
		if _, err := link.Get(ctx, tx, in.ID); err != nil {
			return err
		}
		return q.PutReminderRule(ctx, store.PutReminderRuleParams{GenericLinkID: in.ID, AccountID: account,
			AfterDays: in.Body.AfterDays, BeforePage: in.Body.BeforePage, Subject: in.Body.Subject, Body: in.Body.Text})
	})
	if err != nil {
		return nil, fmt.Errorf("set reminder rule: %w", err)
	}
	return api.OK(in.Body), nil
}

func (r *Recipients) deleteRule(ctx context.Context, in *linkInput) (*api.Answer[api.Empty], error) {
	err := r.deps.Postgres.Account(ctx, auth.From(ctx).AccountID, func(tx pgx.Tx) error {
		q := store.New(tx)
		if _, err := link.Get(ctx, tx, in.ID); err != nil {
			return err
		}
		return q.DeleteReminderRule(ctx, in.ID)
	})
	if err != nil {
		return nil, fmt.Errorf("remove reminder rule: %w", err)
	}
	return &api.Answer[api.Empty]{}, nil
}

// reminders is the job of sending reminders by rules. It may run twice, and at the same time.
type reminders struct{}

// Kind implements river.JobArgs.
func (reminders) Kind() string { return "recipient-reminders" }

// sendReminders queues the reminders that are due by the rules of all links. A rule that cannot be
// followed keeps no other from it.
func (r *Recipients) sendReminders(ctx context.Context) error {
	var errs []error
	for after := uuid.Nil; ; {
		rules, err := store.New(r.deps.Postgres.Unscoped()).ReminderRulesAfter(ctx, after)
		if err != nil {
			return fmt.Errorf("read reminder rules: %w", err)
		}
		if len(rules) == 0 {
			return errors.Join(errs...)
		}
		for _, row := range rules {
			after = row.GenericLinkID
			_, err := r.remindBy(ctx, row.AccountID, row.GenericLinkID, ruleOf(row), nil)
			if err != nil && !problem.Is(err, problem.Conflict) && !problem.Is(err, problem.NotFound) {
				errs = append(errs, fmt.Errorf("link %s: %w", row.GenericLinkID, err))
			}
		}
	}
}

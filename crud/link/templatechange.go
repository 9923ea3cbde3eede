package link

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/crud/account"
	"lodestone/pkg/api"
	"lodestone/pkg/auth"
	"lodestone/pkg/problem"
	"lodestone/pkg/store"
)

type createTemplateInput struct {
	Body newTemplate
}

type newTemplate struct {
	Name     string  `json:"name" minLength:"1" maxLength:"100" pattern:"[^\\s\u00a0\u00ad\u034f\u115f\u1160\u1680\u2000-\u200f\u202a-\u202f\u205f-\u206f\u2800\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0]" patternDescription:"a text of 1 to 100 characters, not only blanks" doc:"Name of the template."`
	Source   *string `json:"source" required:"false" minLength:"1" maxLength:"200" doc:"Value of utm_source, such as newsletter."`
	Medium   *string `json:"medium" required:"false" minLength:"1" maxLength:"200" doc:"Value of utm_medium, such as email."`
	Campaign *string `json:"campaign" required:"false" minLength:"1" maxLength:"200" doc:"Value of utm_campaign."`
	Content  *string `json:"content" required:"false" minLength:"1" maxLength:"200" doc:"Value of utm_content."`
	Term     *string `json:"term" required:"false" minLength:"1" maxLength:"200" doc:"Value of utm_term."`
}

// errNoParameter is the problem of a template without a parameter.
func errNoParameter() error {
	return problem.Invalid(problem.Field{Field: "source",
		Message: "is missing: give at least one of source, medium, campaign, content and term"})
}

func (t *Templates) create(ctx context.Context, in *createTemplateInput) (*api.Answer[Template], error) {
	b := in.Body
	if b.Source == nil && b.Medium == nil && b.Campaign == nil && b.Content == nil && b.Term == nil {
		return nil, errNoParameter()
	}
	owner := auth.From(ctx).AccountID
	id, err := uuid.NewV7()
	if err != nil {
		return nil, fmt.Errorf("create UTM template: %w", err)
	}
	auth.RecordCreated(ctx, id)
	var row store.UtmTemplate
	err = t.db.Account(ctx, owner, func(tx pgx.Tx) error {
		// One at a time, so that two at once cannot pass the limit.
		if _, err := account.LockPlan(ctx, tx); err != nil {
			return err
		}
		q := store.New(tx)
		n, err := q.CountUTMTemplates(ctx)
		if err != nil {
			return fmt.Errorf("count UTM templates: %w", err)
		}
		if n >= maxTemplates {
			return problem.New(problem.LimitReached,
				fmt.Sprintf("An account can have %d UTM templates: delete some that are not used.", maxTemplates))
		}
		row, err = q.InsertUTMTemplate(ctx, store.InsertUTMTemplateParams{
			ID: id, AccountID: owner, Name: b.Name, Source: b.Source, Medium: b.Medium, Campaign: b.Campaign,
			Content: b.Content, Term: b.Term,
		})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("create UTM template: %w", err)
	}
	return api.Created(templatesPath+"/"+id.String(), templateFromRow(row, "")).At(row.Revision), nil
}

type updateTemplateInput struct {
	ID uuid.UUID `path:"id" doc:"Id of the template."`
	api.Precondition
	Body changedTemplate
}

type changedTemplate struct {
	Name     *string            `json:"name" required:"false" nullable:"false" minLength:"1" maxLength:"100" pattern:"[^\\s\u00a0\u00ad\u034f\u115f\u1160\u1680\u2000-\u200f\u202a-\u202f\u205f-\u206f\u2800\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0]" patternDescription:"a text of 1 to 100 characters, not only blanks" doc:"Name of the template."`
	Source   api.Change[string] `json:"source" required:"false" minLength:"1" maxLength:"200" doc:"Value of utm_source; null removes it."`
	Medium   api.Change[string] `json:"medium" required:"false" minLength:"1" maxLength:"200" doc:"Value of utm_medium; null removes it."`
	Campaign api.Change[string] `json:"campaign" required:"false" minLength:"1" maxLength:"200" doc:"Value of utm_campaign; null removes it."`
	Content  api.Change[string] `json:"content" required:"false" minLength:"1" maxLength:"200" doc:"Value of utm_content; null removes it."`
	Term     api.Change[string] `json:"term" required:"false" minLength:"1" maxLength:"200" doc:"Value of utm_term; null removes it."`
}

func (t *Templates) update(ctx context.Context, in *updateTemplateInput) (*api.Answer[Template], error) {
	revisions, err := in.Revisions()
	if err != nil {
		return nil, err
	}
	b := in.Body
	var row store.UtmTemplate
	err = t.db.Account(ctx, auth.From(ctx).AccountID, func(tx pgx.Tx) (err error) {
		if b == (changedTemplate{}) {
			row, err = readTemplate(ctx, tx, in.ID)
			if err == nil && !api.Matches(row.Revision, revisions) {
				err = problem.Stale("UTM template")
			}
			return err
		}
		row, err = store.New(tx).UpdateUTMTemplate(ctx, store.UpdateUTMTemplateParams{
			ID: in.ID, Revisions: revisions, Name: b.Name, SetSource: b.Source.Given, Source: b.Source.Value,
			SetMedium: b.Medium.Given, Medium: b.Medium.Value,
			SetCampaign: b.Campaign.Given, Campaign: b.Campaign.Value, SetContent: b.Content.Given, Content: b.Content.Value,
			SetTerm: b.Term.Given, Term: b.Term.Value,
		})
		if errors.Is(err, pgx.ErrNoRows) {
			return templateConflict(ctx, tx, in.ID)
		}
		if err == nil && row.Source == nil && row.Medium == nil && row.Campaign == nil &&
			row.Content == nil && row.Term == nil {
			err = errNoParameter()
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("update UTM template: %w", err)
	}
	return api.OK(templateFromRow(row, "")).At(row.Revision), nil
}

// templateConflict says why a statement that compares revisions found nothing to change.
func templateConflict(ctx context.Context, tx pgx.Tx, id uuid.UUID) error {
	if _, err := readTemplate(ctx, tx, id); err != nil {
		return err
	}
	return problem.Stale("UTM template")
}

type deleteTemplateInput struct {
	ID uuid.UUID `path:"id" doc:"Id of the template."`
	api.Precondition
}

func (t *Templates) delete(ctx context.Context, in *deleteTemplateInput) (*api.Answer[api.Empty], error) {
	revisions, err := in.Revisions()
	if err != nil {
		return nil, err
	}
	err = t.db.Account(ctx, auth.From(ctx).AccountID, func(tx pgx.Tx) error {
		n, err := store.New(tx).DeleteUTMTemplate(ctx, store.DeleteUTMTemplateParams{ID: in.ID, Revisions: revisions})
		if err != nil || n > 0 {
			return err
		}
		return templateConflict(ctx, tx, in.ID)
	})
	if err != nil {
		return nil, fmt.Errorf("delete UTM template: %w", err)
	}
	return &api.Answer[api.Empty]{}, nil
}

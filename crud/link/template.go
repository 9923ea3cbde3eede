package link

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/crud/web"
	"lodestone/pkg/api"
	"lodestone/pkg/auth"
	"lodestone/pkg/postgres"
	"lodestone/pkg/problem"
	"lodestone/pkg/store"
)

// Template is saved campaign parameters as the API shows them.
type Template struct {
	ID        uuid.UUID `json:"id" format:"uuid" doc:"Unique identifier."`
	Name      string    `json:"name" doc:"Name of the template."`
	Source    *string   `json:"source" doc:"Value of utm_source; null: the parameter is omitted."`
	Medium    *string   `json:"medium" doc:"Value of utm_medium; null: the parameter is omitted."`
	Campaign  *string   `json:"campaign" doc:"Value of utm_campaign; null: the parameter is omitted."`
	Content   *string   `json:"content" doc:"Value of utm_content; null: the parameter is omitted."`
	Term      *string   `json:"term" doc:"Value of utm_term; null: the parameter is omitted."`
	URL       *string   `json:"url" doc:"URL of the generic link in generic_link_id, with the parameters; null without generic_link_id."`
	CreatedAt api.Time  `json:"created_at" doc:"When it was created."`
	UpdatedAt api.Time  `json:"updated_at" doc:"When it was last changed."`
}

// maxTemplates is how many templates an account can have.
const maxTemplates = 500

const (
	templatesPath = "/api/v1/utm-templates"
	templatesTag  = "UTM templates"
)

// Templates serves the templates of accounts. It is safe for concurrent use.
type Templates struct {
	db   *postgres.Pool
	site string
}

// NewTemplates returns the templates of a database. site is the public URL of the landing pages,
// without a slash at the end.
func NewTemplates(db *postgres.Pool, site string) *Templates { return &Templates{db, site} }

// Register adds the operations.
func (t *Templates) Register(a *api.API) {
	api.Register(a, api.Operation{
		ID: "create-utm-template", Method: "POST", Path: templatesPath, Scope: auth.Write,
		Tag: templatesTag, Status: 201, Tagged: true,
		Summary: "Save campaign parameters", Description: "A template has at least one parameter.",
		Errors: []problem.Code{problem.LimitReached},
	}, t.create)
	api.Register(a, api.Operation{
		ID: "list-utm-templates", Method: "GET", Path: templatesPath, Scope: auth.Read, Tag: templatesTag,
		Summary:     "List the saved campaign parameters, newest first",
		Description: "With generic_link_id, each has the URL of that link with its parameters.",
		PerPage:     api.PageSize{Default: 20, Max: 100}, Errors: []problem.Code{problem.NotFound},
	}, t.list)
	api.Register(a, api.Operation{
		ID: "get-utm-template", Method: "GET", Path: templatesPath + "/{id}", Scope: auth.Read,
		Tag: templatesTag, Tagged: true,
		Summary:     "Get saved campaign parameters",
		Description: "With generic_link_id, url is the URL of that link with the parameters.",
	}, t.get)
	api.Register(a, api.Operation{
		ID: "update-utm-template", Method: "PATCH", Path: templatesPath + "/{id}", Scope: auth.Write,
		Tag: templatesTag, Tagged: true,
		Summary:     "Change saved campaign parameters",
		Description: "Omitted fields keep their values; null removes a parameter. Addresses that carry the old values keep working.",
	}, t.update)
	api.Register(a, api.Operation{
		ID: "delete-utm-template", Method: "DELETE", Path: templatesPath + "/{id}", Scope: auth.Write,
		Tag: templatesTag, Status: 204,
		Summary: "Delete saved campaign parameters",
	}, t.delete)
}

type templateLinkInput struct {
	GenericLinkID *uuid.UUID `query:"generic_link_id" doc:"Generic link whose URL gets the parameters."`
}

type listTemplatesInput struct {
	api.Paging
	templateLinkInput
}

func (t *Templates) list(ctx context.Context, in *listTemplatesInput) (*api.Answer[api.Page[Template]], error) {
	var total int64
	var templates []Template
	err := t.db.AccountSnapshot(ctx, auth.From(ctx).AccountID, func(tx pgx.Tx) error {
		address, err := t.address(ctx, tx, in.GenericLinkID)
		if err != nil {
			return err
		}
		q := store.New(tx)
		if total, err = q.CountUTMTemplates(ctx); err != nil {
			return err
		}
		rows, err := q.ListUTMTemplates(ctx, store.ListUTMTemplatesParams{RowOffset: in.Offset(), RowLimit: in.Limit()})
		for _, row := range rows {
			templates = append(templates, templateFromRow(row, address))
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list UTM templates: %w", err)
	}
	return api.List(ctx, in.Paging, templates, total), nil
}

// address returns the URL of a link, "" for none.
func (t *Templates) address(ctx context.Context, tx pgx.Tx, link *uuid.UUID) (string, error) {
	if link == nil {
		return "", nil
	}
	row, err := Get(ctx, tx, *link)
	if err != nil {
		return "", err
	}
	return t.site + web.LandingPath(row.Slug), nil
}

func templateFromRow(row store.UtmTemplate, address string) Template {
	var url *string
	if address != "" {
		text := Campaign{Source: row.Source, Medium: row.Medium, Name: row.Campaign, Content: row.Content,
			Term: row.Term}.Add(address)
		url = &text
	}
	return Template{
		ID: row.ID, Name: row.Name, Source: row.Source, Medium: row.Medium, Campaign: row.Campaign,
		Content: row.Content, Term: row.Term, URL: url,
		CreatedAt: api.TimeOf(row.CreatedAt), UpdatedAt: api.TimeOf(row.UpdatedAt),
	}
}

type getTemplateInput struct {
	ID uuid.UUID `path:"id" doc:"Id of the template."`
	templateLinkInput
}

func (t *Templates) get(ctx context.Context, in *getTemplateInput) (*api.Answer[Template], error) {
	var row store.UtmTemplate
	var address string
	err := t.db.AccountSnapshot(ctx, auth.From(ctx).AccountID, func(tx pgx.Tx) (err error) {
		if row, err = readTemplate(ctx, tx, in.ID); err != nil {
			return err
		}
		address, err = t.address(ctx, tx, in.GenericLinkID)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("get UTM template: %w", err)
	}
	return api.OK(templateFromRow(row, address)).At(row.Revision), nil
}

// readTemplate returns a template, or the problem that there is none.
func readTemplate(ctx context.Context, tx pgx.Tx, id uuid.UUID) (store.UtmTemplate, error) {
	row, err := store.New(tx).GetUTMTemplate(ctx, id)
	if errors.Is(err, pgx.ErrNoRows) {
		return row, problem.Missing("UTM template")
	}
	if err != nil {
		return row, fmt.Errorf("read UTM template: %w", err)
	}
	return row, nil
}

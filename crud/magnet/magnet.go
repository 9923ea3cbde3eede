// Package magnet is the lead magnets of an account: the documents on offer and their files.
package magnet

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/singleflight"

	"lodestone/crud/account"
	"lodestone/crud/file"
	"lodestone/crud/pdf"
	"lodestone/crud/picture"
	"lodestone/pkg/api"
	"lodestone/pkg/auth"
	"lodestone/pkg/limit"
	"lodestone/pkg/plan"
	"lodestone/pkg/postgres"
	"lodestone/pkg/problem"
	"lodestone/pkg/store"
)

// LeadMagnet is a lead magnet as the API shows it. What is about the file is null until there is
// one.
type LeadMagnet struct {
	ID               uuid.UUID `json:"id" format:"uuid" doc:"Unique identifier."`
	Title            string    `json:"title" doc:"Title of the document."`
	Description      *string   `json:"description" doc:"Description of the document."`
	Author           *string   `json:"author" doc:"Who wrote it, as landing pages show it. Without one, the first file sets it if its metadata names a person."`
	AuthorAbout      *string   `json:"author_about" doc:"A sentence about the author."`
	EndText          *string   `json:"end_text" doc:"Text after the last page."`
	EndButton        *string   `json:"end_button" doc:"Label of the button after the last page."`
	EndURL           *string   `json:"end_url" doc:"URL that the button after the last page opens."`
	Downloadable     bool      `json:"downloadable" doc:"Whether the reading page offers the file for download and printing."`
	FileName         *string   `json:"file_name" doc:"Name of the file."`
	FileSize         *int64    `json:"file_size" doc:"Size of the file in bytes."`
	PageCount        *int32    `json:"page_count" doc:"Pages of the file."`
	ContentType      *string   `json:"content_type" doc:"Media type of the file."`
	IsActive         bool      `json:"is_active" doc:"Whether links to it can be created and opened."`
	GenericLinkCount int64     `json:"generic_link_count" doc:"Number of its generic links."`
	AccessLinkCount  int64     `json:"access_link_count" doc:"Number of its access links."`
	CreatedAt        api.Time  `json:"created_at" doc:"When it was created."`
	UpdatedAt        api.Time  `json:"updated_at" doc:"When it or its file was last changed."`
}

// Deps are the dependencies of lead magnets. All are required.
type Deps struct {
	Postgres *postgres.Pool
	Files    *file.Files
	Reader   *pdf.Reader
	Renderer *picture.Thumbnailer
	Intake   *file.Intake // of the files that are being received
	Log      *slog.Logger
}

// Config is the setting of lead magnets.
type Config struct {
	MaxFileBytes int64
	Plans        plan.Plans
}

// Magnets serves the lead magnets.
type Magnets struct {
	config    Config
	deps      Deps
	downloads *limit.Slots[uuid.UUID]
	rendering singleflight.Group // pages of a version
}

// New returns the lead magnets of a database.
func New(c Config, d Deps) *Magnets {
	return &Magnets{config: c, deps: d, downloads: limit.NewSlots[uuid.UUID](maxDownloads, maxAccountDownloads)}
}

const (
	path = "/api/v1/lead-magnets"
	tag  = "Lead magnets"
)

// Register adds the operations on lead magnets.
func (m *Magnets) Register(a *api.API) {
	api.Register(a, api.Operation{
		ID: "create-lead-magnet", Method: "POST", Path: path, Scope: auth.Write, Tag: tag, Status: 201, Tagged: true,
		Summary: "Create a lead magnet",
		Errors:  []problem.Code{problem.LimitReached},
		NotHere: map[string]string{"is_active": "cannot be set here: a new lead magnet is active, and PATCH changes that"},
	}, m.create)
	api.Register(a, api.Operation{
		ID: "list-lead-magnets", Method: "GET", Path: path, Scope: auth.Read, Tag: tag,
		Summary: "List lead magnets, newest first", PerPage: api.PageSize{Default: 20, Max: 100},
	}, m.list)
	api.Register(a, api.Operation{
		ID: "get-lead-magnet", Method: "GET", Path: path + "/{id}", Scope: auth.Read, Tag: tag, Tagged: true,
		Summary: "Get a lead magnet",
	}, m.get)
	api.Register(a, api.Operation{
		ID: "update-lead-magnet", Method: "PATCH", Path: path + "/{id}", Scope: auth.Write, Tag: tag, Tagged: true,
		Summary: "Change a lead magnet", Description: "Omitted fields keep their values; null clears the description.",
	}, m.update)
	api.Register(a, api.Operation{
		ID: "delete-lead-magnet", Method: "DELETE", Path: path + "/{id}", Scope: auth.Write, Tag: tag, Status: 204,
		Timeout: deleteTimeout,
		Summary: "Delete a lead magnet and its file",
		Description: "For a lead magnet with links the answer is 409, unless cascade=true is given, which also deletes its generic links, their " +
			"submissions and its access links. Recorded events stay.",
		Errors: []problem.Code{problem.Conflict},
	}, m.delete)
	m.registerFile(a)
	m.registerVersions(a)
	m.registerPages(a)
}

type createInput struct {
	Body newLeadMagnet
}

type newLeadMagnet struct {
	Title       string  `json:"title" minLength:"1" maxLength:"200" pattern:"[^\\s\u00a0\u00ad\u034f\u115f\u1160\u1680\u2000-\u200f\u202a-\u202f\u205f-\u206f\u2800\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0]" patternDescription:"a text of 1 to 200 characters, not only blanks" doc:"Title of the document."`
	Description *string `json:"description" required:"false" maxLength:"5000" format:"text" doc:"Description of the document."`
	Author      *string `json:"author" required:"false" minLength:"1" maxLength:"100" pattern:"[^\\s\u00a0\u00ad\u034f\u115f\u1160\u1680\u2000-\u200f\u202a-\u202f\u205f-\u206f\u2800\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0]" patternDescription:"a text of 1 to 100 characters, not only blanks" doc:"Who wrote it, as landing pages show it."`
	AuthorAbout *string `json:"author_about" required:"false" minLength:"1" maxLength:"500" format:"text" pattern:"[^\\s\u00a0\u00ad\u034f\u115f\u1160\u1680\u2000-\u200f\u202a-\u202f\u205f-\u206f\u2800\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0]" patternDescription:"a text of 1 to 500 characters, not only blanks" doc:"A sentence about the author."`
	EndText     *string `json:"end_text" required:"false" minLength:"1" maxLength:"500" format:"text" pattern:"[^\\s\u00a0\u00ad\u034f\u115f\u1160\u1680\u2000-\u200f\u202a-\u202f\u205f-\u206f\u2800\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0]" patternDescription:"a text of 1 to 500 characters, not only blanks" doc:"Text after the last page."`
	EndButton   *string `json:"end_button" required:"false" minLength:"1" maxLength:"40" pattern:"[^\\s\u00a0\u00ad\u034f\u115f\u1160\u1680\u2000-\u200f\u202a-\u202f\u205f-\u206f\u2800\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0]" patternDescription:"a text of 1 to 40 characters, not only blanks" doc:"Label of a button after the last page; needs end_url."`
	EndURL      *string `json:"end_url" required:"false" maxLength:"2048" pattern:"^[Hh][Tt][Tt][Pp][Ss]?://[^/?#\\s]" patternDescription:"a full http or https URL, such as https://example.com/next" doc:"http or https URL that the button after the last page opens; needs end_button."`

	Downloadable *bool `json:"downloadable" required:"false" nullable:"false" default:"true" doc:"Whether the reading page offers the file for download and printing. A browser that shows a document has its bytes, so false does not stop a reader determined to copy it."`
}

func (m *Magnets) create(ctx context.Context, in *createInput) (*api.Answer[LeadMagnet], error) {
	if err := checkEnd(in.Body.EndButton, in.Body.EndURL); err != nil {
		return nil, err
	}
	caller := auth.From(ctx)
	id, err := uuid.NewV7()
	if err != nil {
		return nil, fmt.Errorf("create lead magnet: %w", err)
	}
	auth.RecordCreated(ctx, id)
	var row store.LeadMagnet
	err = m.deps.Postgres.Account(ctx, caller.AccountID, func(tx pgx.Tx) error {
		if err := account.Reserve(ctx, tx, m.config.Plans, account.LeadMagnets, 1); err != nil {
			return err
		}
		row, err = store.New(tx).InsertMagnet(ctx, store.InsertMagnetParams{
			ID: id, AccountID: caller.AccountID, Title: in.Body.Title, Description: in.Body.Description,
			Author: in.Body.Author, AuthorAbout: in.Body.AuthorAbout, EndText: in.Body.EndText,
			EndButton: in.Body.EndButton, EndURL: in.Body.EndURL,
			Downloadable: in.Body.Downloadable == nil || *in.Body.Downloadable,
		})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("create lead magnet: %w", err)
	}
	return api.Created(path+"/"+id.String(), fromRow(store.GetMagnetRow{LeadMagnet: row})).At(row.Revision), nil
}

type idInput struct {
	ID uuid.UUID `path:"id" doc:"Id of the lead magnet."`
}

func (m *Magnets) get(ctx context.Context, in *idInput) (*api.Answer[LeadMagnet], error) {
	var row store.GetMagnetRow
	err := m.deps.Postgres.AccountSnapshot(ctx, auth.From(ctx).AccountID, func(tx pgx.Tx) (err error) {
		row, err = read(ctx, tx, in.ID)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("get lead magnet: %w", err)
	}
	return api.OK(fromRow(row)).At(row.LeadMagnet.Revision), nil
}

// Get returns a lead magnet of the account that the transaction is scoped to, or the problem that
// there is none.
func Get(ctx context.Context, tx pgx.Tx, id uuid.UUID) (LeadMagnet, error) {
	row, err := read(ctx, tx, id)
	if err != nil {
		return LeadMagnet{}, err
	}
	return fromRow(row), nil
}

// read is Get for what the API does not show as well.
func read(ctx context.Context, tx pgx.Tx, id uuid.UUID) (store.GetMagnetRow, error) {
	row, err := store.New(tx).GetMagnet(ctx, id)
	if errors.Is(err, pgx.ErrNoRows) {
		return row, problem.Missing("lead magnet")
	}
	if err != nil {
		return row, fmt.Errorf("read lead magnet: %w", err)
	}
	return row, nil
}

type listInput struct {
	api.Paging
}

func (m *Magnets) list(ctx context.Context, in *listInput) (*api.Answer[api.Page[LeadMagnet]], error) {
	var total int64
	var magnets []LeadMagnet
	err := m.deps.Postgres.AccountSnapshot(ctx, auth.From(ctx).AccountID, func(tx pgx.Tx) (err error) {
		q := store.New(tx)
		if total, err = q.CountMagnets(ctx); err != nil {
			return err
		}
		rows, err := q.ListMagnets(ctx, store.ListMagnetsParams{RowOffset: in.Offset(), RowLimit: in.Limit()})
		if err != nil {
			return err
		}
		for _, row := range rows {
			magnets = append(magnets, fromRow(store.GetMagnetRow(row)))
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list lead magnets: %w", err)
	}
	return api.List(ctx, in.Paging, magnets, total), nil
}

func fromRow(row store.GetMagnetRow) LeadMagnet {
	return LeadMagnet{
		ID: row.LeadMagnet.ID, Title: row.LeadMagnet.Title, Description: row.LeadMagnet.Description,
		Author: row.LeadMagnet.Author, AuthorAbout: row.LeadMagnet.AuthorAbout,
		EndText: row.LeadMagnet.EndText, EndButton: row.LeadMagnet.EndButton, EndURL: row.LeadMagnet.EndURL,
		Downloadable: row.LeadMagnet.Downloadable,
		FileName:     row.FileName, FileSize: row.FileSize, PageCount: row.PageCount, ContentType: row.ContentType,
		IsActive: row.LeadMagnet.IsActive, GenericLinkCount: row.GenericLinkCount, AccessLinkCount: row.AccessLinkCount,
		CreatedAt: api.TimeOf(row.LeadMagnet.CreatedAt), UpdatedAt: api.TimeOf(row.LeadMagnet.UpdatedAt),
	}
}

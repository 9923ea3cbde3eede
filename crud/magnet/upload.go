package magnet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/crud/account"
	"lodestone/crud/file"
	"lodestone/crud/pdf"
	"lodestone/crud/picture"
	"lodestone/pkg/api"
	"lodestone/pkg/auth"
	"lodestone/pkg/jsonschema"
	"lodestone/pkg/problem"
	"lodestone/pkg/store"
)

const (
	contentType = "application/pdf"
	// transferTimeout bounds an upload or a download: 50 MB at about 1.5 Mbit/s.
	transferTimeout = 5 * time.Minute
)

func (m *Magnets) rules() file.UploadRules {
	return file.UploadRules{What: "the PDF", Types: []string{contentType}, MaxBytes: m.config.MaxFileBytes,
		Timeout: transferTimeout, Intake: m.deps.Intake}
}

func (m *Magnets) registerFile(a *api.API) {
	api.RegisterRaw(a, api.Operation{
		ID: "upload-lead-magnet-file", Method: "PUT", Path: path + "/{id}/file", Scope: auth.Write, Tag: tag,
		Summary: "Set the file of a lead magnet",
		Description: "The body is either the PDF itself (application/pdf), with its name in Content-Disposition or the parameter file_name, " +
			"or a form (multipart/form-data) with the PDF in the part named file. Each upload is a new version of the file.",
		Body:    m.rules().Describe(),
		Answers: map[string]*jsonschema.Schema{"application/json": api.SchemaOf[LeadMagnet](a)},
		Timeout: transferTimeout,
		Errors: []problem.Code{problem.UnsupportedMediaType, problem.PayloadTooLarge,
			problem.ValidationError, problem.LimitReached},
	}, m.upload)
	api.RegisterRaw(a, api.Operation{
		ID: "download-lead-magnet-file", Method: "GET", Path: path + "/{id}/file", Scope: auth.Read, Tag: tag,
		Summary: "Download the file of a lead magnet",
		Answers: map[string]*jsonschema.Schema{contentType: jsonschema.Binary()},
		Timeout: transferTimeout, Ranges: true,
	}, m.download)
}

type uploadInput struct {
	ID       uuid.UUID `path:"id" doc:"Id of the lead magnet."`
	FileName *string   `query:"file_name" minLength:"1" maxLength:"255" doc:"Name of the file, if the request does not give it elsewhere."`
	UseTitle bool      `query:"use_title" default:"false" doc:"Whether the lead magnet takes the title in the file's metadata, if that is one for readers: no file name, and no default of a program."`
}

// newFile is an upload on its way into the database.
type newFile struct {
	*file.Upload
	name   string
	object *uuid.UUID // that has the bytes; nil: none
	// useTitle takes the title of the file for the lead magnet.
	useTitle bool
	content
}

func (m *Magnets) upload(w http.ResponseWriter, r *http.Request, in *uploadInput) error {
	ctx, caller := r.Context(), auth.From(r.Context()).AccountID
	var title string
	// Look first, so that no one sends 50 MB to learn that there is nothing to send them to.
	err := m.deps.Postgres.AccountSnapshot(ctx, caller, func(tx pgx.Tx) error {
		found, err := Get(ctx, tx, in.ID)
		title = found.Title
		return err
	})
	if err != nil {
		return fmt.Errorf("upload file: %w", err)
	}
	received, err := m.rules().Receive(w, r, caller)
	if err != nil {
		return err
	}
	defer received.Discard()
	f := &newFile{Upload: received, name: received.Name, useTitle: in.UseTitle}
	if f.name == "" && in.FileName != nil {
		f.name = *in.FileName
	}
	if f.name, err = cleanName(f.name, title); err != nil {
		return err
	}
	f.content, err = m.read(ctx, caller, f.Temp)
	if reason, invalid := pdf.IsInvalid(err); invalid {
		return problem.Invalid(problem.Field{Field: file.UploadPart, Message: reason})
	}
	if err != nil {
		return fmt.Errorf("upload file: %w", err)
	}
	if f.object, err = m.deps.Files.Write(ctx, caller, f.Temp, f.Size); err != nil {
		return fmt.Errorf("upload file: %w", err)
	}
	var stored LeadMagnet
	err = m.deps.Postgres.Account(ctx, caller, func(tx pgx.Tx) error {
		if err := m.store(ctx, tx, f, caller, in.ID); err != nil {
			return err
		}
		stored, err = Get(ctx, tx, in.ID)
		return err
	})
	if err != nil {
		return fmt.Errorf("upload file: %w", err)
	}
	return api.WriteJSON(w, http.StatusOK, nil, stored)
}

// content is the extracted content of a PDF.
type content struct {
	pages    int
	outline  []byte      // JSON; nil: there is no table of contents
	author   *string     // that the file names; nil: none
	title    *string     // that the file has; nil: none
	pictures picture.Set // none if its first page cannot be rendered
}

func (m *Magnets) read(ctx context.Context, owner uuid.UUID, temp *os.File) (c content, err error) {
	document, err := m.deps.Reader.Read(ctx, owner, temp)
	if err != nil {
		return c, err
	}
	c.pages = document.Pages
	if document.Author != "" {
		c.author = &document.Author
	}
	if document.Title != "" {
		c.title = &document.Title
	}
	if document.Outline != nil {
		if c.outline, err = json.Marshal(document.Outline); err != nil {
			return c, fmt.Errorf("encode the table of contents: %w", err)
		}
	}
	if document.Cover != nil {
		c.pictures, err = m.deps.Renderer.Document(ctx, document.Cover, document.Inside)
	}
	return c, err
}

// store adds the file as the next version of a lead magnet and makes it the current one.
func (m *Magnets) store(ctx context.Context, tx pgx.Tx, f *newFile, owner, id uuid.UUID) error {
	q := store.New(tx)
	row, err := q.LockMagnet(ctx, id)
	if errors.Is(err, pgx.ErrNoRows) {
		return problem.Missing("lead magnet")
	}
	if err != nil {
		return fmt.Errorf("lock lead magnet: %w", err)
	}
	if err := f.checkPages(ctx, q, id); err != nil {
		return err
	}
	if err := discard(ctx, q, &id); err != nil {
		return err
	}
	if err := account.Reserve(ctx, tx, m.config.Plans, account.StoredBytes, f.Size); err != nil {
		return err
	}
	version := row.FileVersion + 1
	err = m.deps.Files.Insert(ctx, tx, store.InsertFileParams{
		LeadMagnetID: id, Version: version, AccountID: owner, FileName: f.name, ContentType: contentType,
		FileSize: f.Size, PageCount: int32(f.pages), SHA256: f.SHA256, ObjectID: f.object,
	}, f.Temp)
	if err != nil {
		return err
	}
	if err := f.pictures.StoreForFile(ctx, tx, owner, id, version, f.outline); err != nil {
		return err
	}
	set := store.SetMagnetVersionParams{ID: id, FileVersion: version}
	if version == 1 { // who clears the author later means it
		set.Author = f.author
	}
	if f.useTitle {
		set.Title = f.title
	}
	if err := q.SetMagnetVersion(ctx, set); err != nil {
		return fmt.Errorf("set version of file: %w", err)
	}
	return nil
}

// checkPages refuses a file that is too long for the watermark that readers of the lead magnet
// have: it would be shown to no one of them. The lead magnet is locked, as it is while a watermark
// is switched on.
func (f *newFile) checkPages(ctx context.Context, q *store.Queries, id uuid.UUID) error {
	if f.pages <= pdf.MaxStamped {
		return nil
	}
	marked, err := q.MarkedLinks(ctx, id)
	if err != nil {
		return fmt.Errorf("look for watermarks: %w", err)
	}
	var remedy string
	switch {
	case len(marked.Slugs) > 1:
		remedy = fmt.Sprintf("turn the watermark of the generic links %s off", strings.Join(marked.Slugs, ", "))
	case len(marked.Slugs) == 1:
		remedy = fmt.Sprintf("turn the watermark of the generic link %s off", marked.Slugs[0])
	case marked.Personal > 0:
		remedy = fmt.Sprintf("deactivate the %d access links that keep the watermark of a deleted generic link", marked.Personal)
	default:
		return nil
	}
	return problem.Invalid(problem.Field{Field: file.UploadPart, Message: fmt.Sprintf(
		"has %d pages, and a watermark is drawn on %d at most: upload a file with fewer, or %s", f.pages, pdf.MaxStamped, remedy)})
}

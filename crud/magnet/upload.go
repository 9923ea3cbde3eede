package magnet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/crud/pdf"
	"lodestone/crud/picture"
	"lodestone/crud/store"
	"lodestone/crud/upload"
	"lodestone/pkg/api"
	"lodestone/pkg/auth"
	"lodestone/pkg/problem"
)

const (
	contentType = "application/pdf"
	// transferTimeout bounds an upload or a download: 50 MB at about 1.5 Mbit/s.
	transferTimeout = 5 * time.Minute
	chunkBytes      = 1 << 20
	maxNameBytes    = 255
)

func (m *Magnets) rules() upload.Rules {
	return upload.Rules{What: "the PDF", Types: []string{contentType}, MaxBytes: m.maxBytes, Timeout: transferTimeout}
}

func (m *Magnets) registerFile(a *api.API) {
	api.RegisterRaw(a, api.Operation{
		ID: "upload-lead-magnet-file", Method: "PUT", Path: path + "/{id}/file", Scope: auth.Write, Tag: tag,
		Summary: "Set the file of a lead magnet",
		Description: "The body is the PDF itself (application/pdf), its name in Content-Disposition or the parameter file_name; " +
			"or a form (multipart/form-data) with the PDF in the part named file. Each upload is a new version of the file.",
		Body:    m.rules().Describe(),
		Answers: map[string]*huma.Schema{"application/json": api.SchemaOf[LeadMagnet](a)},
		Timeout: transferTimeout,
		Errors:  []problem.Code{problem.UnsupportedMediaType, problem.PayloadTooLarge, problem.ValidationError},
	}, m.upload)
	api.RegisterRaw(a, api.Operation{
		ID: "download-lead-magnet-file", Method: "GET", Path: path + "/{id}/file", Scope: auth.Read, Tag: tag,
		Summary: "Download the file of a lead magnet",
		Answers: map[string]*huma.Schema{contentType: {Type: huma.TypeString, Format: "binary"}},
		Timeout: transferTimeout, Ranges: true,
	}, m.download)
}

type uploadInput struct {
	ID       uuid.UUID `path:"id" doc:"Id of the lead magnet."`
	FileName *string   `query:"file_name" minLength:"1" maxLength:"255" doc:"Name of the file, if the request does not name it otherwise."`
}

// file is an upload on its way into the database.
type file struct {
	*upload.File
	name     string
	pages    int
	pictures picture.Set // none if its first page cannot be rendered
}

func (m *Magnets) upload(w http.ResponseWriter, r *http.Request, in *uploadInput) error {
	ctx, account := r.Context(), auth.From(r.Context()).AccountID
	var title string
	// Look first, so that nobody sends 50 MB to learn that there is nothing to send them to.
	err := m.db.AccountSnapshot(ctx, account, func(tx pgx.Tx) error {
		found, err := Get(ctx, tx, in.ID)
		title = found.Title
		return err
	})
	if err != nil {
		return fmt.Errorf("upload file: %w", err)
	}
	received, err := m.rules().Receive(w, r)
	if err != nil {
		return err
	}
	defer received.Discard()
	f := &file{File: received, name: received.Name}
	if f.name == "" && in.FileName != nil {
		f.name = *in.FileName
	}
	if f.name, err = cleanName(f.name, title); err != nil {
		return err
	}
	f.pages, f.pictures, err = m.read(ctx, f.Temp)
	if reason, invalid := pdf.IsInvalid(err); invalid {
		return problem.Invalid(problem.Field{Field: upload.Part, Message: reason})
	}
	if err != nil {
		return fmt.Errorf("upload file: %w", err)
	}
	var stored LeadMagnet
	err = m.db.Account(ctx, account, func(tx pgx.Tx) error {
		if err := f.store(ctx, tx, account, in.ID); err != nil {
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

// read returns the pages of a PDF, and the pictures of its first one, if that can be rendered.
func (m *Magnets) read(ctx context.Context, temp *os.File) (int, picture.Set, error) {
	document, err := m.reader.Read(ctx, temp)
	if err != nil || document.Cover == nil {
		return document.Pages, nil, err
	}
	pictures, err := m.painter.Thumbnails(ctx, document.Cover)
	return document.Pages, pictures, err
}

// store adds the file as the next version of a lead magnet and makes it the current one.
func (f *file) store(ctx context.Context, tx pgx.Tx, account, id uuid.UUID) error {
	q := store.New(tx)
	row, err := q.LockMagnet(ctx, id)
	if errors.Is(err, pgx.ErrNoRows) {
		return problem.Missing("lead magnet")
	}
	if err != nil {
		return fmt.Errorf("lock lead magnet: %w", err)
	}
	version := row.FileVersion + 1
	err = q.InsertFile(ctx, store.InsertFileParams{
		LeadMagnetID: id, Version: version, AccountID: account, FileName: f.name, ContentType: contentType,
		FileSize: f.Size, PageCount: int32(f.pages), SHA256: f.SHA256,
	})
	if err != nil {
		return fmt.Errorf("store file: %w", err)
	}
	chunk := make([]byte, chunkBytes)
	for number := int32(0); int64(number)*chunkBytes < f.Size; number++ {
		n, err := f.Temp.ReadAt(chunk, int64(number)*chunkBytes)
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("read received file: %w", err)
		}
		err = q.InsertChunk(ctx, store.InsertChunkParams{LeadMagnetID: id, Version: version, Number: number, AccountID: account, Bytes: chunk[:n]})
		if err != nil {
			return fmt.Errorf("store chunk of file: %w", err)
		}
	}
	if err := f.pictures.StoreForFile(ctx, tx, account, id, version); err != nil {
		return err
	}
	if err := q.SetMagnetVersion(ctx, store.SetMagnetVersionParams{ID: id, FileVersion: version}); err != nil {
		return fmt.Errorf("set version of file: %w", err)
	}
	return nil
}

// cleanName returns the last element of the name that a file was sent with, or one made from the
// title if it was sent without.
func cleanName(name, title string) (string, error) {
	if name == "" {
		name = strings.Map(func(r rune) rune {
			if r == '/' || r == '\\' || unicode.IsControl(r) {
				return '-'
			}
			return r
		}, title)
		for len(name) > maxNameBytes-len(".pdf") {
			_, size := utf8.DecodeLastRuneInString(name)
			name = name[:len(name)-size]
		}
		return name + ".pdf", nil
	}
	name = filepath.Base(filepath.FromSlash(strings.ReplaceAll(name, `\`, "/")))
	bad := !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl) || len(name) > maxNameBytes ||
		name == "." || name == ".." || name == string(filepath.Separator)
	if bad {
		return "", problem.Invalid(problem.Field{Field: "file_name", Message: "must be a name of at most 255 bytes without control characters"})
	}
	return name, nil
}

package magnet

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"mime"
	"mime/multipart"
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
	"lodestone/crud/store"
	"lodestone/pkg/api"
	"lodestone/pkg/auth"
	"lodestone/pkg/problem"
)

const (
	contentType   = "application/pdf"
	multipartType = "multipart/form-data"
	multipartPart = "file"
	// transferTimeout bounds an upload or a download: 50 MB at about 1.5 Mbit/s.
	transferTimeout = 5 * time.Minute
	chunkBytes      = 1 << 20
	maxNameBytes    = 255
)

func (m *Magnets) registerFile(a *api.API) {
	binary := &huma.Schema{Type: huma.TypeString, Format: "binary"}
	api.RegisterRaw(a, api.Operation{
		ID: "upload-lead-magnet-file", Method: "PUT", Path: path + "/{id}/file", Scope: auth.Write, Tag: tag,
		Summary: "Set the file of a lead magnet",
		Description: "The body is the PDF itself (application/pdf), its name in Content-Disposition or the parameter file_name; " +
			"or a form (multipart/form-data) with the PDF in the part named file. Each upload is a new version of the file.",
		Body: map[string]*huma.Schema{
			contentType: binary,
			multipartType: {
				Type: huma.TypeObject, Properties: map[string]*huma.Schema{multipartPart: binary}, Required: []string{multipartPart},
			},
		},
		Answers: map[string]*huma.Schema{"application/json": api.SchemaOf[LeadMagnet](a)},
		Timeout: transferTimeout,
		Errors:  []problem.Code{problem.UnsupportedMediaType, problem.PayloadTooLarge, problem.ValidationError},
	}, m.upload)
	api.RegisterRaw(a, api.Operation{
		ID: "download-lead-magnet-file", Method: "GET", Path: path + "/{id}/file", Scope: auth.Read, Tag: tag,
		Summary: "Download the file of a lead magnet",
		Answers: map[string]*huma.Schema{contentType: binary},
		Timeout: transferTimeout,
	}, m.download)
}

type uploadInput struct {
	ID       uuid.UUID `path:"id" doc:"Id of the lead magnet."`
	FileName *string   `query:"file_name" minLength:"1" maxLength:"255" doc:"Name of the file, if the request does not name it otherwise."`
}

// file is an upload on its way into the database.
type file struct {
	temp   *os.File
	name   string
	size   int64
	sha256 []byte
	pages  int
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
	body, name, err := m.open(w, r)
	if err != nil {
		return err
	}
	if name == "" && in.FileName != nil {
		name = *in.FileName
	}
	f := &file{}
	if f.name, err = cleanName(name, title); err != nil {
		return err
	}
	defer f.discard()
	if err := f.receive(body, m.maxBytes); err != nil {
		return err
	}
	if f.pages, err = m.pages.Pages(ctx, f.temp); err != nil {
		if reason, invalid := pdf.IsInvalid(err); invalid {
			return problem.Invalid(problem.Field{Field: multipartPart, Message: reason})
		}
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

// open returns the bytes of the file that a request carries, and its name, if it tells one.
func (m *Magnets) open(w http.ResponseWriter, r *http.Request) (body io.Reader, name string, err error) {
	unsupported := problem.New(problem.UnsupportedMediaType, "Send the PDF as Content-Type: application/pdf, or as a form (multipart/form-data) with the part file.")
	if e := r.Header.Get("Content-Encoding"); e != "" && !strings.EqualFold(e, "identity") {
		return nil, "", problem.New(problem.UnsupportedMediaType, "Send the file without Content-Encoding.")
	}
	kind, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != contentType && kind != multipartType {
		return nil, "", unsupported
	}
	// The form around a file takes a little more; the file itself is measured as it is read.
	if r.ContentLength > m.maxBytes+chunkBytes {
		return nil, "", tooLarge(m.maxBytes)
	}
	deadline := http.NewResponseController(w)
	for _, set := range []func(time.Time) error{deadline.SetReadDeadline, deadline.SetWriteDeadline} {
		if err := set(time.Now().Add(transferTimeout)); err != nil && !errors.Is(err, http.ErrNotSupported) {
			return nil, "", fmt.Errorf("upload file: %w", err)
		}
	}
	limited := http.MaxBytesReader(w, r.Body, m.maxBytes+chunkBytes)
	if kind == contentType {
		return limited, dispositionName(r.Header.Get("Content-Disposition")), nil
	}
	boundary := params["boundary"]
	if boundary == "" {
		return nil, "", unsupported
	}
	parts := multipart.NewReader(limited, boundary)
	for {
		part, err := parts.NextPart()
		if err != nil {
			if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
				return nil, "", tooLarge(m.maxBytes)
			}
			return nil, "", problem.Invalid(problem.Field{Field: multipartPart, Message: "is required: a part of the form with the PDF"}).Because(err)
		}
		if part.FormName() == multipartPart {
			return part, dispositionName(part.Header.Get("Content-Disposition")), nil
		}
	}
}

func tooLarge(limit int64) error {
	return problem.New(problem.PayloadTooLarge, fmt.Sprintf("The file may have at most %d bytes.", limit))
}

// receive copies the upload into a temporary file that has no name any more where the system
// allows that, so that nothing is left behind by a crash.
func (f *file) receive(body io.Reader, limit int64) (err error) {
	if f.temp, err = os.CreateTemp("", "lodestone-upload-*.pdf"); err != nil {
		return fmt.Errorf("receive file: %w", err)
	}
	_ = os.Remove(f.temp.Name()) // where this fails, discard does it
	sum := sha256.New()
	f.size, err = io.Copy(&sink{f.temp, sum}, io.LimitReader(body, limit+1))
	var over *http.MaxBytesError
	var sinkErr *sinkError
	switch {
	case errors.As(err, &sinkErr):
		return fmt.Errorf("receive file: %w", err)
	case f.size > limit || errors.As(err, &over):
		return tooLarge(limit)
	case err != nil:
		return problem.Invalid(problem.Field{Field: multipartPart, Message: "could not be received to its end"}).Because(err)
	case f.size == 0:
		return problem.Invalid(problem.Field{Field: multipartPart, Message: "is empty: send a PDF"})
	}
	f.sha256 = sum.Sum(nil)
	return nil
}

func (f *file) discard() {
	if f.temp == nil {
		return
	}
	_ = f.temp.Close()
	_ = os.Remove(f.temp.Name())
}

// sink writes what arrives to a file and its hash, and marks its own errors, which are not the
// sender's fault.
type sink struct {
	file *os.File
	hash hash.Hash
}

type sinkError struct{ error }

func (e *sinkError) Unwrap() error { return e.error }

func (s *sink) Write(b []byte) (int, error) {
	n, err := s.file.Write(b)
	if err != nil {
		return n, &sinkError{err}
	}
	_, _ = s.hash.Write(b) // documented never to fail
	return n, nil
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
		FileSize: f.size, PageCount: int32(f.pages), SHA256: f.sha256,
	})
	if err != nil {
		return fmt.Errorf("store file: %w", err)
	}
	chunk := make([]byte, chunkBytes)
	for number := int32(0); int64(number)*chunkBytes < f.size; number++ {
		n, err := f.temp.ReadAt(chunk, int64(number)*chunkBytes)
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("read received file: %w", err)
		}
		err = q.InsertChunk(ctx, store.InsertChunkParams{LeadMagnetID: id, Version: version, Number: number, AccountID: account, Bytes: chunk[:n]})
		if err != nil {
			return fmt.Errorf("store chunk of file: %w", err)
		}
	}
	if err := q.SetMagnetVersion(ctx, store.SetMagnetVersionParams{ID: id, FileVersion: version}); err != nil {
		return fmt.Errorf("set version of file: %w", err)
	}
	return nil
}

// dispositionName returns the file name in a Content-Disposition header, or "".
func dispositionName(header string) string {
	_, params, err := mime.ParseMediaType(header)
	if err != nil {
		return ""
	}
	return params["filename"]
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

package file

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"lodestone/pkg/jsonschema"
	"lodestone/pkg/problem"
)

// UploadPart is the name of the part of a form that holds the file, and of the field in problems
// about it.
const UploadPart = "file"

const (
	formType = "multipart/form-data"
	formRoom = 1 << 20 // what a form around a file may take
)

// UploadRules limit the contents of an upload.
type UploadRules struct {
	What     string        // such as "the PDF"
	Types    []string      // content types of the body itself
	MaxBytes int64         // of the file
	Timeout  time.Duration // for the request and its answer
	Intake   *Intake       // of all files; needed to receive one
	Stall    time.Duration // within which a part has to arrive; 0: stallTime
}

// Describe returns the bodies that the rules allow, for the description of the API.
func (u UploadRules) Describe() map[string]*jsonschema.Schema {
	binary := jsonschema.Binary()
	bodies := map[string]*jsonschema.Schema{
		formType: {Type: jsonschema.Object, Properties: map[string]*jsonschema.Schema{UploadPart: binary},
			Required: []string{UploadPart}},
	}
	for _, t := range u.Types {
		bodies[t] = binary
	}
	return bodies
}

// Upload is a received file. Discard it.
type Upload struct {
	Temp   *os.File // at any offset
	Name   string   // of the request, or ""
	Size   int64    // bytes, at least 1
	SHA256 []byte

	release func() // gives back its place and its space
}

// Receive returns the file that a request of an account carries. Errors are problems where the
// request is at fault, the account uploads too much at a time (429), or all do (503).
func (u UploadRules) Receive(w http.ResponseWriter, r *http.Request, account uuid.UUID) (*Upload, error) {
	boundary, err := u.check(r)
	if err != nil {
		return nil, err
	}
	size := u.MaxBytes
	if r.ContentLength >= 0 {
		size = min(size, max(1, r.ContentLength))
	}
	release, err := u.Intake.reserve(account, size)
	if err != nil {
		return nil, err
	}
	f := &Upload{release: release}
	if err := u.receive(w, r, boundary, f); err != nil {
		f.Discard()
		return nil, err
	}
	return f, nil
}

func (u UploadRules) receive(w http.ResponseWriter, r *http.Request, boundary string, f *Upload) error {
	connection := http.NewResponseController(w)
	in := &progress{body: r.Body, connection: connection, stall: cmp.Or(u.Stall, stallTime),
		end: time.Now().Add(u.Timeout)}
	if err := connection.SetWriteDeadline(in.end); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return fmt.Errorf("receive file: %w", err)
	}
	body, name, err := u.open(http.MaxBytesReader(w, io.NopCloser(in), u.MaxBytes+formRoom), r, boundary)
	if err != nil {
		return err
	}
	f.Name = name
	if err := f.receive(body, u); err != nil {
		return err
	}
	return in.done()
}

// Discard removes the file, and gives its place to another one.
func (f *Upload) Discard() {
	defer f.release()
	if f.Temp == nil {
		return
	}
	_ = f.Temp.Close()
	_ = os.Remove(f.Temp.Name())
}

// check returns what separates the parts of a form, "" if the body is the file itself, or what is
// wrong with the headers.
func (u UploadRules) check(r *http.Request) (boundary string, err error) {
	unsupported := problem.New(problem.UnsupportedMediaType,
		fmt.Sprintf("Send %s as Content-Type: %s, or as a form (%s) with the part %s.",
			u.What, strings.Join(u.Types, ", "), formType, UploadPart))
	if e := r.Header.Get("Content-Encoding"); e != "" && !strings.EqualFold(e, "identity") {
		return "", problem.New(problem.UnsupportedMediaType, "Send the file without Content-Encoding.")
	}
	kind, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != formType && !slices.Contains(u.Types, kind) {
		return "", unsupported
	}
	// The form around a file takes a little more; the file itself is measured as it is read.
	if r.ContentLength > u.MaxBytes+formRoom {
		return "", u.tooLarge()
	}
	if kind != formType {
		return "", nil
	}
	if params["boundary"] == "" {
		return "", unsupported
	}
	return params["boundary"], nil
}

// open returns the bytes of the file that a body carries, and its name, if the request gives one.
func (u UploadRules) open(limited io.Reader, r *http.Request,
	boundary string) (body io.Reader, name string, err error) {
	if boundary == "" {
		return limited, dispositionName(r.Header.Get("Content-Disposition")), nil
	}
	parts := multipart.NewReader(limited, boundary)
	for {
		part, err := parts.NextPart()
		if err != nil {
			if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
				return nil, "", u.tooLarge()
			}
			if errors.Is(err, os.ErrDeadlineExceeded) {
				return nil, "", tooSlow(err)
			}
			return nil, "", problem.Invalid(problem.Field{Field: UploadPart,
				Message: "is required: a part of the form with " + u.What}).Because(err)
		}
		if part.FormName() == UploadPart {
			return part, dispositionName(part.Header.Get("Content-Disposition")), nil
		}
	}
}

func (u UploadRules) tooLarge() error {
	return problem.New(problem.PayloadTooLarge, "The file may have at most "+sizeText(u.MaxBytes)+".")
}

// sizeText returns a number of bytes as people say it: 50 MB where a program says 52428800.
func sizeText(bytes int64) string {
	if bytes >= 1<<20 && bytes%(1<<20) == 0 {
		return strconv.FormatInt(bytes>>20, 10) + " MB"
	}
	return strconv.FormatInt(bytes, 10) + " bytes"
}

// receive copies the upload into a temporary file that has no name any more where the system
// allows that, so that nothing is left behind by a crash.
func (f *Upload) receive(body io.Reader, u UploadRules) (err error) {
	if f.Temp, err = os.CreateTemp("", "lodestone-upload-*"); err != nil {
		return fmt.Errorf("receive file: %w", err)
	}
	_ = os.Remove(f.Temp.Name()) // where this fails, Discard does it
	sum := sha256.New()
	f.Size, err = io.Copy(&sink{f.Temp, sum}, io.LimitReader(body, u.MaxBytes+1))
	var over *http.MaxBytesError
	var sinkErr *sinkError
	switch {
	case errors.As(err, &sinkErr):
		return fmt.Errorf("receive file: %w", err)
	case f.Size > u.MaxBytes || errors.As(err, &over):
		return u.tooLarge()
	case errors.Is(err, os.ErrDeadlineExceeded):
		return tooSlow(err)
	case err != nil:
		return problem.Invalid(problem.Field{Field: UploadPart, Message: "could not be received completely"}).Because(err)
	case f.Size == 0:
		return problem.Invalid(problem.Field{Field: UploadPart, Message: "is empty: send " + u.What})
	}
	f.SHA256 = sum.Sum(nil)
	return nil
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

// dispositionName returns the file name in a Content-Disposition header, or "".
func dispositionName(header string) string {
	_, params, err := mime.ParseMediaType(header)
	if err != nil {
		return ""
	}
	return params["filename"]
}

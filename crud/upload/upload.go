// Package upload receives a file that a request carries, as its body or in a form.
package upload

import (
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
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"lodestone/pkg/problem"
)

// Part is the name of the part of a form that holds the file, and of the field in problems about it.
const Part = "file"

const (
	formType = "multipart/form-data"
	formRoom = 1 << 20 // what a form around a file may take
)

// Rules is what a request may carry.
type Rules struct {
	What     string        // such as "the PDF"
	Types    []string      // content types of the body itself
	MaxBytes int64         // of the file
	Timeout  time.Duration // for the request and its answer
}

// Describe returns the bodies that the rules allow, for the description of the API.
func (u Rules) Describe() map[string]*huma.Schema {
	binary := &huma.Schema{Type: huma.TypeString, Format: "binary"}
	bodies := map[string]*huma.Schema{
		formType: {Type: huma.TypeObject, Properties: map[string]*huma.Schema{Part: binary}, Required: []string{Part}},
	}
	for _, t := range u.Types {
		bodies[t] = binary
	}
	return bodies
}

// File is a received file. Discard it.
type File struct {
	Temp   *os.File // at any offset
	Name   string   // as the request told, or ""
	Size   int64    // bytes, at least 1
	SHA256 []byte
}

// Receive returns the file that a request carries. Errors are problems where the request is at fault.
func (u Rules) Receive(w http.ResponseWriter, r *http.Request) (*File, error) {
	body, name, err := u.open(w, r)
	if err != nil {
		return nil, err
	}
	f := &File{Name: name}
	if err := f.receive(body, u); err != nil {
		f.Discard()
		return nil, err
	}
	return f, nil
}

// Discard removes the file.
func (f *File) Discard() {
	if f.Temp == nil {
		return
	}
	_ = f.Temp.Close()
	_ = os.Remove(f.Temp.Name())
}

// open returns the bytes of the file that a request carries, and its name, if it tells one.
func (u Rules) open(w http.ResponseWriter, r *http.Request) (body io.Reader, name string, err error) {
	unsupported := problem.New(problem.UnsupportedMediaType, fmt.Sprintf("Send %s as Content-Type: %s, or as a form (%s) with the part %s.",
		u.What, strings.Join(u.Types, ", "), formType, Part))
	if e := r.Header.Get("Content-Encoding"); e != "" && !strings.EqualFold(e, "identity") {
		return nil, "", problem.New(problem.UnsupportedMediaType, "Send the file without Content-Encoding.")
	}
	kind, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != formType && !slices.Contains(u.Types, kind) {
		return nil, "", unsupported
	}
	// The form around a file takes a little more; the file itself is measured as it is read.
	if r.ContentLength > u.MaxBytes+formRoom {
		return nil, "", u.tooLarge()
	}
	deadline := http.NewResponseController(w)
	for _, set := range []func(time.Time) error{deadline.SetReadDeadline, deadline.SetWriteDeadline} {
		if err := set(time.Now().Add(u.Timeout)); err != nil && !errors.Is(err, http.ErrNotSupported) {
			return nil, "", fmt.Errorf("receive file: %w", err)
		}
	}
	limited := http.MaxBytesReader(w, r.Body, u.MaxBytes+formRoom)
	if kind != formType {
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
				return nil, "", u.tooLarge()
			}
			return nil, "", problem.Invalid(problem.Field{Field: Part, Message: "is required: a part of the form with " + u.What}).Because(err)
		}
		if part.FormName() == Part {
			return part, dispositionName(part.Header.Get("Content-Disposition")), nil
		}
	}
}

func (u Rules) tooLarge() error {
	return problem.New(problem.PayloadTooLarge, fmt.Sprintf("The file may have at most %d bytes.", u.MaxBytes))
}

// receive copies the upload into a temporary file that has no name any more where the system
// allows that, so that nothing is left behind by a crash.
func (f *File) receive(body io.Reader, u Rules) (err error) {
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
	case err != nil:
		return problem.Invalid(problem.Field{Field: Part, Message: "could not be received to its end"}).Because(err)
	case f.Size == 0:
		return problem.Invalid(problem.Field{Field: Part, Message: "is empty: send " + u.What})
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

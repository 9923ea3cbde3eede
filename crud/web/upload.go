package web

import (
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"
)

// FileField is the name of the field that has the file, in every form that has one.
const FileField = "file"

const (
	// maxField is more than the API takes of any text, in bytes. The rest is cut off, so that the API
	// refuses it.
	maxField = 32 << 10
	// maxFields is how many fields a form with a file may have.
	maxFields = 20
)

// Upload is a form with a file, whose parts are read as they arrive.
type Upload struct {
	Typed url.Values // the fields that were read so far

	parts *multipart.Reader
	read  int
}

// OpenUpload returns the form that a request sends, and its file as File does.
func OpenUpload(r *http.Request) (*Upload, *multipart.Part, error) {
	parts, err := r.MultipartReader()
	if err != nil {
		return nil, nil, BadForm(err)
	}
	u := &Upload{Typed: url.Values{}, parts: parts}
	file, err := u.File()
	return u, file, err
}

// File reads fields until a file that was chosen, and returns it; nil: there is none, or no other
// one.
func (u *Upload) File() (*multipart.Part, error) {
	for {
		part, err := u.parts.NextPart()
		if errors.Is(err, io.EOF) {
			return nil, nil
		}
		if err != nil {
			return nil, BadForm(err)
		}
		if u.read++; u.read > maxFields {
			return nil, Error(Unreadable, Brand{})
		}
		if part.FormName() == FileField {
			if part.FileName() == "" {
				continue
			}
			return part, nil
		}
		text, err := io.ReadAll(io.LimitReader(part, maxField))
		if err != nil {
			return nil, BadForm(err)
		}
		u.Typed.Add(part.FormName(), strings.ReplaceAll(string(text), "\r\n", "\n"))
	}
}

// Drain reads the rest: a browser that still sends would not see the answer. The fields in it are
// kept.
func (u *Upload) Drain() error {
	for {
		part, err := u.File()
		if part == nil || err != nil {
			return err
		}
	}
}

package frame

import (
	"bufio"
	"errors"
	"io"
	"net/http"
	"net/url"

	"lodestone/crud/web"
	"lodestone/pkg/attachment"
	"lodestone/pkg/problem"
)

// passed are the headers of a file of the API that a browser needs.
var passed = []string{"Content-Type", "Content-Disposition", "Content-Length",
	"X-Content-Type-Options", "Content-Security-Policy"}

// Pass answers with a file of the API, while it arrives. If the file breaks off, so does the
// answer: half a file must not look whole.
func (v *Visit) Pass(path string, query url.Values) error { return v.pass(path, query, "no-store") }

// PassKept is Pass for a file that never changes: the person's browser may keep it for an hour.
func (v *Visit) PassKept(path string, query url.Values) error {
	return v.pass(path, query, "private, max-age=3600")
}

func (v *Visit) pass(path string, query url.Values, keep string) error {
	res, _, err := v.client.Fetch(v.R.Context(), http.MethodGet, path+"?"+query.Encode(), nil, nil)
	if _, ok := errors.AsType[*problem.Problem](err); err != nil && !ok {
		return &lostError{err}
	}
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }() // what was to be read has been
	for _, name := range passed {
		if value := res.Header.Get(name); value != "" {
			v.W.Header().Set(name, value)
		}
	}
	v.W.Header().Set("Cache-Control", keep)
	v.W.WriteHeader(http.StatusOK)
	if _, err := io.Copy(v.W, res.Body); err != nil {
		panic(http.ErrAbortHandler) //nolint:forbidigo // how net/http is made to break a connection
	}
	return nil
}

// PreviewURL returns the address of a preview of the link that a path of the API names. Nothing is
// counted there.
func (v *Visit) PreviewURL(path string) (string, error) {
	type address struct {
		URL string `json:"url"`
	}
	made, err := Send[address](v, http.MethodPost, path+"/preview", nil, nil)
	return made.URL, err
}

// Preview leads to a preview of the link that a path of the API names.
func (v *Visit) Preview(path string) error {
	address, err := v.PreviewURL(path)
	if err != nil {
		return err
	}
	v.W.Header().Set("Cache-Control", "no-store")
	http.Redirect(v.W, v.R, address, http.StatusSeeOther)
	return nil
}

// PassUpload sends the file of a form on to the API while it arrives. found is false if no file was
// chosen.
func PassUpload[T any](v *Visit, method, path string) (out T, found bool, err error) {
	in, file, err := web.OpenUpload(v.R)
	if file == nil || err != nil {
		return out, false, err
	}
	out, err = Upload[T](v, method, path, http.Header{"Content-Type": {file.Header.Get("Content-Type")}}, file)
	return out, true, errors.Join(err, in.Drain())
}

// File answers with a file of rows that a spreadsheet opens, while write adds them. If it fails
// once the file has begun, the answer breaks off: half a file must not look whole.
func File[R any](v *Visit, name string, write func(add func(R) error) error) error {
	out, err := attachment.Create(v.W, v.R, name, attachment.Choice{Format: attachment.CSV, BOM: true})
	if err != nil {
		return err
	}
	begun := false
	buffer := bufio.NewWriter(out)
	file := attachment.NewTable[R](buffer, attachment.CSV)
	err = write(func(row R) error {
		begun = true
		return file.Write(row, nil)
	})
	if err == nil {
		begun = true
		if err = file.End(); err == nil {
			err = buffer.Flush()
		}
	}
	if err != nil && begun {
		panic(http.ErrAbortHandler) //nolint:forbidigo // how net/http is made to break a connection
	}
	return err
}

package picture

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"time"

	"github.com/jackc/pgx/v5"

	"lodestone/pkg/api"
	"lodestone/pkg/postgres"
	"lodestone/pkg/problem"
	"lodestone/pkg/store"
)

// ImageStore serves pictures to everybody, and logos to the account that they belong to.
type ImageStore struct {
	deps StoreDeps
}

// StoreDeps are the dependencies of an image store; all are required.
type StoreDeps struct {
	Postgres    *postgres.Pool
	Thumbnailer *Thumbnailer
	Site        string // the public URL, without a slash at the end
}

// NewImageStore returns the image store of a database.
func NewImageStore(d StoreDeps) *ImageStore { return &ImageStore{d} }

// Register adds the pictures and the operations on logos.
func (s *ImageStore) Register(a *api.API) {
	a.Handle("GET "+pathPrefix+"{name}", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := s.serve(w, r); err != nil {
			a.WriteProblem(w, r, err)
		}
	}))
	s.registerLogo(a)
}

var nameForm = regexp.MustCompile(`^([0-9a-f]{32})\.(jpg|png)$`)

// serve answers with a picture. Its name cannot be guessed, so it asks for no key; and it is never
// another one, so whoever has it need not ask again.
func (s *ImageStore) serve(w http.ResponseWriter, r *http.Request) error {
	missing := problem.New(problem.NotFound, "There is no picture at this address, or it was removed.")
	name := nameForm.FindStringSubmatch(r.PathValue("name"))
	if name == nil {
		return missing
	}
	found, err := store.New(s.deps.Postgres.Unscoped()).ServePicture(r.Context(), name[1])
	if errors.Is(err, pgx.ErrNoRows) {
		return missing
	}
	if err != nil {
		return fmt.Errorf("read picture: %w", err)
	}
	if pathOf(name[1], found.ContentType) != r.URL.Path {
		return missing
	}
	h := w.Header()
	h.Set("Content-Type", found.ContentType)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "sandbox; default-src 'none'")
	h.Set("Cross-Origin-Resource-Policy", "cross-origin") // mails and shared links show them elsewhere
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	h.Set("ETag", `"`+name[1]+`"`)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(found.Bytes))
	return nil
}

package signin

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/crud/page"
	"lodestone/pkg/store"
)

const (
	// sealing is the purpose that kept forms are sealed for. The context is the id of the session.
	sealing = "kept forms"
	// keptField marks a kept form that is sent.
	keptField = "kept_form"
	keptPath  = signInPath + "/form"
)

// keptForm is a form that was sent after its session had ended.
type keptForm struct {
	Path   string     `json:"path"` // where it was sent to
	Fields url.Values `json:"fields"`
	// File is the name of the file that was chosen, "" if none was; nil: the form takes no file. The file itself is not kept: it may be large,
	// and whoever has it can choose it again.
	File *string `json:"file,omitempty"`
}

// keep stores the form of a request with the session that is over, and reports whether it could: only a form of a page that the session
// was shown has the session's token.
func (s *Service) keep(r *http.Request) (bool, error) {
	secrets, ok := s.secrets(r)
	if !ok || !isForm(r, plainForm) && !isForm(r, fileForm) || checkToken(r, secrets.CSRF) != nil {
		return false, nil //nolint:nilerr // it is not kept
	}
	q := store.New(s.deps.Postgres.Unscoped())
	old, err := q.SessionOfCookie(r.Context(), secrets.CookieHash[:])
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("look up session: %w", err)
	}
	form, err := formOf(r)
	if err != nil {
		return false, err
	}
	sealed, err := s.sealForm(form, old.ID)
	if err == nil {
		err = q.KeepForm(r.Context(), store.KeepFormParams{ID: old.ID, KeptForm: sealed})
	}
	if err != nil {
		return false, fmt.Errorf("keep form: %w", err)
	}
	return true, nil
}

// formOf returns the form of a request, without what belongs to a session. A file is read to its end, since browsers send fields behind it.
func formOf(r *http.Request) (keptForm, error) {
	if isForm(r, plainForm) {
		delete(r.PostForm, keptField)
		return keptForm{Path: r.URL.RequestURI(), Fields: r.PostForm}, nil
	}
	in, file, err := page.OpenUpload(r)
	name := ""
	if file != nil {
		name = file.FileName()
		err = in.Drain()
	}
	return keptForm{Path: withQuery(r.URL.RequestURI(), nil), Fields: in.Typed, File: &name}, err
}

// withQuery returns a path in whose query the token of a session, and whether the form was kept, are as in set.
func withQuery(path string, set url.Values) string {
	base, query, _ := strings.Cut(path, "?")
	values, _ := url.ParseQuery(query) // of a request that was routed
	for _, name := range []string{FormField, keptField} {
		values[name] = set[name]
	}
	return strings.TrimSuffix(base+"?"+values.Encode(), "?")
}

func (s *Service) sealForm(f keptForm, session uuid.UUID) ([]byte, error) {
	text, err := json.Marshal(f)
	if err != nil {
		return nil, fmt.Errorf("encode form: %w", err)
	}
	return s.deps.Tokens.Seal(sealing, text, session[:])
}

func (s *Service) openForm(sealed []byte, session uuid.UUID) (f keptForm, err error) {
	text, err := s.deps.Tokens.Open(sealing, sealed, session[:])
	if err != nil {
		return f, fmt.Errorf("open form: %w", err)
	}
	if err := json.Unmarshal(text, &f); err != nil {
		return f, fmt.Errorf("read form: %w", err)
	}
	return f, nil
}

// inherit returns the form that the browser's session before has kept, sealed for a new session of the same person in the same account.
// A form that cannot be opened is lost: signing in goes on.
func (s *Service) inherit(r *http.Request, whom holder, session uuid.UUID) ([]byte, error) {
	secrets, ok := s.secrets(r)
	if !ok {
		return nil, nil
	}
	old, err := store.New(s.deps.Postgres.Unscoped()).SessionOfCookie(r.Context(), secrets.CookieHash[:])
	if errors.Is(err, pgx.ErrNoRows) || err == nil && (old.KeptForm == nil || !whom.is(old)) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look up session: %w", err)
	}
	f, err := s.openForm(old.KeptForm, old.ID)
	if err != nil {
		s.deps.Log.Warn("a form that was kept while its sender signed in again is lost", "error", err)
		return nil, nil
	}
	return s.sealForm(f, session)
}

// sentKept forgets a kept form that is sent now. One with a file says so in its address.
func (s *Service) sentKept(r *http.Request, session Session) error {
	if r.PostForm.Get(keptField) == "" && !r.URL.Query().Has(keptField) {
		return nil
	}
	for _, fields := range []url.Values{r.PostForm, r.Form} {
		delete(fields, keptField)
	}
	return s.forgetForm(r, session)
}

func (s *Service) forgetForm(r *http.Request, session Session) error {
	if err := store.New(s.deps.Postgres.Unscoped()).KeepForm(r.Context(), store.KeepFormParams{ID: session.ID}); err != nil {
		return fmt.Errorf("forget form: %w", err)
	}
	return nil
}

// field is one of a kept form.
type field struct{ Name, Value string }

// fieldsOf returns the fields of a form by name.
func fieldsOf(form url.Values) (fields []field) {
	for _, name := range slices.Sorted(maps.Keys(form)) {
		for _, value := range form[name] {
			fields = append(fields, field{name, value})
		}
	}
	return fields
}

type keptData struct {
	Action, CSRF, Discard string
	Fields, Typed         []field
	TakesFile             bool
	FileName              string // "": none was chosen
}

// showKept shows the form that was sent after its session had ended, to be sent now.
func (s *Service) showKept(w http.ResponseWriter, r *http.Request) error {
	session := From(r.Context())
	secrets, _ := s.secrets(r)
	row, err := store.New(s.deps.Postgres.Unscoped()).SessionOfCookie(r.Context(), secrets.CookieHash[:])
	if err != nil {
		return fmt.Errorf("look up session: %w", err)
	}
	if row.KeptForm == nil {
		return s.redirect(w, r, dashboardPath)
	}
	f, err := s.openForm(row.KeptForm, row.ID)
	if err != nil {
		return err
	}
	d := keptData{CSRF: session.CSRF, Discard: s.deps.Pages.Path(keptPath)}
	if f.File != nil {
		d.TakesFile, d.FileName = true, *f.File
		f.Path = withQuery(f.Path, url.Values{FormField: {session.CSRF}, keptField: {"1"}})
	}
	d.Action = s.deps.Pages.Path(f.Path)
	d.Fields, d.Typed = fieldsOf(f.Fields), filled(f.Fields)
	return s.write(w, r, http.StatusOK, "kept.html", page.Page{Title: s.say(r, "signin.kept"), Data: d})
}

// discardKept forgets the form.
func (s *Service) discardKept(w http.ResponseWriter, r *http.Request) error {
	if err := s.forgetForm(r, From(r.Context())); err != nil {
		return err
	}
	return s.redirect(w, r, dashboardPath)
}

// holder is whose a session is.
type holder struct {
	account uuid.UUID
	user    *uuid.UUID
	key     *uuid.UUID
}

func (h holder) is(s store.SessionOfCookieRow) bool {
	same := func(a, b *uuid.UUID) bool { return a == b || a != nil && b != nil && *a == *b }
	return h.account == s.AccountID && same(h.user, s.UserID) && same(h.key, s.KeyID)
}

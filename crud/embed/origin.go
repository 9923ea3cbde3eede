package embed

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"lodestone/crud/capture"
	"lodestone/crud/link"
	"lodestone/crud/web"
	"lodestone/pkg/api"
	"lodestone/pkg/locale"
	"lodestone/pkg/postgres"
	"lodestone/pkg/store"
)

const (
	maxForm   = 64 << 10 // bytes
	timeout   = 15 * time.Second
	maxOrigin = 300
)

// offer is a link whose form may be shown, on a page of an origin.
type offer struct {
	store.LandingPageRow
	origin string
	texts  *web.Texts // in the language of the link, else of the account, else of the browser
}

// requestError is an answer in words: those of the catalogue for visitors, English ones for whoever
// puts the form on a page.
type requestError struct {
	status  int
	keys    []string
	wait    time.Duration // after which it may work again; 0: unknown
	message string        // instead of keys
}

// full is the answer of a link that has as many people as it may.
var full = &requestError{status: http.StatusGone, keys: []string{"status.full.1", "status.full.2"}}

// Error implements error.
func (r *requestError) Error() string { return "embedded form refused: " + http.StatusText(r.status) }

// in returns the words in a language.
func (r *requestError) in(t *web.Texts) string {
	if r.message != "" {
		return r.message
	}
	var all []string
	for _, key := range r.keys {
		all = append(all, t.Say(key))
	}
	if r.wait > 0 {
		all = append(all, web.Waiting(t, r.wait))
	}
	return strings.Join(all, " ")
}

type refusal struct {
	Message string `json:"message"`
}

// answer returns the handler of a request that a page of another origin sends. The form of a link
// answers only the origins that the link allows: without the header, browsers keep the answer from
// every other page.
func (f *Forms) answer(fn func(http.ResponseWriter, *http.Request, offer) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), timeout)
		defer cancel()
		r = r.WithContext(ctx)
		r.Body = http.MaxBytesReader(w, r.Body, maxForm)
		h := w.Header()
		h.Set("Vary", "Origin")
		h.Set("Cache-Control", "no-store")
		h.Set("X-Content-Type-Options", "nosniff")
		o, err := f.find(r)
		o.texts = f.catalogue.In(locale.Or(o.PageLanguage, r.Header.Get("Accept-Language")))
		if o.PageLanguage == nil {
			h.Add("Vary", "Accept-Language")
		}
		if o.origin != "" {
			h.Set("Access-Control-Allow-Origin", o.origin)
			h.Set("Cross-Origin-Resource-Policy", "cross-origin")
		}
		if err == nil {
			err = fn(w, r, o)
		}
		if err == nil {
			return
		}
		reply, ok := errors.AsType[*requestError](err)
		if !ok {
			reply = &requestError{status: http.StatusInternalServerError, keys: []string{"status.failed.1"}}
			if postgres.IsUnavailable(err) || errors.Is(err, context.DeadlineExceeded) {
				reply = &requestError{status: http.StatusServiceUnavailable, keys: []string{"status.unavailable.1"}}
			}
			f.deps.Log.Error("embedded form failed", "request_id", api.RequestID(ctx), "error", err)
		}
		_ = writeJSON(w, reply.status, refusal{reply.in(o.texts)}) // a visitor that left needs no answer
	})
}

// find returns the link of a request. The origin of the offer is set as soon as the link allows it,
// also with an error.
func (f *Forms) find(r *http.Request) (o offer, err error) {
	ctx, slug, origin := r.Context(), r.PathValue("slug"), r.Header.Get("Origin")
	if len(slug) > link.MaxSlug || !link.SlugForm.MatchString(slug) {
		return o, &requestError{status: http.StatusNotFound, message: "There is no such link."}
	}
	err = f.deps.Postgres.Transaction(ctx, func(tx pgx.Tx) (err error) {
		o = offer{}
		o.LandingPageRow, err = store.New(tx).LandingPage(ctx, slug)
		return err
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return o, &requestError{status: http.StatusNotFound, message: "There is no such link."}
	}
	if err != nil {
		return o, fmt.Errorf("find link of embedded form: %w", err)
	}
	if !slices.Contains(o.GenericLink.AllowedOrigins, origin) {
		if err := f.noteRefused(ctx, o, origin); err != nil {
			return o, err
		}
		return o, &requestError{status: http.StatusForbidden,
			message: "The link does not allow its form on pages of this origin: add the origin to allowed_origins."}
	}
	o.origin = origin
	if r.Method == http.MethodGet {
		if err := f.noteSeen(ctx, o); err != nil {
			return o, err
		}
	}
	if !o.GenericLink.Active || !o.MagnetActive || o.FileVersion == 0 || link.Ended(o.GenericLink, f.deps.Now()) {
		return o, &requestError{status: http.StatusGone, keys: []string{"status.inactive"}}
	}
	if r.Method == http.MethodGet && capture.Full(o.GenericLink) { // a form decides once it is sent
		return o, full
	}
	return o, nil
}

func (f *Forms) noteSeen(ctx context.Context, o offer) error {
	err := store.New(f.deps.Postgres.Unscoped()).NoteEmbed(ctx, store.NoteEmbedParams{GenericLinkID: o.GenericLink.ID,
		AccountID: o.GenericLink.AccountID, Origin: &o.origin})
	if err != nil && !postgres.IsForeignKeyViolation(err) { // the link was deleted meanwhile
		return fmt.Errorf("note where a form was loaded: %w", err)
	}
	return nil
}

// noteRefused keeps the origin of a page that the link does not allow. Only what a browser sends is
// kept: programs can send anything.
func (f *Forms) noteRefused(ctx context.Context, o offer, origin string) error {
	if origin == "" || len(origin) > maxOrigin || web.Origin(origin) != origin {
		return nil
	}
	err := store.New(f.deps.Postgres.Unscoped()).NoteRefusedEmbed(ctx,
		store.NoteRefusedEmbedParams{GenericLinkID: o.GenericLink.ID, AccountID: o.GenericLink.AccountID, Origin: &origin})
	if err != nil && !postgres.IsForeignKeyViolation(err) {
		return fmt.Errorf("note where a form was refused: %w", err)
	}
	return nil
}

func writeJSON(w http.ResponseWriter, status int, body any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("encode answer of form: %w", err)
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(text)))
	w.WriteHeader(status)
	_, _ = w.Write(text) // a visitor that left needs no answer
	return nil
}

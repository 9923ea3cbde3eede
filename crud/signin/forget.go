package signin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/google/uuid"
	"github.com/riverqueue/river"

	"lodestone/crud/queue"
	"lodestone/pkg/email"
	"lodestone/pkg/postgres"
	"lodestone/pkg/store"
	"lodestone/pkg/token"
)

// forgetEvery is how often what is over is deleted.
const forgetEvery = time.Hour

// forgetting is the job that deletes what is over. It may run twice.
type forgetting struct{}

// Kind implements river.JobArgs.
func (forgetting) Kind() string { return "forget-sign-ins" }

// Forget has tries to sign in, sessions and invitations that are over deleted, every hour.
func Forget(q *queue.Queue, db *postgres.Pool) error {
	err := queue.Register(q, river.WorkFunc(func(ctx context.Context, _ *river.Job[forgetting]) error {
		rows := store.New(db.Unscoped())
		return errors.Join(rows.ForgetSignIns(ctx), rows.ForgetUserSessions(ctx), rows.ForgetInvitations(ctx), rows.ForgetOpenIDRequests(ctx))
	}))
	if err != nil {
		return err
	}
	q.AddPeriodic("forget-sign-ins", river.PeriodicInterval(forgetEvery), forgetting{})
	return nil
}

// Forms are the forms that were sent after their session had ended, and wait until their senders have signed in again.
type Forms struct {
	Postgres *postgres.Pool
	Tokens   *token.Ring
}

// KeptForm is what a form that waits has about an address.
type KeptForm struct {
	Path   string // where it was sent to, without its query
	Fields []KeptField
}

// KeptField is a line of a field that mentions the address. The name of a chosen file is one too.
type KeptField struct{ Name, Value string }

// About returns what the forms of an account that wait have about an address: the lines that mention it, without words that name others. Forms whose token key is
// missing can be read by no one, and are left out.
func (f Forms) About(ctx context.Context, account uuid.UUID, key string) ([]KeptForm, error) {
	var kept []KeptForm
	err := f.each(ctx, account, []string{key}, func(_ store.KeptFormsOfAccountRow, text []byte) error {
		var form keptForm
		if err := json.Unmarshal(text, &form); err != nil {
			return fmt.Errorf("read kept form: %w", err)
		}
		kept = append(kept, form.about(key))
		return nil
	})
	return kept, err
}

// about returns what the form has about an address.
func (f keptForm) about(key string) KeptForm {
	path, query, _ := strings.Cut(f.Path, "?")
	kept := KeptForm{Path: path}
	add := func(name, value string) {
		for line := range strings.Lines(value) {
			if email.Mentions(line, key) {
				kept.Fields = append(kept.Fields, KeptField{name, withoutOthers(line, key)})
			}
		}
	}
	values, _ := url.ParseQuery(query) // of a request that was routed
	for _, from := range []url.Values{values, f.Fields} {
		for _, name := range slices.Sorted(maps.Keys(from)) {
			for _, value := range from[name] {
				add(name, value)
			}
		}
	}
	if f.File != nil {
		add("file", *f.File)
	}
	return kept
}

// withoutOthers returns a line of a form without the words that name others.
func withoutOthers(line, key string) string {
	words := strings.FieldsFunc(line, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(",;", r) })
	return strings.Join(slices.DeleteFunc(words, func(word string) bool { return strings.Contains(word, "@") && !email.Mentions(word, key) }), " ")
}

// Forget removes those forms of an account that mention one of the addresses, given by their keys. Those whose token key is missing can be read by
// no one, and stay.
func (f Forms) Forget(ctx context.Context, account uuid.UUID, keys []string) error {
	q := store.New(f.Postgres.Unscoped())
	return f.each(ctx, account, keys, func(row store.KeptFormsOfAccountRow, _ []byte) error {
		if err := q.ForgetKeptForm(ctx, store.ForgetKeptFormParams{ID: row.ID, Was: row.KeptForm}); err != nil {
			return fmt.Errorf("remove kept form: %w", err)
		}
		return nil
	})
}

// each calls a function with each form of an account that mentions one of the addresses, opened.
func (f Forms) each(ctx context.Context, account uuid.UUID, keys []string, fn func(row store.KeptFormsOfAccountRow, text []byte) error) error {
	rows, err := store.New(f.Postgres.Unscoped()).KeptFormsOfAccount(ctx, account)
	if err != nil {
		return fmt.Errorf("read kept forms: %w", err)
	}
	for _, row := range rows {
		text, err := f.Tokens.Open(sealing, row.KeptForm, row.ID[:])
		if errors.Is(err, token.ErrSealed) {
			continue
		}
		if err != nil {
			return fmt.Errorf("open kept form: %w", err)
		}
		if !slices.ContainsFunc(keys, func(key string) bool { return email.MentionsJSON(text, key) }) {
			continue
		}
		if err := fn(row, text); err != nil {
			return err
		}
	}
	return nil
}

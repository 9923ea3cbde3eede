// Package view is the views of an account: lists and reports of the dashboard, with their filters,
// order and period, under a name.
package view

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"unicode/utf8"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/crud/account"
	"lodestone/pkg/api"
	"lodestone/pkg/auth"
	"lodestone/pkg/jsonschema"
	"lodestone/pkg/postgres"
	"lodestone/pkg/problem"
	"lodestone/pkg/store"
)

// Screen is a screen of the dashboard that has views.
type Screen string

// The screens.
const (
	Overview Screen = "overview"
	Magnet   Screen = "magnet" // of whichever lead magnet
	Links    Screen = "links"
	Link     Screen = "link" // of whichever generic link
	Readers  Screen = "readers"
	// Recipients is the list of those of whichever generic link.
	Recipients Screen = "recipients"
)

// EnumValues implements jsonschema.Enum.
func (Screen) EnumValues() []string {
	return jsonschema.Values([]Screen{Overview, Magnet, Links, Link, Readers, Recipients})
}

// View is a view as the API shows it.
type View struct {
	ID        uuid.UUID `json:"id" format:"uuid" doc:"Unique identifier."`
	Screen    Screen    `json:"screen" doc:"Screen of the dashboard that it is of."`
	Name      string    `json:"name" doc:"Name of the view, unique on its screen."`
	Query     string    `json:"query" doc:"Query string of the screen's address: filters, order and period."`
	CreatedAt api.Time  `json:"created_at" doc:"When it was saved last."`
}

const (
	path = "/api/v1/views"
	tag  = "Views"
	// maxViews is how many views an account can have: each is an entry of a menu.
	maxViews = 100
	// maxParameters bounds the parameters of a view.
	maxParameters = 50
)

// ofAMoment are parameters of an address that a list in it does not begin with: its place, a form
// that is open, and what was just done.
var ofAMoment = []string{"cursor", "page", "add", "find", "created", "saved", "published", "archived", "back", "added",
	"queued", "reminded", "rule", "off"}

// Beginning returns the parameters of an address without those of one moment, and without empty
// ones.
func Beginning(q url.Values) url.Values {
	begun := url.Values{}
	for name, list := range q {
		list = slices.DeleteFunc(slices.Clone(list), func(text string) bool { return text == "" })
		if len(list) > 0 && !slices.Contains(ofAMoment, name) {
			begun[name] = list
		}
	}
	return begun
}

// Views serves the views of accounts. It is safe for concurrent use.
type Views struct{ db *postgres.Pool }

// New returns the views of a database.
func New(db *postgres.Pool) *Views { return &Views{db} }

// Register adds the operations.
func (s *Views) Register(a *api.API) {
	api.Register(a, api.Operation{
		ID: "create-view", Method: "POST", Path: path, Scope: auth.Write, Tag: tag, Status: 201,
		Summary:     "Save a view",
		Description: "A view is a list or report of the dashboard with its filters, order and period. Everyone of the account sees it beside the filters of its screen. It replaces the view of its name on its screen. Parameters of one moment, such as cursor, are left out. Erasing a person deletes views that have the address in their query or name.",
		BodyExample: map[string]any{"screen": Readers, "name": "Finished, from the newsletter",
			"query": "finished=true&utm_source=newsletter"},
		Errors: []problem.Code{problem.LimitReached},
	}, s.create)
	api.Register(a, api.Operation{
		ID: "list-views", Method: "GET", Path: path, Scope: auth.Leads, Tag: tag,
		Summary: "List the views, by screen and name", PerPage: api.PageSize{Default: 20, Max: 100},
		Description: "A view may search for an address or an answer, so the key needs the scope leads.",
	}, s.list)
	api.Register(a, api.Operation{
		ID: "delete-view", Method: "DELETE", Path: path + "/{id}", Scope: auth.Write, Tag: tag, Status: 204,
		Summary: "Delete a view",
	}, s.delete)
}

type createInput struct {
	Body newView
}

type newView struct {
	Screen Screen `json:"screen" doc:"Screen of the dashboard."`
	Name   string `json:"name" minLength:"1" maxLength:"100" pattern:"[^\\s\u00a0\u00ad\u034f\u115f\u1160\u1680\u2000-\u200f\u202a-\u202f\u205f-\u206f\u2800\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0]" patternDescription:"a text of 1 to 100 characters, not only blanks" doc:"Name of the view."`
	Query  string `json:"query" maxLength:"4000" doc:"Query string of the screen's address, such as finished=true&utm_source=newsletter."`
}

func (s *Views) create(ctx context.Context, in *createInput) (*api.Answer[View], error) {
	parameters, err := parametersOf(in.Body.Query)
	if err != nil {
		return nil, err
	}
	id, err := uuid.NewV7()
	if err != nil {
		return nil, fmt.Errorf("make id: %w", err)
	}
	owner := auth.From(ctx).AccountID
	var row store.View
	err = s.db.Account(ctx, owner, func(tx pgx.Tx) error {
		// One at a time, so that two at once cannot pass the limit.
		if _, err := account.LockPlan(ctx, tx); err != nil {
			return err
		}
		q := store.New(tx)
		n, err := q.CountOtherViews(ctx, store.CountOtherViewsParams{Screen: string(in.Body.Screen), Name: in.Body.Name})
		if err != nil {
			return fmt.Errorf("count views: %w", err)
		}
		if n >= maxViews {
			return problem.New(problem.LimitReached,
				fmt.Sprintf("An account can have %d views: delete some that are not used.", maxViews))
		}
		row, err = q.SaveView(ctx, store.SaveViewParams{ID: id, AccountID: owner, Screen: string(in.Body.Screen),
			Name: in.Body.Name, Parameters: parameters})
		auth.RecordCreated(ctx, row.ID)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("save view: %w", err)
	}
	made, err := fromRow(row)
	return api.OK(made), err
}

// parametersOf returns the parameters of a query that a view keeps, as JSON. The error is a
// problem.
func parametersOf(query string) ([]byte, error) {
	values, err := url.ParseQuery(query)
	if err != nil {
		return nil, problem.Invalid(problem.Field{Field: "query",
			Message: "must be a query string, such as finished=true&utm_source=newsletter"})
	}
	values = Beginning(values)
	values.Del("list") // what led there
	for name, list := range values {
		for _, text := range append([]string{name}, list...) {
			if message := refused(text); message != "" {
				return nil, problem.Invalid(problem.Field{Field: "query", Message: message})
			}
		}
	}
	if len(values) > maxParameters {
		return nil, problem.Invalid(problem.Field{Field: "query",
			Message: fmt.Sprintf("must have at most %d parameters", maxParameters)})
	}
	encoded, err := json.Marshal(values)
	if err != nil {
		return nil, fmt.Errorf("encode view: %w", err)
	}
	return encoded, nil
}

// refused returns what is wrong with a text that the query has encoded, or "": what no text of a
// request may have, and no database takes.
func refused(text string) string {
	if !utf8.ValidString(text) {
		return "must be valid UTF-8"
	}
	return (&jsonschema.Schema{}).CheckString(text)
}

func fromRow(row store.View) (View, error) {
	var values url.Values
	if err := json.Unmarshal(row.Parameters, &values); err != nil {
		return View{}, fmt.Errorf("read view %s: %w", row.ID, err)
	}
	return View{row.ID, Screen(row.Screen), row.Name, values.Encode(), api.TimeOf(row.CreatedAt)}, nil
}

type listInput struct {
	api.Paging
	Screen *Screen `query:"screen" doc:"Only views of this screen."`
}

func (s *Views) list(ctx context.Context, in *listInput) (*api.Answer[api.Page[View]], error) {
	var total int64
	views := []View{}
	err := s.db.AccountSnapshot(ctx, auth.From(ctx).AccountID, func(tx pgx.Tx) (err error) {
		q, screen := store.New(tx), (*string)(in.Screen)
		if total, err = q.CountListedViews(ctx, screen); err != nil {
			return err
		}
		rows, err := q.ListViews(ctx, store.ListViewsParams{Screen: screen, RowOffset: in.Offset(), RowLimit: in.Limit()})
		for _, row := range rows {
			one, err := fromRow(row)
			if err != nil {
				return err
			}
			views = append(views, one)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list views: %w", err)
	}
	return api.List(ctx, in.Paging, views, total), nil
}

type deleteInput struct {
	ID uuid.UUID `path:"id" doc:"Id of the view."`
}

func (s *Views) delete(ctx context.Context, in *deleteInput) (*api.Answer[api.Empty], error) {
	err := s.db.Account(ctx, auth.From(ctx).AccountID, func(tx pgx.Tx) error {
		n, err := store.New(tx).DeleteView(ctx, in.ID)
		if err == nil && n == 0 {
			err = problem.Missing("view")
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("delete view: %w", err)
	}
	return &api.Answer[api.Empty]{}, nil
}

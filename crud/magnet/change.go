package magnet

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/pkg/api"
	"lodestone/pkg/auth"
	"lodestone/pkg/problem"
	"lodestone/pkg/store"
)

// deleteTimeout bounds a deletion, which may take hundreds of thousands of links with it.
const deleteTimeout = 5 * time.Minute

type updateInput struct {
	ID uuid.UUID `path:"id" doc:"Id of the lead magnet."`
	api.Precondition
	Body changedLeadMagnet
}

type changedLeadMagnet struct {
	Title        *string            `json:"title" required:"false" nullable:"false" minLength:"1" maxLength:"200" pattern:"[^\\s\u00a0\u00ad\u034f\u115f\u1160\u1680\u2000-\u200f\u202a-\u202f\u205f-\u206f\u2800\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0]" patternDescription:"a text of 1 to 200 characters, not only blanks" doc:"Title of the document."`
	Description  api.Change[string] `json:"description" required:"false" maxLength:"5000" format:"text" doc:"Description of the document; null clears it."`
	Author       api.Change[string] `json:"author" required:"false" minLength:"1" maxLength:"100" pattern:"[^\\s\u00a0\u00ad\u034f\u115f\u1160\u1680\u2000-\u200f\u202a-\u202f\u205f-\u206f\u2800\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0]" patternDescription:"a text of 1 to 100 characters, not only blanks" doc:"Who wrote it, as landing pages show it; null clears it."`
	AuthorAbout  api.Change[string] `json:"author_about" required:"false" minLength:"1" maxLength:"500" format:"text" pattern:"[^\\s\u00a0\u00ad\u034f\u115f\u1160\u1680\u2000-\u200f\u202a-\u202f\u205f-\u206f\u2800\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0]" patternDescription:"a text of 1 to 500 characters, not only blanks" doc:"A sentence about the author; null clears it."`
	EndText      api.Change[string] `json:"end_text" required:"false" minLength:"1" maxLength:"500" format:"text" pattern:"[^\\s\u00a0\u00ad\u034f\u115f\u1160\u1680\u2000-\u200f\u202a-\u202f\u205f-\u206f\u2800\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0]" patternDescription:"a text of 1 to 500 characters, not only blanks" doc:"Text after the last page; null clears it."`
	EndButton    api.Change[string] `json:"end_button" required:"false" minLength:"1" maxLength:"40" pattern:"[^\\s\u00a0\u00ad\u034f\u115f\u1160\u1680\u2000-\u200f\u202a-\u202f\u205f-\u206f\u2800\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0]" patternDescription:"a text of 1 to 40 characters, not only blanks" doc:"Label of a button after the last page; needs end_url; null clears it."`
	EndURL       api.Change[string] `json:"end_url" required:"false" maxLength:"2048" pattern:"^[Hh][Tt][Tt][Pp][Ss]?://[^/?#\\s]" patternDescription:"a full http or https URL, such as https://example.com/next" doc:"http or https URL that the button after the last page opens; needs end_button; null clears it."`
	Downloadable *bool              `json:"downloadable" required:"false" nullable:"false" doc:"Whether the reading page offers the file for download and printing. Applies to existing links from the next request on."`
	IsActive     *bool              `json:"is_active" required:"false" nullable:"false" doc:"Whether links to it can be created and opened."`
}

func (m *Magnets) update(ctx context.Context, in *updateInput) (*api.Answer[LeadMagnet], error) {
	b := in.Body
	revisions, err := in.Revisions()
	if err == nil && b.EndURL.Value != nil {
		err = checkEnd(b.EndURL.Value, b.EndURL.Value)
	}
	if err != nil {
		return nil, err
	}
	var row store.GetMagnetRow
	err = m.deps.Postgres.Account(ctx, auth.From(ctx).AccountID, func(tx pgx.Tx) (err error) {
		changed := int64(0)
		if b != (changedLeadMagnet{}) {
			changed, err = store.New(tx).UpdateMagnet(ctx, store.UpdateMagnetParams{
				ID: in.ID, Revisions: revisions, Title: b.Title, SetDescription: b.Description.Given,
				Description: b.Description.Value,
				IsActive:    b.IsActive, SetAuthor: b.Author.Given, Author: b.Author.Value, SetAuthorAbout: b.AuthorAbout.Given,
				AuthorAbout: b.AuthorAbout.Value,
				SetEndText:  b.EndText.Given, EndText: b.EndText.Value, SetEndButton: b.EndButton.Given,
				EndButton: b.EndButton.Value,
				SetEndURL: b.EndURL.Given, EndURL: b.EndURL.Value, Downloadable: b.Downloadable,
			})
			if err != nil {
				return endProblem(err)
			}
		}
		row, err = read(ctx, tx, in.ID)
		if err == nil && changed == 0 && (b != (changedLeadMagnet{}) || !api.Matches(row.LeadMagnet.Revision, revisions)) {
			err = problem.Stale("lead magnet")
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("update lead magnet: %w", err)
	}
	return api.OK(fromRow(row)).At(row.LeadMagnet.Revision), nil
}

type deleteInput struct {
	ID      uuid.UUID `path:"id" doc:"Id of the lead magnet."`
	Cascade bool      `query:"cascade" default:"false" doc:"Whether to also delete its links and their submissions."`
	api.Precondition
}

func (m *Magnets) delete(ctx context.Context, in *deleteInput) (*api.Answer[api.Empty], error) {
	revisions, err := in.Revisions()
	if err != nil {
		return nil, err
	}
	err = m.deps.Postgres.Account(ctx, auth.From(ctx).AccountID, func(tx pgx.Tx) error {
		q := store.New(tx)
		revision, err := q.TakeMagnet(ctx, in.ID)
		if errors.Is(err, pgx.ErrNoRows) {
			return problem.Missing("lead magnet")
		}
		if err != nil {
			return fmt.Errorf("take lead magnet: %w", err)
		}
		if !api.Matches(revision, revisions) {
			return problem.Stale("lead magnet")
		}
		if in.Cascade {
			err = deleteLinks(ctx, q, in.ID)
		} else {
			err = refuseLinks(ctx, q, in.ID)
		}
		if err != nil {
			return err
		}
		return q.DeleteMagnet(ctx, in.ID)
	})
	if err != nil {
		return nil, fmt.Errorf("delete lead magnet: %w", err)
	}
	return &api.Answer[api.Empty]{}, nil
}

// deleteLinks deletes the links of a lead magnet that the transaction has taken. Access links go
// first, so that no time is spent on clearing their references; but generic links are taken before
// them, as those do who delete one: two transactions that take rows in the same order do not wait
// for each other in a circle.
func deleteLinks(ctx context.Context, q *store.Queries, id uuid.UUID) error {
	for _, step := range []func(context.Context, uuid.UUID) error{q.TakeLinksOfMagnet, q.DeleteAccessLinksOfMagnet,
		q.DeleteGenericLinksOfMagnet} {
		if err := step(ctx, id); err != nil {
			return fmt.Errorf("delete links: %w", err)
		}
	}
	return nil
}

func refuseLinks(ctx context.Context, q *store.Queries, id uuid.UUID) error {
	links, err := q.CountMagnetLinks(ctx, id)
	if err != nil {
		return fmt.Errorf("count links: %w", err)
	}
	if links.GenericLinks == 0 && links.AccessLinks == 0 {
		return nil
	}
	return problem.New(problem.Conflict, fmt.Sprintf("The lead magnet has links (generic links: %d, access links: %d). "+
		"Delete them first, or add cascade=true to delete them, and the submissions, with it.",
		links.GenericLinks, links.AccessLinks))
}

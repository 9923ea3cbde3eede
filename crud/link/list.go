package link

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"lodestone/pkg/api"
	"lodestone/pkg/auth"
	"lodestone/pkg/jsonschema"
	"lodestone/pkg/store"
)

// order is how generic links are listed.
type order string

const (
	newest          order = "-created_at"
	oldest          order = "created_at"
	mostViews       order = "-view_count"
	mostSubmissions order = "-submission_count"
	mostFinished    order = "-finished"
)

// EnumValues implements jsonschema.Enum.
func (order) EnumValues() []string {
	return jsonschema.Values([]order{newest, oldest, mostViews, mostSubmissions, mostFinished})
}

// status chooses generic links by whether their page is open.
type status string

// EnumValues implements jsonschema.Enum.
func (status) EnumValues() []string { return []string{"open", "closed", "archived", "all"} }

type listInput struct {
	api.Paging
	Sort         order   `query:"sort" default:"-created_at" doc:"The order: newest first (-created_at), oldest first (created_at), or most first of the views (-view_count), the submissions (-submission_count) or the people who read to the end (-finished) so far."`
	LeadMagnetID *string `query:"lead_magnet_id" doc:"Only links of this lead magnet; none if it does not exist."`
	Status       *status `query:"status" doc:"Only links whose page is open, closed (by you, or since it expired), or archived; all: with archived links. Default: links that are not archived."`
	Q            *string `query:"q" minLength:"1" maxLength:"200" format:"text" doc:"Only links whose name, title, slug or lead magnet's title contains this text, case-insensitive."`
}

func (l *Links) list(ctx context.Context, in *listInput) (*api.Answer[api.Page[GenericLink]], error) {
	var total int64
	var links []GenericLink
	chosen := store.CountListedLinksParams{Containing: in.Q}
	if in.LeadMagnetID != nil {
		id, ok := jsonschema.ParseUUID(*in.LeadMagnetID)
		if !ok {
			return api.List(ctx, in.Paging, links, 0), nil
		}
		chosen.LeadMagnetID = &id
	}
	if in.Status != nil {
		chosen.Status = string(*in.Status)
	}
	err := l.deps.Postgres.AccountSnapshot(ctx, auth.From(ctx).AccountID, func(tx pgx.Tx) (err error) {
		q := store.New(tx)
		if total, err = q.CountListedLinks(ctx, chosen); err != nil {
			return err
		}
		rows, err := in.rows(ctx, q, chosen)
		if err != nil {
			return err
		}
		links, err = l.showAll(ctx, tx, rows)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list generic links: %w", err)
	}
	return api.List(ctx, in.Paging, links, total), nil
}

// rows returns a page of the chosen links.
func (in *listInput) rows(ctx context.Context, q *store.Queries,
	c store.CountListedLinksParams) ([]store.GenericLink, error) {
	switch in.Sort {
	case newest:
		return q.ListLinks(ctx, store.ListLinksParams{LeadMagnetID: c.LeadMagnetID, Status: c.Status,
			Containing: c.Containing, RowOffset: in.Offset(), RowLimit: in.Limit()})
	case oldest:
		return q.ListLinksOldest(ctx, store.ListLinksOldestParams{LeadMagnetID: c.LeadMagnetID, Status: c.Status,
			Containing: c.Containing, RowOffset: in.Offset(), RowLimit: in.Limit()})
	default:
		return q.RankLinks(ctx, store.RankLinksParams{Sort: string(in.Sort), LeadMagnetID: c.LeadMagnetID,
			Status: c.Status, Containing: c.Containing, RowOffset: in.Offset(), RowLimit: in.Limit()})
	}
}

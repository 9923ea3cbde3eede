package magnet

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/pkg/api"
	"lodestone/pkg/auth"
	"lodestone/pkg/store"
)

// Version is a version of a lead magnet's file as the API shows it.
type Version struct {
	Version    int32    `json:"version" doc:"Number of the version, from 1."`
	FileName   string   `json:"file_name" doc:"Name of the file."`
	FileSize   int64    `json:"file_size" doc:"Size of the file in bytes."`
	PageCount  int32    `json:"page_count" doc:"Pages of the file."`
	UploadedAt api.Time `json:"uploaded_at" doc:"When it was uploaded."`
	Unreadable *int32   `json:"unreadable_page" doc:"First page that a reader's browser could not show; 0 for the whole document; null if no browser reported one."`
	Stored     bool     `json:"stored" doc:"Whether the file is still stored. A replaced file is deleted once no one reads it any more."`
}

func (m *Magnets) registerVersions(a *api.API) {
	api.Register(a, api.Operation{
		ID: "list-lead-magnet-versions", Method: "GET", Path: path + "/{id}/versions", Scope: auth.Read, Tag: tag,
		Summary: "List the versions of the file of a lead magnet, newest first", PerPage: api.PageSize{Default: 20, Max: 100},
	}, m.versions)
}

type versionsInput struct {
	ID uuid.UUID `path:"id" doc:"Id of the lead magnet."`
	api.Paging
}

func (m *Magnets) versions(ctx context.Context, in *versionsInput) (*api.Answer[api.Page[Version]], error) {
	var total int64
	var list []Version
	err := m.deps.Postgres.AccountSnapshot(ctx, auth.From(ctx).AccountID, func(tx pgx.Tx) error {
		if _, err := read(ctx, tx, in.ID); err != nil {
			return err
		}
		q := store.New(tx)
		var err error
		if total, err = q.CountFiles(ctx, in.ID); err != nil {
			return fmt.Errorf("count versions: %w", err)
		}
		rows, err := q.ListFiles(ctx, store.ListFilesParams{LeadMagnetID: in.ID,
			RowOffset: in.Offset(), RowLimit: in.Limit()})
		for _, row := range rows {
			list = append(list, Version{
				Version: row.Version, FileName: row.FileName, FileSize: row.FileSize, PageCount: row.PageCount,
				UploadedAt: api.TimeOf(row.CreatedAt), Unreadable: row.UnreadablePage, Stored: row.DiscardedAt == nil,
			})
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list versions of lead magnet: %w", err)
	}
	return api.List(ctx, in.Paging, list, total), nil
}

package session

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"lodestone/crud/webhook"
	"lodestone/pkg/api"
	"lodestone/pkg/event"
	"lodestone/pkg/postgres"
	"lodestone/pkg/service"
	"lodestone/pkg/store"
)

// Jobs takes background work in a transaction; queue.Queue does.
type Jobs interface {
	Insert(ctx context.Context, tx pgx.Tx, args river.JobArgs, options *river.InsertOpts) error
}

// mostDownloads bounds what one session can have recorded.
const mostDownloads = 100

// Visitor describes the client of a download. It has no address: no table stores one, so an event
// that the server reports has none.
type Visitor struct {
	UserAgent string
	Origin    event.Origin
	Objects   bool // asked not to be tracked
}

// StartDownload records a click on download under its id. It may be recorded already: a download
// that is resumed has the same id. One of another session is a Refusal, and so is one too many.
func (s *Sessions) StartDownload(ctx context.Context, in Session, id uuid.UUID) error {
	event, err := uuid.NewV7()
	if err != nil {
		return fmt.Errorf("make id: %w", err)
	}
	err = s.deps.Postgres.Account(ctx, in.Link.AccountID, func(tx pgx.Tx) error {
		q := store.New(tx)
		n, err := q.StartDownload(ctx, store.StartDownloadParams{
			ID: id, AccountID: in.Link.AccountID, SessionID: in.ID, EventID: event, Most: mostDownloads,
		})
		if err != nil || n == 1 {
			return err
		}
		_, err = q.GetDownload(ctx, store.GetDownloadParams{ID: id, SessionID: in.ID})
		return err
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return &Refusal{Over}
	}
	if err != nil {
		return fmt.Errorf("start download: %w", err)
	}
	return nil
}

// Begun reports the click on download of a visitor whose page runs no script, and so cannot.
func (s *Sessions) Begun(ctx context.Context, in Session, v Visitor) error {
	event, err := uuid.NewV7()
	if err != nil {
		return fmt.Errorf("make id: %w", err)
	}
	err = s.deps.Postgres.Account(ctx, in.Link.AccountID, func(tx pgx.Tx) error {
		return s.deps.Queue.Insert(ctx, tx, newReport(in, event, "download_started", time.Now(), v), nil)
	})
	if err != nil {
		return fmt.Errorf("report start of download: %w", err)
	}
	return nil
}

// Served records that bytes of a download went out, from first up to, and without, last. With the
// last ones that were missing the download is complete: that is reported and sent to webhooks in
// the same transaction, and once.
//
// Bytes that went out cannot be served again, so a Postgres that is away for a moment is asked
// again until ctx ends.
func (s *Sessions) Served(ctx context.Context, in Session, id uuid.UUID, first, last int64, v Visitor) error {
	return service.Retry(ctx, 100*time.Millisecond, 5*time.Second,
		func() error { return s.served(ctx, in, id, first, last, v) },
		func(err error) (time.Duration, bool) { return 0, postgres.IsUnavailable(err) })
}

func (s *Sessions) served(ctx context.Context, in Session, id uuid.UUID, first, last int64, v Visitor) error {
	err := s.deps.Postgres.Account(ctx, in.Link.AccountID, func(tx pgx.Tx) error {
		row, err := store.New(tx).ServeDownload(ctx, store.ServeDownloadParams{ID: id, First: first,
			Last: last, Size: in.File.FileSize})
		if errors.Is(err, pgx.ErrNoRows) {
			return nil // complete before, or deleted with its link
		}
		if err != nil || row.CompletedAt == nil {
			return err
		}
		if err := s.deps.Queue.Insert(ctx, tx, newReport(in, row.EventID, "download_completed", *row.CompletedAt, v),
			nil); err != nil {
			return err
		}
		return webhook.Emit(ctx, tx, s.deps.Tokens, in.Link.AccountID, webhook.DownloadCompleted{
			Link: webhook.LinkOf(in.Link), SessionID: &in.ID, Visitor: in.visitor(),
			MagnetVersion: in.File.Version, FileName: in.File.FileName,
			FileSize: in.File.FileSize, CompletedAt: api.TimeOf(*row.CompletedAt),
		})
	})
	if err != nil {
		return fmt.Errorf("record what was downloaded: %w", err)
	}
	return nil
}

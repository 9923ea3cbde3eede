package magnet

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/jackc/pgx/v5"

	"lodestone/crud/file"
	"lodestone/pkg/auth"
	"lodestone/pkg/limit"
	"lodestone/pkg/problem"
	"lodestone/pkg/store"
)

// Downloads by API keys at a time.
const (
	maxDownloads        = 128
	maxAccountDownloads = 16
	downloadAgain       = 5 * time.Second
)

func (m *Magnets) download(w http.ResponseWriter, r *http.Request, in *idInput) error {
	ctx, account := r.Context(), auth.From(r.Context()).AccountID
	var meta store.LeadMagnetFile
	err := m.deps.Postgres.AccountSnapshot(ctx, account, func(tx pgx.Tx) (err error) {
		meta, err = store.New(tx).GetFile(ctx, in.ID)
		return err
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return problem.New(problem.NotFound, "There is no lead magnet with this id, or it has no file yet.")
	}
	if err != nil {
		return fmt.Errorf("download file: %w", err)
	}
	release, err := m.downloads.Take(account, 1)
	if errors.Is(err, limit.ErrOwner) {
		return problem.New(problem.RateLimited, fmt.Sprintf("The account already downloads %d files, its maximum at a time.",
			maxAccountDownloads)).RetryAfter(downloadAgain)
	}
	if err != nil {
		return problem.New(problem.Unavailable,
			"The maximum number of downloads is running. Try again later.").Because(err).RetryAfter(downloadAgain)
	}
	defer release()
	content := m.deps.Files.Open(ctx, meta)
	defer content.Close()
	if err := content.Check(); err != nil { // what cannot be read fails before the answer begins
		return fmt.Errorf("download file: %w", err)
	}
	file.KeepOneRange(r, meta.FileSize)
	h := w.Header()
	h.Set("Content-Type", meta.ContentType)
	h.Set("Content-Disposition", Disposition("attachment", meta.FileName))
	h.Set("Content-Security-Policy", "sandbox; default-src 'none'")
	h.Set("Cache-Control", "private, no-cache")
	h.Set("ETag", file.Tag(meta))
	http.ServeContent(NewPace(w, meta.FileSize), r, "", meta.CreatedAt, content)
	if content.Failed() != nil { // the answer is short of what it announced, and so is seen to be cut off
		return fmt.Errorf("download file: %w", content.Failed())
	}
	return nil
}

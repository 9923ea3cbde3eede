package magnet

import (
	"errors"
	"fmt"
	"mime"
	"net/http"
	"time"

	"github.com/jackc/pgx/v5"

	"lodestone/crud/store"
	"lodestone/pkg/auth"
	"lodestone/pkg/problem"
)

func (m *Magnets) download(w http.ResponseWriter, r *http.Request, in *idInput) error {
	ctx, account := r.Context(), auth.From(r.Context()).AccountID
	var meta store.LeadMagnetFile
	err := m.db.AccountSnapshot(ctx, account, func(tx pgx.Tx) (err error) {
		meta, err = store.New(tx).GetFile(ctx, in.ID)
		return err
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return problem.New(problem.NotFound, "There is no lead magnet with this id, or it has no file yet.")
	}
	if err != nil {
		return fmt.Errorf("download file: %w", err)
	}
	content := NewContent(ctx, m.db, meta)
	if err := content.Check(); err != nil { // what cannot be read fails before the answer begins
		return fmt.Errorf("download file: %w", err)
	}
	deadline := http.NewResponseController(w).SetWriteDeadline(time.Now().Add(transferTimeout))
	if deadline != nil && !errors.Is(deadline, http.ErrNotSupported) {
		return fmt.Errorf("download file: %w", deadline)
	}
	KeepOneRange(r, meta.FileSize)
	h := w.Header()
	h.Set("Content-Type", meta.ContentType)
	h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": meta.FileName}))
	h.Set("Content-Security-Policy", "sandbox; default-src 'none'")
	h.Set("Cache-Control", "private, no-cache")
	h.Set("ETag", Tag(meta))
	http.ServeContent(w, r, "", meta.CreatedAt, content)
	if content.Failed() != nil { // the answer is short of what it announced, and so is seen to be cut off
		return fmt.Errorf("download file: %w", content.Failed())
	}
	return nil
}

package magnet

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"regexp"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/crud/store"
	"lodestone/pkg/auth"
	"lodestone/pkg/postgres"
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
	content := &chunks{ctx: ctx, db: m.db, account: account, magnet: in.ID, version: meta.Version, size: meta.FileSize, number: -1}
	if err := content.load(0); err != nil { // what cannot be read fails before the answer begins
		return fmt.Errorf("download file: %w", err)
	}
	deadline := http.NewResponseController(w).SetWriteDeadline(time.Now().Add(transferTimeout))
	if deadline != nil && !errors.Is(deadline, http.ErrNotSupported) {
		return fmt.Errorf("download file: %w", deadline)
	}
	if !satisfiable(r.Header.Get("Range"), meta.FileSize) {
		r.Header.Del("Range") // the whole file is a proper answer to a range that is none
	}
	h := w.Header()
	h.Set("Content-Type", meta.ContentType)
	h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": meta.FileName}))
	h.Set("Content-Security-Policy", "sandbox; default-src 'none'")
	h.Set("Cache-Control", "private, no-cache")
	h.Set("ETag", `"`+hex.EncodeToString(meta.SHA256[:16])+`"`)
	http.ServeContent(w, r, "", meta.CreatedAt, content)
	if content.failed != nil { // the answer is short of what it announced, and so is seen to be cut off
		return fmt.Errorf("download file: %w", content.failed)
	}
	return nil
}

var rangeForm = regexp.MustCompile(`^bytes=(\d{0,18})-(\d{0,18})$`)

// satisfiable reports whether a Range header asks for one part that the file has.
func satisfiable(header string, size int64) bool {
	parts := rangeForm.FindStringSubmatch(header)
	if parts == nil || parts[1] == "" && parts[2] == "" {
		return false
	}
	first, firstErr := strconv.ParseInt(parts[1], 10, 64)
	last, lastErr := strconv.ParseInt(parts[2], 10, 64)
	if firstErr != nil {
		return last > 0 // the last so many bytes
	}
	return first < size && (lastErr != nil || first <= last)
}

// chunks reads a stored file, one chunk in memory at a time. A version never changes, so each
// chunk is read in a transaction of its own: a slow reader keeps no connection.
type chunks struct {
	ctx     context.Context //nolint:containedctx // an io.ReadSeeker cannot be given one; it lives as long as the request
	db      *postgres.Pool
	account uuid.UUID
	magnet  uuid.UUID
	version int32
	size    int64
	offset  int64
	number  int32 // of the chunk in memory
	bytes   []byte
	failed  error
}

func (c *chunks) load(number int32) error {
	if number == c.number {
		return nil
	}
	err := c.db.AccountSnapshot(c.ctx, c.account, func(tx pgx.Tx) (err error) {
		c.bytes, err = store.New(tx).GetChunk(c.ctx, store.GetChunkParams{LeadMagnetID: c.magnet, Version: c.version, Number: number})
		return err
	})
	if err != nil {
		c.number = -1
		return fmt.Errorf("read chunk of file: %w", err)
	}
	c.number = number
	return nil
}

// Read implements io.Reader.
func (c *chunks) Read(into []byte) (int, error) {
	if c.offset >= c.size {
		return 0, io.EOF
	}
	if err := c.load(int32(c.offset / chunkBytes)); err != nil {
		c.failed = err
		return 0, err
	}
	n := copy(into, c.bytes[c.offset%chunkBytes:])
	c.offset += int64(n)
	return n, nil
}

// Seek implements io.Seeker.
func (c *chunks) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += c.offset
	case io.SeekEnd:
		offset += c.size
	}
	if offset < 0 {
		return 0, errors.New("seek before the beginning of the file")
	}
	c.offset = offset
	return offset, nil
}

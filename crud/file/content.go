package file

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"

	"github.com/jackc/pgx/v5"
	"github.com/minio/minio-go/v7"

	"lodestone/pkg/store"
)

// pieceBytes is how much of a file is in memory for one who reads it, who may take it as slowly as
// a download is allowed to be. It divides a chunk.
const pieceBytes = 64 << 10

// Content reads one version of a stored file, one piece in memory at a time. A version never
// changes, so each piece is read in a transaction of its own: a slow reader keeps no connection. It
// belongs to one goroutine. Close it.
type Content struct {
	ctx    context.Context //nolint:containedctx // an io.ReadSeeker cannot be given one; it lives as long as the request
	files  *Files
	file   store.LeadMagnetFile
	object *minio.Object // of a file in a bucket; nil until it is read
	offset int64
	piece  int64 // number of the piece in memory, from 0; -1 for none
	bytes  []byte
	failed error
}

// Open returns the content of a file. It reads nothing yet.
func (f *Files) Open(ctx context.Context, file store.LeadMagnetFile) *Content {
	return &Content{ctx: ctx, files: f, file: file, piece: -1}
}

// Close ends the reading.
func (c *Content) Close() {
	if c.object != nil {
		_ = c.object.Close() // it was only read
		c.object = nil
	}
}

// Check returns why the file cannot be read, before an answer begins. It is ErrGone if the file is
// not stored any more, and a problem (503) if the store cannot be reached.
func (c *Content) Check() error { return c.load(c.offset / pieceBytes) }

// Failed returns why reading stopped before the end, or nil.
func (c *Content) Failed() error { return c.failed }

func (c *Content) load(piece int64) error {
	if piece == c.piece {
		return nil
	}
	c.piece = -1
	if err := c.read(piece); err != nil {
		return fmt.Errorf("read piece of file: %w", err)
	}
	c.piece = piece
	return nil
}

func (c *Content) read(piece int64) (err error) {
	at := piece * pieceBytes
	if c.file.ObjectID != nil {
		return c.readObject(at)
	}
	return c.files.deps.Postgres.AccountSnapshot(c.ctx, c.file.AccountID, func(tx pgx.Tx) error {
		c.bytes, err = store.New(tx).GetPiece(c.ctx, store.GetPieceParams{
			LeadMagnetID: c.file.LeadMagnetID, Version: c.file.Version, Number: int32(at / chunkBytes),
			First: int32(at%chunkBytes) + 1, Length: pieceBytes,
		})
		if errors.Is(err, pgx.ErrNoRows) {
			return ErrGone
		}
		return err
	})
}

func (c *Content) readObject(at int64) (err error) {
	if c.files.objects == nil {
		return errors.New("the file is in a bucket, and --file-store is not set")
	}
	name := c.files.objects.name(*c.file.ObjectID)
	if c.object == nil {
		if c.object, err = c.files.objects.open(c.ctx, name); err != nil {
			return err
		}
	}
	c.bytes = c.bytes[:cap(c.bytes)]
	if len(c.bytes) < pieceBytes {
		c.bytes = make([]byte, pieceBytes)
	}
	if _, err := c.object.Seek(at, io.SeekStart); err != nil { // where it is: one request reads on
		return objectError("read", name, err)
	}
	n, err := io.ReadFull(c.object, c.bytes[:min(pieceBytes, c.file.FileSize-at)])
	if err != nil {
		return objectError("read", name, err)
	}
	c.bytes = c.bytes[:n]
	return nil
}

// Read implements io.Reader.
func (c *Content) Read(into []byte) (int, error) {
	if c.offset >= c.file.FileSize {
		return 0, io.EOF
	}
	if err := c.load(c.offset / pieceBytes); err != nil {
		c.failed = err
		return 0, err
	}
	n := copy(into, c.bytes[c.offset%pieceBytes:])
	c.offset += int64(n)
	return n, nil
}

// Seek implements io.Seeker.
func (c *Content) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += c.offset
	case io.SeekEnd:
		offset += c.file.FileSize
	}
	if offset < 0 {
		return 0, errors.New("seek before the beginning of the file")
	}
	c.offset = offset
	return offset, nil
}

// Tag returns the ETag of a file: it stands for these bytes.
func Tag(file store.LeadMagnetFile) string { return `"` + hex.EncodeToString(file.SHA256[:16]) + `"` }

// KeepOneRange removes a Range header that does not ask for one part that the file has: the whole
// file is a proper answer to it.
func KeepOneRange(r *http.Request, size int64) {
	if !satisfiable(r.Header.Get("Range"), size) {
		r.Header.Del("Range")
	}
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

package file

import (
	"bytes"
	"crypto/sha256"
	"io"
	"log/slog"
	"math/rand/v2"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/store"
	"lodestone/pkg/test/enginetest"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

// A file comes back as it was, and one who reads it slowly keeps no more than a piece of it in
// memory.
func TestContent(t *testing.T) {
	t.Parallel()
	db := enginetest.MigratedPostgres(t)
	account, id := uuid.New(), uuid.New()
	file := make([]byte, 2*chunkBytes+100_000)
	_, _ = rand.NewChaCha8([32]byte{}).Read(file)
	sum := sha256.Sum256(file)
	q := store.New(db.Unscoped())
	require.NoError(t, q.InsertAccount(t.Context(), store.InsertAccountParams{ID: account, Name: "x", Plan: "free"}))
	_, err := q.InsertMagnet(t.Context(), store.InsertMagnetParams{ID: id, AccountID: account, Title: "x"})
	require.NoError(t, err)
	require.NoError(t, q.InsertFile(t.Context(), store.InsertFileParams{
		LeadMagnetID: id, Version: 1, AccountID: account, FileName: "x.pdf", ContentType: "application/pdf",
		FileSize: int64(len(file)), PageCount: 1, SHA256: sum[:],
	}))
	for number := 0; number*chunkBytes < len(file); number++ {
		chunk := file[number*chunkBytes : min(len(file), (number+1)*chunkBytes)]
		require.NoError(t, q.InsertChunk(t.Context(), store.InsertChunkParams{LeadMagnetID: id, Version: 1,
			Number: int32(number), AccountID: account, Bytes: chunk}))
	}
	files, err := New(Config{}, Deps{Postgres: db, Log: slog.New(slog.DiscardHandler)})
	require.NoError(t, err)
	meta := store.LeadMagnetFile{AccountID: account, LeadMagnetID: id, Version: 1, FileSize: int64(len(file))}
	whole, err := io.ReadAll(files.Open(t.Context(), meta))
	require.NoError(t, err)
	require.True(t, bytes.Equal(file, whole))
	for _, at := range []int64{0, 1, pieceBytes - 1, chunkBytes - 1, chunkBytes, int64(len(file)) - 1} {
		c := files.Open(t.Context(), meta)
		_, err := c.Seek(at, io.SeekStart)
		require.NoError(t, err)
		one := make([]byte, 1)
		_, err = io.ReadFull(c, one)
		require.NoError(t, err)
		require.Equal(t, file[at], one[0])
		require.LessOrEqual(t, cap(c.bytes), pieceBytes+pieceBytes/8)
	}
	_, err = files.Open(t.Context(), meta).Seek(-1, io.SeekStart)
	require.Error(t, err)
}

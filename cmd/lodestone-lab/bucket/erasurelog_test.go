package bucket_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/crud/person"
	"lodestone/pkg/blob"
)

// The log of erasures in a bucket has what was appended last under an id, and names the object that
// cannot be read.
func TestErasureLogInABucket(t *testing.T) {
	address, dir, _ := serve(t, "documents")
	log, err := person.OpenLog(person.Config{Log: "s3://documents/erasures"},
		blob.Config{Endpoint: address, Region: region, AccessKey: accessKey, SecretKey: secretKey})
	require.NoError(t, err)
	e := person.Entry{Version: 1, ID: uuid.New(), AccountID: uuid.New(), PersonID: uuid.New(), ErasedAt: time.Now().UTC()}
	bad := uuid.New()
	require.NoError(t, log.Append(t.Context(), e))
	e.Links = []uuid.UUID{uuid.New(), uuid.New()}
	require.NoError(t, log.Append(t.Context(), e))
	require.NoError(t, log.Append(t.Context(), person.Entry{Version: 1, ID: bad}))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "erasures", bad.String()+".json"), []byte("{"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "erasures", "notes.json"), []byte("{"), 0o600))
	ids, err := log.IDs(t.Context())
	require.NoError(t, err)
	require.ElementsMatch(t, []uuid.UUID{e.ID, bad}, ids)
	got, err := log.Entry(t.Context(), e.ID)
	require.NoError(t, err)
	require.Equal(t, e, got)
	for _, id := range []uuid.UUID{bad, uuid.New()} {
		_, err = log.Entry(t.Context(), id)
		require.ErrorContains(t, err, "s3://documents/erasures/"+id.String()+".json")
	}
}

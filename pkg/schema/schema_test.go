package schema_test

import (
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/schema"
)

// A migration that programs of the release before cannot work with is distinguished from those that they can.
func TestPendingMigrations(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{
		"migrations/00090_applied.sql":     {Data: []byte("-- +goose Up\nSELECT 1;\n")},
		"migrations/00091_new_column.sql":  {Data: []byte("-- +goose Up\nALTER TABLE a ADD c int;\n-- +goose Down\nUPDATE schema_floor SET release = 1;\n")},
		"migrations/00092_other_words.sql": {Data: []byte("-- +goose Up\nUPDATE  schema_floor SET release = 2;\n")},
	}
	pending, err := schema.Pending(files, map[int64]bool{90: true})
	require.NoError(t, err)
	require.Equal(t, []schema.Migration{{91, "new column", true}, {92, "other words", false}}, pending)
	empty, err := schema.Pending(files, nil)
	require.NoError(t, err)
	require.Len(t, empty, 3)
	for _, m := range empty {
		require.True(t, m.Beside, "nothing runs on an empty store")
	}
	newest, err := schema.Newest(files)
	require.NoError(t, err)
	require.EqualValues(t, 92, newest)
}

// A schema of a checkout from before the first release is refused, by a sentence that says what to do.
func TestSchemasFromBeforeTheFirstRelease(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{"migrations/00200_schema.sql": {}, "migrations/00201_more.sql": {}}
	for version, says := range map[int64]string{0: "has no schema", 1: "before the first release", 199: "before the first release", 200: "needs 201"} {
		err := schema.Compare("Postgres", version, files)
		require.True(t, schema.IsMismatch(err), version)
		require.ErrorContains(t, err, says)
	}
	for _, version := range []int64{201, 300} {
		require.NoError(t, schema.Compare("Postgres", version, files), version)
	}
}

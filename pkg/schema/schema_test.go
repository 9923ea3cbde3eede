package schema_test

import (
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/schema"
)

func TestPendingMigrations(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{"migrations/00090_applied.sql": {}, "migrations/00091_new_column.sql": {},
		"migrations/00092_other_words.sql": {}}
	pending, err := schema.Pending(files, map[int64]bool{90: true})
	require.NoError(t, err)
	require.Equal(t, []schema.Migration{{91, "new column"}, {92, "other words"}}, pending)
	newest, err := schema.Newest(files)
	require.NoError(t, err)
	require.EqualValues(t, 92, newest)
}

// A schema of a checkout from before the first release is refused, by a sentence that says what to
// do.
func TestSchemasFromBeforeTheFirstRelease(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{"migrations/00200_schema.sql": {}, "migrations/00201_more.sql": {}}
	for version, says := range map[int64]string{0: "has no schema", 1: "before the first release",
		199: "before the first release", 200: "needs 201"} {
		err := schema.Compare("Postgres", version, files)
		require.True(t, schema.IsMismatch(err), version)
		require.ErrorContains(t, err, says)
	}
	for _, version := range []int64{201, 300} {
		require.NoError(t, schema.Compare("Postgres", version, files), version)
	}
}

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
		"migrations/00089_old_table.sql":   {Data: []byte("-- +goose Up\nALTER TABLE a ADD b int;\n")},
		"migrations/00090_applied.sql":     {Data: []byte("-- +goose Up\nSELECT 1;\n")},
		"migrations/00091_new_column.sql":  {Data: []byte("-- +goose Up\nALTER TABLE a ADD c int;\n-- +goose Down\nUPDATE schema_floor SET release = 1;\n")},
		"migrations/00092_other_words.sql": {Data: []byte("-- +goose Up\nUPDATE  schema_floor SET release = 2;\n")},
	}
	pending, err := schema.Pending(files, map[int64]bool{90: true}, 90)
	require.NoError(t, err)
	require.Equal(t, []schema.Migration{{89, "old table", false}, {91, "new column", true}, {92, "other words", false}}, pending)
	empty, err := schema.Pending(files, nil, 90)
	require.NoError(t, err)
	require.Len(t, empty, 4)
	for _, m := range empty {
		require.True(t, m.Beside, "nothing runs on an empty store")
	}
	newest, err := schema.Newest(files)
	require.NoError(t, err)
	require.EqualValues(t, 92, newest)
}

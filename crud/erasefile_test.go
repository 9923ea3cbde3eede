package crud_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"lodestone/crud/account"
	"lodestone/pkg/test/enginetest"
)

// An erased address leaves the files of Postgres with the next vacuum, although a single erasure is
// far below the threshold of autovacuum: the rows, their indexes, what is stored for repeated
// requests and statistics.
func TestAnErasedAddressLeavesTheFilesOfPostgres(t *testing.T) {
	t.Parallel()
	server, database, _ := enginetest.RunPostgres(t)
	f := startOn(t, enginetest.PostgresPool(t, database), withLog(t.TempDir()))
	u := f.user(t, account.Team)
	magnet := u.file(t)
	const erased = "unique4711@example.com"
	invite := func(address string) {
		require.Equal(t, http.StatusCreated,
			u.post(t, "/api/v1/access-links", fmt.Sprintf(`{"lead_magnet_id":%q,"email":%q}`, magnet, address)).status)
	}
	for i := range 30 {
		invite(fmt.Sprintf("before%d@example.com", i))
	}
	invite(erased)
	for i := range 30 { // so that it is not the newest row of a page
		invite(fmt.Sprintf("zzz%d@example.com", i))
	}
	admin, err := pgx.Connect(t.Context(), server.AdminURL())
	require.NoError(t, err)
	defer func() { require.NoError(t, admin.Close(t.Context())) }()
	var data string
	require.NoError(t, admin.QueryRow(t.Context(), "SHOW data_directory").Scan(&data))
	found := func() (files []string) {
		_, err := admin.Exec(t.Context(), "CHECKPOINT")
		require.NoError(t, err)
		require.NoError(t, filepath.WalkDir(filepath.Join(data, "base"), func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			text, err := os.ReadFile(path)
			if bytes.Contains(text, []byte(erased)) {
				files = append(files, path)
			}
			return err
		}))
		return files
	}
	require.NotEmpty(t, found())

	require.Equal(t, http.StatusCreated, u.post(t, erasePath, `{"email":"`+erased+`"}`).status)
	pruning := f.service.Pruning()
	require.NoError(t, pruning.Start(t.Context()))
	require.Eventually(t, func() bool {
		return f.count(t, "pg_stat_user_tables WHERE relname = 'access_links' AND last_vacuum IS NOT NULL") > 0
	}, testTimeout, 20*time.Millisecond)
	require.NoError(t, pruning.Stop(t.Context()))
	require.Empty(t, found())
}

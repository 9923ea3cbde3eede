package stream

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the golden files of this package")

// The statements of batches, with all settings.
func TestStatementsOfBatches(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for _, s := range All() {
		q := insertQuery(s.Table, s.Tables.Take().Input(time.Now()), "topic:0,topic:1")
		fmt.Fprintln(&b, q.Body)
		for _, setting := range q.Settings {
			require.True(t, setting.Important, "a server that does not know %s has to refuse the insert", setting.Key)
			fmt.Fprintf(&b, "    %s = %s\n", setting.Key, setting.Value)
		}
	}
	const golden = "testdata/insert.golden"
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o750))
		require.NoError(t, os.WriteFile(golden, []byte(b.String()), 0o600))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	require.Equal(t, string(want), b.String(), "run with -update")
}

package stream

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/ch-go"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the golden files of this package")

// The statements of blocks, with all settings: of one server, and of a shard of replicas.
func TestStatementsOfBlocks(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	show := func(title string, q ch.Query) {
		fmt.Fprintf(&b, "%s\n%s\n", title, q.Body)
		for _, s := range q.Settings {
			require.True(t, s.Important, "a server that does not know %s has to refuse the insert", s.Key)
			fmt.Fprintf(&b, "    %s = %s\n", s.Key, s.Value)
		}
	}
	for _, s := range All() {
		input := s.Tables.Take().Input(time.Now())
		show("One server:", insertQuery(s.Table, input, "topic:0:10-20"))
		quorum := Quorum{Replicas: 2, Epoch: 7}
		show("Replicas:", quorum.query(s.Table, input, "topic:0:10-20:202611", 8*time.Second))
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

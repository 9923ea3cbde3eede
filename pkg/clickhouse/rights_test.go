package clickhouse

import (
	"testing"

	native "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/stretchr/testify/require"
)

// Who migrates without the rights for functions reads which ones are missing. The embedded server
// has no users to try it with.
func TestMissingRightsForFunctionsAreNamed(t *testing.T) {
	t.Parallel()
	refused := &native.Exception{Code: accessDenied, Name: "DB::Exception", Message: "lodestone: Not enough privileges"}
	require.ErrorContains(t, functionsError(refused), "CREATE FUNCTION and DROP FUNCTION")
	require.ErrorIs(t, functionsError(refused), refused)
	other := &native.Exception{Code: unknownTable, Name: "DB::Exception", Message: "no"}
	require.NotContains(t, functionsError(other).Error(), "DROP FUNCTION")
}

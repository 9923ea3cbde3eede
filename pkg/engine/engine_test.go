package engine_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/engine"
)

// Files of users.d take hashes of passwords from the environment; everything else of ClickHouse's
// stays outside.
func TestHashesOfPasswordsReachTheEngines(t *testing.T) {
	for _, v := range []string{"CLICKHOUSE_DBT_PASSWORD_SHA256", "CLICKHOUSE_PASSWORD", "CLICKHOUSE_CONFIG",
		"LODESTONE_X_SHA256", "KAFKA_SHA256"} {
		t.Setenv(v, "x")
	}
	environment := engine.ChildEnvironment()
	require.Contains(t, environment, "CLICKHOUSE_DBT_PASSWORD_SHA256=x")
	for _, v := range []string{"CLICKHOUSE_PASSWORD=x", "CLICKHOUSE_CONFIG=x", "LODESTONE_X_SHA256=x", "KAFKA_SHA256=x"} {
		require.NotContains(t, environment, v)
	}
}

package clickhouse_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/clickhouse"
	"lodestone/pkg/engine/enginetest"
)

func TestVersionsThatConfineUsersWhoRead(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]bool{
		"26.7.2.1": false, "26.7.11.11": false, "26.7.11.12": true, "26.7.12.1": true, "ClickHouse server version 26.3.33.108 (official build).": true,
		"26.3.33.107": false, "26.4.99.99": false, "25.8.99.99": false, "26.8.7.15": false, "26.8.8.1": true, "26.9.1.1599": false, "26.10.1.1": true, "27.1.1.1": true,
		"": false, "26.9": false, "26.9.1.99999999999999999999": false,
	} {
		require.Equal(t, want, clickhouse.Confines(version), version)
	}
}

func TestTheServerThatIsBroughtAlongConfinesUsers(t *testing.T) {
	t.Parallel()
	unconfined, version, err := clickhouse.Unconfined(t.Context(), enginetest.MigratedClickHouse(t))
	require.NoError(t, err)
	require.False(t, unconfined, version)
	require.NotEmpty(t, version)
}

//go:build long

package clickhouse_test

import (
	"maps"
	"net/http"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// All settings of each kind of user, by every way.
func TestEverySettingIsBoundedByEveryWay(t *testing.T) {
	t.Parallel()
	a := shareAnalytics(t)
	for _, address := range []string{a.all, a.scoped} {
		open := a.walk(address, func(s setting) ([]string, int) {
			if s.Readonly == 0 {
				return changeable[s.Name], allWays
			}
			return []string{another}, allWays
		})
		require.ElementsMatch(t, slices.Collect(maps.Keys(changeable)), open)
	}
	a.walk(a.as("dbt", "of dbt"), func(s setting) ([]string, int) { return ofDBT(s), allWays })
}

// Every setting that may name a file, in every form.
func TestNoSettingInAnyFormReachesAFile(t *testing.T) {
	t.Parallel()
	tr := newTrap(t)
	a := shareAnalytics(t)
	client := &http.Client{}
	defer client.CloseIdleConnections()
	for _, address := range []string{a.all, a.scoped} {
		for _, name := range a.namesOfFiles() {
			for _, value := range []string{a.file, "http://" + tr.Addr().String() + "/"} {
				for _, form := range settingForms {
					a.sets(client, address, form, name, value)
				}
			}
		}
	}
	require.Zero(t, tr.connections.Load())
}

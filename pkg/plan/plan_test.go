package plan_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/plan"
)

func TestTheSettingOfPlans(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "plans.json")
	require.NoError(t, os.WriteFile(file, []byte(`{"team": {"generic_links": 7}}`+"\n"), 0o600))
	want := plan.Default()
	want.Team.GenericLinks = 7
	for setting, want := range map[string]plan.Plans{"{}": plan.Default(), file: want,
		`{"team": {"generic_links": 7}}`: want} {
		var got plan.Plans
		require.NoError(t, got.UnmarshalText([]byte(setting)), setting)
		require.Equal(t, want, got, setting)
	}
	for setting, says := range map[string]string{
		`{"gold": {}}`: "gold", `{"free": {"magnets": 1}}`: "magnets",
		`{"pro": {"access_links": -1}}`: "the plan pro is negative", `{"pro": 1}`: "pro",
		`{} {}`: "behind", "": "file of plans", filepath.Join(t.TempDir(), "none"): "no such file",
	} {
		require.ErrorContains(t, new(plan.Plans).UnmarshalText([]byte(setting)), says, setting)
	}
}

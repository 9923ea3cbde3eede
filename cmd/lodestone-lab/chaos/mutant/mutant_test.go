package mutant_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/cmd/lodestone-lab/chaos/mutant"
)

// A mutant whose text is gone would break nothing.
func TestMutantsApply(t *testing.T) {
	t.Parallel()
	for _, m := range mutant.All() {
		_, err := m.Sources(t.Context())
		require.NoError(t, err)
	}
}

// A test that passes although its rule is broken proves nothing. `make chaos CHAOS="--mutants"`
// tries all of them.
func TestMutantsAreCaught(t *testing.T) {
	t.Parallel()
	for _, m := range mutant.All() {
		if m.Short && m.Package != "" {
			t.Run(m.Name, func(t *testing.T) {
				t.Parallel()
				require.NoError(t, m.RunTests(t.Context(), t.TempDir()))
			})
		}
	}
}

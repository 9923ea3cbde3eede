package layout_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Whoever follows a recipe of CONTRIBUTING.md goes to few places, and each of them is there.
func TestRecipesNameFewPlaces(t *testing.T) {
	t.Parallel()
	page := string(read(t, "CONTRIBUTING.md"))
	quoted := regexp.MustCompile("`([a-z]+/[a-zA-Z0-9_/.-]+)`")
	for recipe, most := range map[string]int{
		"An event type": 8, "A filter of the event list": 6, "A kind of webhook": 4, "A page": 4,
	} {
		_, text, found := strings.Cut(page, "\n### "+recipe+"\n")
		require.True(t, found, recipe)
		text, _, _ = strings.Cut(text, "\n#")
		steps := 0
		for _, step := range regexp.MustCompile(`(?m)^\d+\. `).Split(text, -1)[1:] {
			step, _, _ = strings.Cut(step, "\n\n") // what follows the last one
			steps++
			for _, place := range quoted.FindAllStringSubmatch(step, -1) {
				_, err := os.Stat(filepath.Join(root, place[1]))
				require.NoError(t, err, "%s, step %d", recipe, steps)
			}
		}
		require.Positive(t, steps, recipe)
		require.LessOrEqual(t, steps, most, recipe)
	}
}

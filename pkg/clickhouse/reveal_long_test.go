//go:build long

package clickhouse_test

import (
	"testing"

	"lodestone/pkg/clickhouse"
)

// Each column of each view by itself, with everything that moves conditions.
func TestNoConditionOnAnyColumnSeesAnotherAccount(t *testing.T) {
	t.Parallel()
	a := shareMoved(t)
	for _, view := range clickhouse.Views() {
		for _, column := range a.columns(view) {
			for name := range movers {
				for _, form := range revealingForms {
					if form == revealingForms[0] || name == "as_it_is" {
						a.reveals("moved_"+name, form, view, column)
					}
				}
			}
		}
	}
}

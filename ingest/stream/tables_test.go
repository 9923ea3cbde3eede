package stream

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTablesThatNoOneNeedsAreReleased(t *testing.T) {
	t.Parallel()
	tables := Events().Tables
	a, b, c := tables.Take(), tables.Take(), tables.Take()
	tables.Give(a)
	tables.Give(b)
	tables.Give(c)
	tables.Trim()
	require.Len(t, tables.free, 3)
	tables.Give(tables.Take())
	tables.Trim()
	require.Len(t, tables.free, 1, "two were not needed")
	require.Same(t, c, tables.Take())
}

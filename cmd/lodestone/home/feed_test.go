package home

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A form is counted seconds after it was submitted: the numbers are asked for several times after a change, and then no more.
func TestNumbersAreAskedForAgain(t *testing.T) {
	t.Parallel()
	begin := time.Unix(1772323200, 0)
	a := again{begin, firstAgain}
	var asked []time.Duration
	for after := time.Duration(0); after < time.Hour; after += time.Second {
		if a.due(begin.Add(after)) {
			asked = append(asked, after)
		}
	}
	require.Equal(t, []time.Duration{2 * time.Second, 4 * time.Second, 8 * time.Second, 16 * time.Second, 32 * time.Second}, asked)
}

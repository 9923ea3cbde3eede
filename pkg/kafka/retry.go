package kafka

import (
	"math/rand/v2"
	"time"
)

// How soon a client tries again. Each of these is at most added to the time that a broker was away.
const (
	firstRetry = 100 * time.Millisecond
	lastRetry  = time.Second
	maxRetries = 40
)

// retryAfter returns the pause after so many failures in a row.
func retryAfter(failures int) time.Duration {
	pause := min(firstRetry<<min(max(failures-1, 0), 8), lastRetry)
	return pause*3/4 + rand.N(pause/2) // so that clients do not try at the same time
}

package attachment

import (
	"errors"
	"time"

	"lodestone/pkg/limit"
	"lodestone/pkg/problem"
)

// again is after what time an export that was refused can be tried again.
const again = 10 * time.Second

// Refuse returns the problem of an export for which limit.Slots had no place, as its error says.
func Refuse(err error) error {
	if errors.Is(err, limit.ErrOwner) {
		return problem.New(problem.RateLimited,
			"Your account runs as many exports as it can at a time. Wait until one is complete.").RetryAfter(again)
	}
	return problem.New(problem.Unavailable, "The maximum number of exports is running. Try again.").RetryAfter(again)
}

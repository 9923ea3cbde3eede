package link

import (
	"math"

	"lodestone/crud/dashboard/frame"
	"lodestone/crud/link"
	"lodestone/pkg/problem"
)

// headlines are the two headlines of a page, and which is better, in words.
type headlines struct {
	link.Headlines
	Words string
}

// compareHeadlines returns the comparison of a link's headlines; nil if there is none.
func compareHeadlines(v *frame.Visit) (*headlines, error) {
	found, err := frame.Get[link.Headlines](v, path(v)+"/headlines", nil)
	if problem.Is(err, problem.Conflict) {
		return nil, nil // the second one was removed meanwhile
	}
	if err != nil {
		return nil, err
	}
	h := &headlines{Headlines: found}
	switch h.Decision {
	case link.FirstA, link.FirstB:
		chance, winner := *h.Chance, h.B.Title
		if h.Decision == link.FirstA {
			chance, winner = 1-chance, h.A.Title
		}
		// Never 100: what remains is not known.
		h.Words = v.Say("link.split.won", "headline", winner, "percent", min(99, int(math.Floor(100*chance))))
	case link.Early:
		h.Words = v.Say("link.split.early")
	default:
		h.Words = v.Say("link.split.open")
	}
	return h, nil
}

package link

import (
	"context"
	"fmt"
	"math"

	"github.com/jackc/pgx/v5"

	"lodestone/crud/magnet"
	"lodestone/pkg/api"
	"lodestone/pkg/auth"
	"lodestone/pkg/problem"
	"lodestone/pkg/store"
)

const (
	// minFinished is how many people must have read to the end before a headline can win.
	minFinished = 20
	// minCertainty is how certain it must be that a headline is the better one.
	minCertainty = 0.95
)

// Headlines compares the two headlines of a page.
type Headlines struct {
	A        Headline `json:"a" doc:"The headline of the page."`
	B        Headline `json:"b" doc:"The second headline."`
	Since    api.Time `json:"since" doc:"When the comparison began: the link was created, or a headline changed."`
	Chance   *float64 `json:"probability_b" doc:"Probability that the second headline brings more people to the end, from 0 to 1; null until someone has read to the end."`
	Decision decision `json:"decision" doc:"The better headline, if that is 95 % certain and 20 people have read to the end: a or b. early: fewer have. open: neither is certain yet."`
}

// Headline is one of two, and the people who came through it.
type Headline struct {
	Title       string `json:"title" doc:"The headline."`
	Submissions int64  `json:"submissions" doc:"Submissions of visitors who saw it."`
	Finished    int64  `json:"finished" doc:"Of them, people who read to the last page."`
}

// decision is the outcome of a comparison.
type decision string

// Outcomes.
const (
	Early  decision = "early"
	Open   decision = "open"
	FirstA decision = "a"
	FirstB decision = "b"
)

// EnumValues implements jsonschema.Enum.
func (decision) EnumValues() []string { return []string{"early", "open", "a", "b"} }

func (l *Links) registerHeadlines(a *api.API) {
	api.Register(a, api.Operation{
		ID: "compare-headlines", Method: "GET", Path: path + "/{id}/headlines", Scope: auth.Read, Tag: tag,
		Summary: "Compare the two headlines of a generic link",
		Description: "Every visitor sees one of them, half of them each. The better one is that of more people who read to the end. " +
			"A link without headline_b has nothing to compare, which is a conflict.",
		Errors: []problem.Code{problem.Conflict},
	}, l.headlines)
}

func (l *Links) headlines(ctx context.Context, in *idInput) (*api.Answer[Headlines], error) {
	var found Headlines
	err := l.deps.Postgres.AccountSnapshot(ctx, auth.From(ctx).AccountID, func(tx pgx.Tx) error {
		row, err := Get(ctx, tx, in.ID)
		if err != nil {
			return err
		}
		if row.HeadlineB == nil {
			return problem.New(problem.Conflict, "The link has one headline: set headline_b to compare two.")
		}
		offered, err := magnet.Get(ctx, tx, row.LeadMagnetID)
		if err != nil {
			return err
		}
		counts, err := store.New(tx).CountHeadlines(ctx, in.ID)
		found = compare(row, offered.Title, counts)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("compare headlines: %w", err)
	}
	return api.OK(found), nil
}

// compare judges the two headlines of a link.
func compare(row store.GenericLink, title string, counts []store.CountHeadlinesRow) Headlines {
	h := Headlines{A: Headline{Title: title}, B: Headline{Title: *row.HeadlineB}, Since: api.TimeOf(row.CreatedAt),
		Decision: Early}
	if row.Title != nil {
		h.A.Title = *row.Title
	}
	if row.HeadlinesSince != nil {
		h.Since = api.TimeOf(*row.HeadlinesSince)
	}
	for _, c := range counts {
		of := &h.A
		if c.Second {
			of = &h.B
		}
		of.Submissions, of.Finished = c.Submissions, c.Finished
	}
	all := h.A.Finished + h.B.Finished
	if all == 0 {
		return h
	}
	chance := better(h.B.Finished, h.A.Finished)
	h.Chance = &chance
	switch {
	case all < minFinished:
	case chance >= minCertainty:
		h.Decision = FirstB
	case chance <= 1-minCertainty:
		h.Decision = FirstA
	default:
		h.Decision = Open
	}
	return h
}

// better returns the probability that one of two headlines, which are shown equally often, finds
// more finishers than the other, of those that both have found: that the share of the one is above
// one half, if any share was as likely before. It is the tail of a Beta distribution, Beta(one+1,
// other+1), which is a sum of binomial terms.
func better(one, other int64) float64 {
	n := float64(one + other + 1)
	logN, _ := math.Lgamma(n + 1)
	sum := 0.0
	for k := range one + 1 {
		a, _ := math.Lgamma(float64(k) + 1)
		b, _ := math.Lgamma(n - float64(k) + 1)
		sum += math.Exp(logN - a - b - n*math.Ln2)
	}
	return min(sum, 1)
}

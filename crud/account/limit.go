package account

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"lodestone/pkg/plan"
	"lodestone/pkg/problem"
	"lodestone/pkg/store"
)

// Resource is a resource that a plan limits, in words that follow a number.
type Resource string

// The resources.
const (
	LeadMagnets  Resource = "lead magnets"
	StoredBytes  Resource = "bytes of files"
	GenericLinks Resource = "generic links"
	AccessLinks  Resource = "access links"
)

// limitsOf returns what an account of a plan may have.
func limitsOf(all plan.Plans, p Plan) plan.Limits {
	switch p {
	case Pro:
		return all.Pro
	case Team:
		return all.Team
	default:
		return all.Free
	}
}

// limitOf returns how much of a resource there may be, 0 for any number.
func limitOf(l plan.Limits, r Resource) int64 {
	switch r {
	case LeadMagnets:
		return l.LeadMagnets
	case StoredBytes:
		return l.StoredBytes
	case GenericLinks:
		return l.GenericLinks
	default:
		return l.AccessLinks
	}
}

// Reserve returns nil if the account that a transaction is scoped to may have n more of a resource,
// which the transaction is about to add, else the problem that its limit is reached. Where there is
// a limit, it keeps the account's row until the transaction ends, so that of two that add at once
// the second one counts what the first one added. A transaction that locks the lead magnet does so
// before.
func Reserve(ctx context.Context, tx pgx.Tx, plans plan.Plans, r Resource, n int64) error {
	q := store.New(tx)
	account, err := q.OwnAccount(ctx)
	if err != nil {
		return fmt.Errorf("read account: %w", err)
	}
	if limitOf(limitsOf(plans, Plan(account.Plan)), r) == 0 {
		return nil
	}
	present, err := LockPlan(ctx, tx)
	if err != nil {
		return err
	}
	limit := limitOf(limitsOf(plans, present), r)
	if limit == 0 {
		return nil // the plan was changed just now
	}
	have, err := count(ctx, q, r, limit)
	if err != nil {
		return fmt.Errorf("count %s: %w", r, err)
	}
	switch {
	case have+n <= limit:
		return nil
	case n == 1:
		return problem.New(problem.LimitReached,
			fmt.Sprintf("The plan %s allows %d %s, and there are %d.", present, limit, r, have))
	default:
		return problem.New(problem.LimitReached, fmt.Sprintf("The plan %s allows %d %s, there are %d, and this would add %d.",
			present, limit, r, have, n))
	}
}

func count(ctx context.Context, q *store.Queries, r Resource, limit int64) (int64, error) {
	switch r {
	case LeadMagnets:
		return q.CountMagnets(ctx)
	case StoredBytes:
		return q.SumStoredBytes(ctx)
	case GenericLinks:
		return q.CountLinks(ctx)
	default:
		return q.CountAccessLinksUpTo(ctx, limit)
	}
}

// allowanceOf returns limits as the API shows them.
func allowanceOf(l plan.Limits) Allowance {
	shown := func(limit int64) *int64 {
		if limit == 0 {
			return nil
		}
		return &limit
	}
	return Allowance{
		LeadMagnets: shown(l.LeadMagnets), StoredBytes: shown(l.StoredBytes), GenericLinks: shown(l.GenericLinks),
		AccessLinks: shown(l.AccessLinks),
		Keys:        maxKeys,
	}
}

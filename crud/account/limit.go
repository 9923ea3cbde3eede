package account

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"lodestone/pkg/config"
	"lodestone/pkg/problem"
	"lodestone/pkg/store"
)

// Limits is what the accounts of each plan may have.
type Limits struct {
	Free Quota `embed:"" prefix:"plan-free-" set:"plan=free" set:"magnets=20" set:"bytes=524288000" set:"links=3" set:"access=5000"`     //nolint:staticcheck // kong reads each set
	Pro  Quota `embed:"" prefix:"plan-pro-" set:"plan=pro" set:"magnets=500" set:"bytes=10737418240" set:"links=50" set:"access=200000"` //nolint:staticcheck // kong reads each set
	Team Quota `embed:"" prefix:"plan-team-" set:"plan=team" set:"magnets=0" set:"bytes=0" set:"links=0" set:"access=0"`                 //nolint:staticcheck // kong reads each set
}

// Quota is what an account of one plan may have; 0 stands for any number.
type Quota struct {
	LeadMagnets  int64 `name:"lead-magnets" default:"${magnets}" help:"Maximum number of lead magnets for an account on the plan ${plan}; 0 means no limit."`
	StoredBytes  int64 `name:"stored-bytes" default:"${bytes}" help:"Maximum total size of the files for an account on the plan ${plan}, in bytes; 0 means no limit."`
	GenericLinks int64 `name:"generic-links" default:"${links}" help:"Maximum number of generic links for an account on the plan ${plan}; 0 means no limit."`
	AccessLinks  int64 `name:"access-links" default:"${access}" help:"Number of access links above which the keys of an account on the plan ${plan} cannot create more; forms still can. 0 means no limit."`
}

// Resource is what a plan limits, in words that follow a number.
type Resource string

// The resources.
const (
	LeadMagnets  Resource = "lead magnets"
	StoredBytes  Resource = "bytes of files"
	GenericLinks Resource = "generic links"
	AccessLinks  Resource = "access links"
)

// Validate returns every problem of the settings.
func (l Limits) Validate() error {
	var errs []error
	for _, p := range Plans() {
		q := l.of(p)
		for _, s := range []struct {
			name  string
			quota int64
		}{
			{"lead-magnets", q.LeadMagnets}, {"stored-bytes", q.StoredBytes}, {"generic-links", q.GenericLinks}, {"access-links", q.AccessLinks},
		} {
			if s.quota < 0 {
				errs = append(errs, config.Invalid("--plan-"+string(p)+"-"+s.name, "is negative", "give a number, 0 for no limit"))
			}
		}
	}
	return errors.Join(errs...)
}

func (l Limits) of(p Plan) Quota {
	switch p {
	case Pro:
		return l.Pro
	case Team:
		return l.Team
	default:
		return l.Free
	}
}

// of returns how much of a resource there may be, 0 for any number.
func (q Quota) of(r Resource) int64 {
	switch r {
	case LeadMagnets:
		return q.LeadMagnets
	case StoredBytes:
		return q.StoredBytes
	case GenericLinks:
		return q.GenericLinks
	default:
		return q.AccessLinks
	}
}

// Reserve returns nil if the account that a transaction is scoped to may have n more of a resource, which the transaction
// is about to add, else the problem that its limit is reached. Where there is a limit, it keeps the account's row until
// the transaction ends, so that of two that add at once the second one counts what the first one added. A transaction
// that locks the lead magnet does so before.
func (l Limits) Reserve(ctx context.Context, tx pgx.Tx, r Resource, n int64) error {
	q := store.New(tx)
	account, err := q.OwnAccount(ctx)
	if err != nil {
		return fmt.Errorf("read account: %w", err)
	}
	if l.of(Plan(account.Plan)).of(r) == 0 {
		return nil
	}
	plan, err := LockPlan(ctx, tx)
	if err != nil {
		return err
	}
	limit := l.of(plan).of(r)
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
		return problem.New(problem.LimitReached, fmt.Sprintf("The plan %s allows %d %s, and there are %d.", plan, limit, r, have))
	default:
		return problem.New(problem.LimitReached, fmt.Sprintf("The plan %s allows %d %s, there are %d, and this would add %d.", plan, limit, r, have, n))
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

// allowance returns what a quota allows as the API shows it.
func (q Quota) allowance() Allowance {
	shown := func(limit int64) *int64 {
		if limit == 0 {
			return nil
		}
		return &limit
	}
	return Allowance{
		LeadMagnets: shown(q.LeadMagnets), StoredBytes: shown(q.StoredBytes), GenericLinks: shown(q.GenericLinks), AccessLinks: shown(q.AccessLinks),
		Keys: maxKeys,
	}
}

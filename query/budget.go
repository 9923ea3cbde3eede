package query

import (
	"context"
	"time"

	"lodestone/pkg/api"
	"lodestone/pkg/auth"
	"lodestone/pkg/problem"
	"lodestone/query/scope"
)

// budgeted answers a report only if the account has processor time left, and charges what the report takes. When Postgres
// cannot be asked, the report is answered and not charged, as requests are then not counted.
func budgeted[In, Out any](q *Query, answer func(context.Context, *In) (*api.Answer[Out], error)) func(context.Context, *In) (*api.Answer[Out], error) {
	return func(ctx context.Context, in *In) (*api.Answer[Out], error) {
		account := auth.From(ctx).AccountID
		if wait, err := q.budget.Wait(ctx, account); err == nil && wait > 0 {
			return nil, problem.New(problem.RateLimited, "Reports of this account have taken all the processor time of this minute. Wait for the time that Retry-After "+
				"gives, in seconds, and ask for less: a shorter range, fewer metrics of distinct things.").RetryAfter(wait)
		}
		ctx, use := scope.WithUse(ctx)
		out, err := answer(ctx, in)
		_ = q.budget.Charge(ctx, account, int((use.Processor()+time.Millisecond-1)/time.Millisecond))
		return out, err
	}
}

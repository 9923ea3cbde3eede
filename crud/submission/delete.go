package submission

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/pkg/api"
	"lodestone/pkg/auth"
	"lodestone/pkg/problem"
	"lodestone/pkg/store"
)

type deleteInput struct {
	ID uuid.UUID `path:"id" doc:"Id of the submission."`
}

// delete removes a submission with its verifications. Triggers take the bodies of webhook
// deliveries about it and the copy for SQL.
func (s *Submissions) delete(ctx context.Context, in *deleteInput) (*api.Answer[api.Empty], error) {
	err := s.db.Account(ctx, auth.From(ctx).AccountID, func(tx pgx.Tx) error {
		q := store.New(tx)
		link, err := q.DeleteSubmission(ctx, in.ID)
		if errors.Is(err, pgx.ErrNoRows) {
			return problem.Missing("submission")
		}
		if err != nil {
			return err
		}
		return q.UncountSubmission(ctx, link)
	})
	if err != nil {
		return nil, fmt.Errorf("delete submission: %w", err)
	}
	return &api.Answer[api.Empty]{}, nil
}

package idempotency

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"lodestone/pkg/store"
	"lodestone/pkg/token"
)

// Kept is an answer that is kept for repeated requests.
type Kept struct {
	Operation string
	At        time.Time // of the request
	Body      []byte

	claim uuid.UUID
}

// Kept returns the answers that are kept of an account, oldest first. Those whose token key is missing cannot be read by anyone, and are
// left out.
func (s *Store) Kept(ctx context.Context, account uuid.UUID) ([]Kept, error) {
	rows, err := s.queries.AnswersOfAccount(ctx, account)
	if err != nil {
		return nil, fmt.Errorf("read kept answers: %w", err)
	}
	kept := make([]Kept, 0, len(rows))
	for _, row := range rows {
		body, err := s.tokens.Open(sealing, row.Sealed, row.Claim[:])
		if errors.Is(err, token.ErrSealed) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("open kept answer: %w", err)
		}
		kept = append(kept, Kept{row.Operation, row.ClaimedAt, body, row.Claim})
	}
	return kept, nil
}

// Forget removes those of the answers kept of an account to requests until a time whose body is one of those that are meant. A repetition of such a request is
// refused from then on: it took effect.
func (s *Store) Forget(ctx context.Context, account uuid.UUID, until time.Time, meant func(body []byte) bool) error {
	kept, err := s.Kept(ctx, account)
	if err != nil {
		return err
	}
	for _, k := range kept {
		if k.At.After(until) || !meant(k.Body) {
			continue
		}
		if err := s.queries.ForgetAnswer(ctx, store.ForgetAnswerParams{AccountID: account, Claim: k.claim}); err != nil {
			return fmt.Errorf("remove kept answer: %w", err)
		}
	}
	return nil
}

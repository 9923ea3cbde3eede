package idempotency

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
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
		kept = append(kept, Kept{operation(row.Operation), row.ClaimedAt, body, row.Claim})
	}
	return kept, nil
}

// Named is a request whose key is kept.
type Named struct {
	Operation, Key string
	At             time.Time // of the request
}

// Named returns the requests of an account whose keys are meant, oldest first.
func (s *Store) Named(ctx context.Context, account uuid.UUID, meant func(key string) bool) ([]Named, error) {
	rows, err := s.named(ctx, account, always, meant)
	list := make([]Named, len(rows))
	for i, row := range rows {
		list[i] = Named{operation(row.Operation), row.Key, row.ClaimedAt}
	}
	return list, err
}

// always is later than any request.
var always = time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)

func (s *Store) named(ctx context.Context, account uuid.UUID, until time.Time, meant func(key string) bool) ([]store.RequestKeysOfAccountRow, error) {
	rows, err := s.queries.RequestKeysOfAccount(ctx, store.RequestKeysOfAccountParams{AccountID: account, Until: until})
	if err != nil {
		return nil, fmt.Errorf("read idempotency keys: %w", err)
	}
	return slices.DeleteFunc(rows, func(row store.RequestKeysOfAccountRow) bool { return !meant(row.Key) }), nil
}

// Meant says which requests Forget is about: by the answer's body, and by the key.
type Meant struct {
	Body func(body []byte) bool
	Key  func(key string) bool
}

// Forget removes those of the answers kept of an account to requests until a time whose body is one of those that are meant. A repetition of such a request is
// refused from then on: it took effect. Of keys that are meant, only a hash is kept, by which repetitions still find them.
func (s *Store) Forget(ctx context.Context, account uuid.UUID, until time.Time, meant Meant) error {
	kept, err := s.Kept(ctx, account)
	if err != nil {
		return err
	}
	for _, k := range kept {
		if k.At.After(until) || !meant.Body(k.Body) {
			continue
		}
		if err := s.queries.ForgetAnswer(ctx, store.ForgetAnswerParams{AccountID: account, Claim: k.claim}); err != nil {
			return fmt.Errorf("remove kept answer: %w", err)
		}
	}
	rows, err := s.named(ctx, account, until, meant.Key)
	if err != nil {
		return err
	}
	for _, row := range rows {
		err := s.queries.HashIdempotencyKey(ctx, store.HashIdempotencyKeyParams{
			AccountID: account, Operation: row.Operation, Key: row.Key, Claim: row.Claim, Hashed: hashed(row.Key),
		})
		if err != nil {
			return fmt.Errorf("hash idempotency key: %w", err)
		}
	}
	return nil
}

// hashed returns what stands for a key that names someone who was erased.
func hashed(key string) string {
	sum := sha256.Sum256([]byte(key))
	return "sha256:" + hex.EncodeToString(sum[:])
}

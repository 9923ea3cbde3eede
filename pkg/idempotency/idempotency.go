// Package idempotency lets a client repeat a request without repeating its effect: the answer to
// the first request under an Idempotency-Key is stored for a day and returned to repetitions.
//
// A request first claims its key in a transaction of its own, so that others see that it is
// running. Every writing transaction of the operation then marks the claim as having taken effect,
// in the same commit as the effect (Claim.Context). The answer is stored last. If the process dies
// in between, the claim shows what happened: without effect, another request can take it over once
// it expires; with an effect, the request never runs again, and a repetition gets a conflict that
// says that the answer was lost. An owner that comes back late cannot commit: its mark fails, since
// the claim belongs to another request.
package idempotency

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/pkg/postgres"
	"lodestone/pkg/problem"
	"lodestone/pkg/store"
	"lodestone/pkg/token"
)

const (
	// Keep is how long a key is remembered.
	Keep = 24 * time.Hour
	// MaxKey is the length of the longest key.
	MaxKey = 255

	// sealing is the purpose that answers are sealed for. The context is the id of the claim.
	sealing = "answers"

	// settleTimeout bounds what follows an operation: its own time may be over by then.
	settleTimeout = 5 * time.Second
)

// Store keeps keys and answers in Postgres. It is safe for concurrent use.
type Store struct {
	queries *store.Queries
	tokens  *token.Ring
	log     *slog.Logger
}

// Deps are the dependencies of a store; all are required.
type Deps struct {
	Postgres *postgres.Pool
	Tokens   *token.Ring // seals answers
	Log      *slog.Logger
}

// New returns a store.
func New(d Deps) *Store {
	return &Store{queries: store.New(d.Postgres.Unscoped()), tokens: d.Tokens, log: d.Log}
}

// Request is one that came with a key.
type Request struct {
	Account   uuid.UUID
	Operation string // keys of different operations are different
	Caller    string // and so are those of different callers: it names who asks, and with what rights, in no blanks
	Key       string
	Hash      [sha256.Size]byte // of everything that must be the same
	Timeout   time.Duration     // of the operation: after that the claim may be taken over
}

// owner returns what a key is stored under.
func (r Request) owner() string { return r.Operation + " " + r.Caller }

// Answer is the stored part of an answer.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
	// Secret means that the body is shown only once: it is not stored, and a repetition is refused.
	Secret bool
}

// Claim is the right to run one request's operation. End it by Finish or Release.
type Claim struct {
	store   *Store
	request Request
	id      uuid.UUID
}

// CheckKey returns the problem of a key that cannot be one, or nil.
func CheckKey(key string) error {
	for _, c := range []byte(key) {
		if c < 0x20 || c > 0x7e {
			return problem.Parameter(problem.Field{Field: "Idempotency-Key", Message: "must be printable ASCII"})
		}
	}
	if key == "" || len(key) > MaxKey {
		return problem.Parameter(problem.Field{Field: "Idempotency-Key",
			Message: fmt.Sprintf("must have 1 to %d characters, and has %d", MaxKey, len(key))})
	}
	return nil
}

// Begin claims a request's key, or returns the answer that was given to it before. The error is a
// problem (validation_error for another request under the same key, conflict for one that runs or
// whose answer is not to be had), or says that Postgres could not be asked.
func (s *Store) Begin(ctx context.Context, r Request) (*Claim, *Answer, error) {
	for {
		c := &Claim{store: s, request: r, id: uuid.New()}
		inserted, err := s.queries.ClaimIdempotencyKey(ctx, store.ClaimIdempotencyKeyParams{
			AccountID: r.Account, Operation: r.owner(), Key: r.Key, Request: r.Hash[:], Claim: c.id,
			Seconds: (r.Timeout + settleTimeout).Seconds(),
		})
		if err != nil {
			return nil, nil, fmt.Errorf("claim idempotency key: %w", err)
		}
		if inserted == 1 {
			return c, nil, nil
		}
		answer, old, err := s.find(ctx, r)
		if err != nil || answer != nil {
			return nil, answer, err
		}
		if old == uuid.Nil {
			continue // removed meanwhile
		}
		taken, err := s.queries.TakeOverIdempotencyKey(ctx, store.TakeOverIdempotencyKeyParams{
			AccountID: r.Account, Operation: r.owner(), Key: r.Key, Claim: old, Request: r.Hash[:], NewClaim: c.id,
			Seconds: (r.Timeout + settleTimeout).Seconds(), KeepSeconds: Keep.Seconds(),
		})
		if err != nil {
			return nil, nil, fmt.Errorf("take over idempotency key: %w", err)
		}
		if taken == 1 {
			return c, nil, nil
		}
	}
}

// find returns the answer that a key has, or the claim that may be taken over, or why neither. It
// returns nothing if the key is not there.
func (s *Store) find(ctx context.Context, r Request) (_ *Answer, free uuid.UUID, err error) {
	k, err := s.queries.FindIdempotencyKey(ctx, store.FindIdempotencyKeyParams{AccountID: r.Account, Operation: r.owner(),
		Key: r.Key, KeepSeconds: Keep.Seconds()})
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil, uuid.Nil, nil
	case err != nil:
		return nil, uuid.Nil, fmt.Errorf("look up idempotency key: %w", err)
	case k.Expired, k.GivenUp && !k.TookEffect && !k.Answered:
		return nil, k.Claim, nil
	case !bytes.Equal(k.Request, r.Hash[:]):
		return nil, uuid.Nil,
			problem.Invalid(problem.Field{Field: "Idempotency-Key", Message: "was used with another request: give a new key"})
	case k.Answered && k.Sealed == nil:
		return nil, uuid.Nil,
			problem.New(problem.Conflict,
				"A request with this Idempotency-Key succeeded, and its answer is not kept: it held a secret.")
	case k.Answered:
		body, err := s.tokens.Open(sealing, k.Sealed, k.Claim[:])
		if err != nil {
			s.log.Error("cannot open the answer for an idempotency key: add the token key that sealed it",
				"operation", r.Operation, "error", err)
			return nil, uuid.Nil, lost()
		}
		a := &Answer{Status: int(*k.Status), Body: body}
		if err := json.Unmarshal(k.Header, &a.Header); err != nil {
			return nil, uuid.Nil, fmt.Errorf("read stored answer: %w", err)
		}
		return a, uuid.Nil, nil
	case k.GivenUp:
		return nil, uuid.Nil, lost()
	default:
		return nil, uuid.Nil,
			problem.New(problem.Conflict,
				"A request with this Idempotency-Key is being answered. Try again.").RetryAfter(time.Second)
	}
}

func lost() error {
	return problem.New(problem.Conflict,
		"A request with this Idempotency-Key took effect, and its answer was lost. Check what it created before you send another.")
}

// Context returns a context under which every writing transaction marks the claim.
func (c *Claim) Context(ctx context.Context) context.Context {
	return postgres.WithFirst(ctx, func(ctx context.Context, tx pgx.Tx) error {
		marked, err := store.New(tx).MarkIdempotencyKey(ctx, store.MarkIdempotencyKeyParams{
			AccountID: c.request.Account, Operation: c.request.owner(), Key: c.request.Key, Claim: c.id,
		})
		if err != nil {
			return fmt.Errorf("mark idempotency key: %w", err)
		}
		if marked == 0 {
			return problem.New(problem.Conflict,
				"This took so long that another request with the same Idempotency-Key took over.")
		}
		return nil
	})
}

// Finish stores the answer of an operation that succeeded. It does not fail the request: an answer
// that cannot be stored is logged, and a repetition is refused.
func (c *Claim) Finish(ctx context.Context, a Answer) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTimeout)
	defer cancel()
	header, err := json.Marshal(a.Header)
	var sealed []byte
	if err == nil && !a.Secret {
		sealed, err = c.store.tokens.Seal(sealing, a.Body, c.id[:])
	}
	if err == nil {
		err = c.store.queries.AnswerIdempotencyKey(ctx, store.AnswerIdempotencyKeyParams{
			AccountID: c.request.Account, Operation: c.request.owner(), Key: c.request.Key, Claim: c.id,
			Status: int32(a.Status), Header: header, Sealed: sealed,
		})
	}
	if err != nil {
		c.store.log.Error("cannot store the answer for an idempotency key", "operation", c.request.Operation, "error", err)
	}
}

// Release gives the key back after an operation that failed. If it took effect before it failed,
// the key stays used, without an answer.
func (c *Claim) Release(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTimeout)
	defer cancel()
	err := c.store.queries.ReleaseIdempotencyKey(ctx, store.ReleaseIdempotencyKeyParams{
		AccountID: c.request.Account, Operation: c.request.owner(), Key: c.request.Key, Claim: c.id,
	})
	if err != nil {
		c.store.log.Warn("cannot release an idempotency key: it is free when its claim expires", "operation",
			c.request.Operation, "error", err)
	}
}

package accesslink

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"lodestone/pkg/store"
	"lodestone/pkg/token"
)

// Sealing is the purpose of the keys that seal tokens.
const Sealing = "access links"

// Token is the secret part of a link's URL, with what is stored of it.
type Token struct {
	Text   string
	Hash   []byte // finds the link
	Sealed []byte
	Key    int16 // that sealed it
}

// NewToken returns a token for the link with an id: 130 random bits, in characters that survive
// being read out.
func NewToken(keys *token.Ring, id uuid.UUID) (Token, error) {
	return seal(keys, id, strings.ToLower(rand.Text()))
}

func seal(keys *token.Ring, id uuid.UUID, text string) (Token, error) {
	keys = keys.Frozen()
	sealed, err := keys.Seal(Sealing, []byte(text), id[:])
	if err != nil {
		return Token{}, fmt.Errorf("seal token of access link: %w", err)
	}
	return Token{Text: text, Hash: HashToken(text), Sealed: sealed, Key: int16(keys.IDs()[0])}, nil
}

// HashToken returns what the link of a token is found by.
func HashToken(text string) []byte {
	sum := sha256.Sum256([]byte(text))
	return sum[:]
}

// OpenToken returns the token of a link. Its error is token.ErrSealed if the key that sealed it is
// missing.
func OpenToken(keys *token.Ring, a store.AccessLink) (string, error) {
	return openToken(keys, a.ID, a.TokenSealed)
}

func openToken(keys *token.Ring, id uuid.UUID, sealed []byte) (string, error) {
	text, err := keys.Open(Sealing, sealed, id[:])
	if err != nil {
		return "", fmt.Errorf("open token of access link %s: %w", id, err)
	}
	return string(text), nil
}

// Seal seals the tokens that are sealed under another key of the ring than the first. Tokens that
// cannot be opened stay as they are, and are logged.
func (l *Links) Seal(ctx context.Context) error {
	ids, q := l.deps.Tokens.IDs(), store.New(l.deps.Postgres.Unscoped())
	var keys []int16
	for _, id := range ids[1:] {
		keys = append(keys, int16(id))
	}
	unopened, err := token.SealRows(ctx, func(ctx context.Context, after uuid.UUID,
		limit int64) ([]store.LinkTokensSealedByRow, error) {
		return q.LinkTokensSealedBy(ctx, store.LinkTokensSealedByParams{Keys: keys, After: after, RowLimit: limit})
	}, func(ctx context.Context, row store.LinkTokensSealedByRow) (uuid.UUID, error) {
		text, err := openToken(l.deps.Tokens, row.ID, row.TokenSealed)
		if err != nil {
			return row.ID, err
		}
		t, err := seal(l.deps.Tokens, row.ID, text)
		if err != nil {
			return row.ID, err
		}
		return row.ID, q.SealLinkToken(ctx, store.SealLinkTokenParams{ID: row.ID, Was: row.TokenSealed,
			TokenSealed: t.Sealed, TokenKey: t.Key})
	})
	if err != nil {
		return fmt.Errorf("seal tokens of access links: %w", err)
	}
	if unopened > 0 {
		l.deps.Log.Error("cannot open tokens of access links: add the token key that sealed them", "links", unopened)
	}
	return nil
}

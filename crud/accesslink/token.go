package accesslink

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/pkg/store"
	"lodestone/pkg/token"
)

const (
	// sealing is the purpose that tokens are sealed for. The context is the id of their link.
	sealing = "access links"
	// noKey is the key of a token that is not sealed yet.
	noKey     = -1
	sealBatch = 1000
)

// Token is the secret part of a link's URL, with what is stored of it.
type Token struct {
	Text   string
	Hash   []byte // finds the link
	Sealed []byte
	Key    int16 // that sealed it
}

// NewToken returns a token for the link with an id: 130 random bits, in characters that survive being read out.
func NewToken(keys *token.Ring, id uuid.UUID) (Token, error) {
	return seal(keys, id, strings.ToLower(rand.Text()))
}

func seal(keys *token.Ring, id uuid.UUID, text string) (Token, error) {
	sealed, err := keys.Seal(sealing, []byte(text), id[:])
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

// OpenToken returns the token of a link. Its error is token.ErrSealed if the key that sealed it is missing.
func OpenToken(keys *token.Ring, a store.AccessLink) (string, error) {
	return openToken(keys, a.ID, a.TokenClear, a.TokenSealed)
}

func openToken(keys *token.Ring, id uuid.UUID, inClear *string, sealed []byte) (string, error) {
	if inClear != nil {
		return *inClear, nil // not sealed yet
	}
	text, err := keys.Open(sealing, sealed, id[:])
	if err != nil {
		return "", fmt.Errorf("open token of access link %s: %w", id, err)
	}
	return string(text), nil
}

// Seal seals the tokens that a release before left in clear, and those that are sealed under another key of the ring than the first.
func (l *Links) Seal(ctx context.Context) error {
	ids := l.tokens.IDs()
	keys := []int16{noKey}
	for _, id := range ids[1:] {
		keys = append(keys, int16(id))
	}
	for {
		found, sealed := 0, store.SealLinkTokensParams{TokenKey: int16(ids[0])}
		err := l.db.Transaction(ctx, func(tx pgx.Tx) error {
			q := store.New(tx)
			rows, err := q.LinkTokensSealedBy(ctx, store.LinkTokensSealedByParams{Keys: keys, RowLimit: sealBatch})
			if err != nil {
				return err
			}
			found = len(rows)
			for _, row := range rows {
				text, err := openToken(l.tokens, row.ID, row.TokenClear, row.TokenSealed)
				if errors.Is(err, token.ErrSealed) {
					continue
				}
				if err != nil {
					return err
				}
				t, err := seal(l.tokens, row.ID, text)
				if err != nil {
					return err
				}
				sealed.IDs, sealed.TokenHashes, sealed.TokensSealed = append(sealed.IDs, row.ID), append(sealed.TokenHashes, t.Hash), append(sealed.TokensSealed, t.Sealed)
			}
			return q.SealLinkTokens(ctx, sealed)
		})
		switch {
		case err != nil:
			return fmt.Errorf("seal tokens of access links: %w", err)
		case found > 0 && len(sealed.IDs) == 0:
			return fmt.Errorf("seal tokens of access links: give the token key that sealed %d or more of them: %w", found, token.ErrSealed)
		case found < sealBatch:
			return nil
		}
	}
}

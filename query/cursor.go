package query

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/google/uuid"

	"lodestone/pkg/postgres"
	"lodestone/pkg/problem"
	"lodestone/pkg/store"
)

// cursors seals the cursors of the event list: a place in it has the number of an event in the log,
// which the events of all accounts move on. The key comes from Postgres, so all processes open each
// other's cursors. It is safe for concurrent use.
type cursors struct {
	db *postgres.Pool

	mu  sync.Mutex
	key []byte // nil: not read yet
}

// read returns the key: keyed hashes by the secret of this database, for an account that does not
// exist.
func (c *cursors) read(ctx context.Context) ([]byte, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.key != nil {
		return c.key, nil
	}
	var key []byte
	for _, purpose := range []string{"cursors, first half", "cursors, second half"} {
		half, err := store.New(c.db.Unscoped()).PersonID(ctx, store.PersonIDParams{AccountID: uuid.Nil, EmailKey: purpose})
		if err != nil {
			return nil, fmt.Errorf("read the key of cursors: %w", err)
		}
		key = append(key, half[:]...)
	}
	c.key = key
	return key, nil
}

func (c *cursors) aead(ctx context.Context) (aead cipher.AEAD, key []byte, err error) {
	if key, err = c.read(ctx); err != nil {
		return nil, nil, err
	}
	block, err := aes.NewCipher(key)
	if err == nil {
		aead, err = cipher.NewGCM(block)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("make cipher: %w", err)
	}
	return aead, key, nil
}

// seal returns the cursor of an account that holds a place: the same for the same place.
func (c *cursors) seal(ctx context.Context, account uuid.UUID, place any) (string, error) {
	aead, key, err := c.aead(ctx)
	if err != nil {
		return "", err
	}
	text, err := json.Marshal(place)
	if err != nil {
		return "", fmt.Errorf("encode cursor: %w", err)
	}
	h := hmac.New(sha256.New, key)
	h.Write(account[:])
	h.Write(text)
	nonce := h.Sum(nil)[:aead.NonceSize()]
	return base64.RawURLEncoding.EncodeToString(aead.Seal(nonce, nonce, text, account[:])), nil
}

// open reads the text of seal. The error of any other text is the problem to answer with.
func (c *cursors) open(ctx context.Context, account uuid.UUID, cursor string, place any) error {
	aead, _, err := c.aead(ctx)
	if err != nil {
		return err
	}
	sealed, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
	if err == nil && len(sealed) > aead.NonceSize() {
		text, openErr := aead.Open(nil, sealed[:aead.NonceSize()], sealed[aead.NonceSize():], account[:])
		if openErr == nil && json.Unmarshal(text, place) == nil {
			return nil
		}
	}
	return problem.Parameter(problem.Field{Field: "cursor", Message: "is not a cursor that this list returned"})
}

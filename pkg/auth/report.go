package auth

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"lodestone/pkg/store"
)

const reportKeyPrefix = "lsr_"

// ReportKey is a key by which a job of the installation reads the reports of an account, for some
// minutes.
type ReportKey struct {
	Text string            // Secret.
	Hash [sha256.Size]byte // of the text
}

// NewReportKey returns a random key.
func NewReportKey() ReportKey {
	text := reportKeyPrefix + randomBase62(secretLength)
	return ReportKey{text, hashKey(text)}
}

func isReportKey(key string) bool {
	secret, found := strings.CutPrefix(key, reportKeyPrefix)
	return found && len(secret) == secretLength
}

// lookUpReport returns the identity of a report that is being written, and how long the answer may
// be cached.
func (v *Verifier) lookUpReport(ctx context.Context, hash [sha256.Size]byte) (Identity, time.Duration, error) {
	r, err := store.New(v.db.Unscoped()).LookUpReportKey(ctx, hash[:])
	if errors.Is(err, pgx.ErrNoRows) {
		return Identity{}, 0, errInvalid
	}
	if err != nil {
		return Identity{}, 0, fmt.Errorf("look up key of a report: %w", err)
	}
	i := Identity{AccountID: r.AccountID, ReportID: r.ID, Scopes: []Scope{Read}}
	return i, time.Duration(min(cacheFor.Seconds(), r.SecondsLeft) * float64(time.Second)), nil
}

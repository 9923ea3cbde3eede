package auth

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/pkg/postgres"
	"lodestone/pkg/service"
)

const (
	// cacheFor bounds how long a revoked key still works in a process that has just seen it.
	cacheFor   = 500 * time.Millisecond
	cacheSize  = 10_000
	flushEvery = 10 * time.Second
	flushLast  = 2 * time.Second // the longest that a stop waits for the last uses
)

// Verifier tells who presents a key, from Postgres. It is safe for concurrent use, and a service:
// while it runs, and once more when it stops, it writes down when keys were last used.
type Verifier struct {
	*service.Loop
	db  *postgres.Pool
	log *slog.Logger
	now func() time.Time
	// Of flush: how often, and for how long the last one may take.
	every, last time.Duration

	mu    sync.Mutex
	cache map[[sha256.Size]byte]cached
	used  map[uuid.UUID]time.Time
}

type cached struct {
	identity Identity
	until    time.Time
}

// NewVerifier returns a verifier. It answers without being started, but then notes no use of keys.
func NewVerifier(db *postgres.Pool, log *slog.Logger) *Verifier {
	v := &Verifier{
		db: db, log: log, now: time.Now, every: flushEvery, last: flushLast,
		cache: map[[sha256.Size]byte]cached{}, used: map[uuid.UUID]time.Time{},
	}
	v.Loop = service.NewLoop("key verifier", v.run)
	return v
}

// Verify returns the identity of a key's holder. IsInvalid tells of a key that is refused; another
// error says that Postgres could not be asked.
func (v *Verifier) Verify(ctx context.Context, key string) (Identity, error) {
	if !wellFormed(key) {
		return Identity{}, errInvalid
	}
	hash := hashKey(key)
	now := v.now()
	v.mu.Lock()
	hit, ok := v.cache[hash]
	if ok && now.Before(hit.until) {
		v.used[hit.identity.KeyID] = now
		v.mu.Unlock()
		return hit.identity, nil
	}
	v.mu.Unlock()
	// The time of the cached answer counts from before the look-up, so that a key revoked
	// meanwhile does not live longer.
	identity, err := v.lookUp(ctx, hash)
	if err != nil {
		return Identity{}, err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.cache) >= cacheSize {
		clear(v.cache)
	}
	v.cache[hash] = cached{identity, now.Add(cacheFor)}
	v.used[identity.KeyID] = now
	return identity, nil
}

func (v *Verifier) lookUp(ctx context.Context, hash [sha256.Size]byte) (Identity, error) {
	var i Identity
	var stored []byte
	row := v.db.Unscoped().QueryRow(ctx,
		`SELECT id, account_id, scopes, hash FROM api_keys WHERE hash = $1 AND revoked_at IS NULL`, hash[:])
	err := row.Scan(&i.KeyID, &i.AccountID, &i.Scopes, &stored)
	if errors.Is(err, pgx.ErrNoRows) {
		return Identity{}, errInvalid
	}
	if err != nil {
		return Identity{}, fmt.Errorf("look up API key: %w", err)
	}
	if subtle.ConstantTimeCompare(stored, hash[:]) != 1 {
		return Identity{}, errInvalid
	}
	return i, nil
}

func (v *Verifier) run(ctx context.Context, ready func()) error {
	ready()
	tick := time.NewTicker(v.every)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			v.flush(ctx)
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), v.last)
			v.flush(last)
			cancel()
			return nil
		}
	}
}

// flush writes down the uses since the last time, in one statement. A use that cannot be written
// is only noted in the log: it is a convenience, and not worth a queue.
func (v *Verifier) flush(ctx context.Context) {
	v.mu.Lock()
	used := v.used
	v.used = make(map[uuid.UUID]time.Time, len(used))
	v.mu.Unlock()
	if len(used) == 0 {
		return
	}
	ids, times := make([]uuid.UUID, 0, len(used)), make([]time.Time, 0, len(used))
	for id, at := range used {
		ids, times = append(ids, id), append(times, at)
	}
	_, err := v.db.Unscoped().Exec(ctx, `
		UPDATE api_keys SET last_used_at = used.at
		FROM unnest($1::uuid[], $2::timestamptz[]) AS used (id, at)
		WHERE api_keys.id = used.id AND (last_used_at IS NULL OR last_used_at < used.at)`, ids, times)
	if err != nil {
		v.log.Warn("cannot note the last use of keys", "keys", len(ids), "error", err)
	}
}

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

	"lodestone/pkg/limit"
	"lodestone/pkg/postgres"
	"lodestone/pkg/problem"
	"lodestone/pkg/service"
	"lodestone/pkg/store"
)

const (
	// cacheFor bounds how long a revoked key still works in a process that has just seen it.
	cacheFor  = 500 * time.Millisecond
	cacheSize = 10_000
	// unknownFor is how long a key is remembered as unknown. A key created later never has the same
	// text.
	unknownFor = time.Minute
	// maxUnknown is how many different unknown keys an address may present in a minute before it
	// has to wait.
	maxUnknown = 300
	flushEvery = 10 * time.Second
	flushLast  = 2 * time.Second // the longest that a stop waits for the last uses
)

// Verifier finds the identity behind a key in Postgres. It is safe for concurrent use. It is also a
// service: while it runs, and once more when it stops, it records when keys were last used.
type Verifier struct {
	*service.Loop
	db  *postgres.Pool
	log *slog.Logger
	now func() time.Time
	// Of flush: how often, and for how long the last one may take.
	every, last time.Duration

	guesses *limit.AddressLimiter // unknown keys by address

	mu      sync.Mutex
	cache   map[[sha256.Size]byte]cacheEntry // of keys that worked, also for some time after they were last looked up
	unknown map[[sha256.Size]byte]time.Time  // keys that do not exist, and until when that is remembered
	used    map[uuid.UUID]time.Time
}

type cacheEntry struct {
	identity Identity
	until    time.Time
}

// NewVerifier returns a verifier. It answers without being started, but then records no use of
// keys.
func NewVerifier(db *postgres.Pool, log *slog.Logger) *Verifier {
	v := &Verifier{
		db: db, log: log, now: time.Now, every: flushEvery, last: flushLast,
		cache: map[[sha256.Size]byte]cacheEntry{}, unknown: map[[sha256.Size]byte]time.Time{},
		used:    map[uuid.UUID]time.Time{},
		guesses: limit.NewAddressLimiter(maxUnknown),
	}
	v.Loop = service.NewLoop("key verifier", v.run)
	return v
}

// Verify returns the identity of the holder of a key, or of a session's key. IsInvalid recognises
// the error of a refused key. The problem rate_limited means that the client's address, which
// NewClientContext puts into ctx, presented too many unknown keys: its further keys are not looked
// up in Postgres, except for keys that worked before. Any other error means that Postgres could not
// be queried.
func (v *Verifier) Verify(ctx context.Context, key string) (Identity, error) {
	switch {
	case isSessionKey(key):
		return v.verify(ctx, hashKey(key), func(hash [sha256.Size]byte) (Identity, time.Duration, error) {
			return v.lookUpSession(ctx, store.LookUpSessionParams{KeyHash: hash[:]})
		})
	case isShareKey(key):
		return v.verify(ctx, hashKey(key), func(hash [sha256.Size]byte) (Identity, time.Duration,
			error) {
			return v.lookUpShare(ctx, hash)
		})
	case isReportKey(key):
		return v.verify(ctx, hashKey(key), func(hash [sha256.Size]byte) (Identity, time.Duration,
			error) {
			return v.lookUpReport(ctx, hash)
		})
	case wellFormed(key):
		return v.verify(ctx, hashKey(key), func(hash [sha256.Size]byte) (Identity, time.Duration,
			error) {
			return v.lookUp(ctx, hash)
		})
	default:
		return Identity{}, errInvalid
	}
}

// VerifyCookie is Verify for a session's cookie instead of a key.
func (v *Verifier) VerifyCookie(ctx context.Context, secret string) (Identity, error) {
	if !encodedSecret(secret) {
		return Identity{}, errInvalid
	}
	return v.verify(ctx, hashKey(secret), func(hash [sha256.Size]byte) (Identity, time.Duration, error) {
		return v.lookUpSession(ctx, store.LookUpSessionParams{CookieHash: hash[:]})
	})
}

// verify returns the identity behind a hash from memory, or looks it up.
func (v *Verifier) verify(ctx context.Context, hash [sha256.Size]byte, lookUp func([sha256.Size]byte) (Identity,
	time.Duration, error)) (Identity, error) {
	now := v.now()
	v.mu.Lock()
	hit, ok := v.cache[hash]
	if ok && now.Before(hit.until) {
		v.use(hit.identity, now)
		v.mu.Unlock()
		return hit.identity, nil
	}
	invalid := now.Before(v.unknown[hash])
	v.mu.Unlock()
	if invalid {
		return Identity{}, errInvalid
	}
	client := clientOf(ctx)
	if wait := v.guesses.Wait(client, now); wait > 0 && !ok {
		return Identity{}, problem.New(problem.RateLimited,
			"Too many unknown API keys were sent from this address. Wait for the time that "+
				"Retry-After gives, in seconds.").RetryAfter(wait)
	}
	// The time of the cached answer counts from before the look-up, so that a key revoked meanwhile
	// does not live longer.
	identity, remember, err := lookUp(hash)
	if IsInvalid(err) {
		v.guesses.Take(client, uuid.Nil, now)
		v.forget(hash, now)
	}
	if err != nil {
		return Identity{}, err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.cache) >= cacheSize {
		clear(v.cache)
	}
	v.cache[hash] = cacheEntry{identity, now.Add(remember)}
	v.use(identity, now)
	return identity, nil
}

// use records that a key was used; v.mu is held. A session records by itself when it is active.
func (v *Verifier) use(i Identity, now time.Time) {
	if i.KeyID != uuid.Nil {
		v.used[i.KeyID] = now
	}
}

// forget records that a key does not exist, or no longer does.
func (v *Verifier) forget(hash [sha256.Size]byte, now time.Time) {
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.cache, hash)
	if len(v.unknown) >= cacheSize {
		clear(v.unknown)
	}
	v.unknown[hash] = now.Add(unknownFor)
}

// lookUp returns the identity that belongs to a hash, and how long the answer may be cached:
// cacheFor at most, and no longer than until the key expires by the clock of Postgres.
func (v *Verifier) lookUp(ctx context.Context, hash [sha256.Size]byte) (i Identity, remember time.Duration, err error) {
	key, err := store.New(v.db.Unscoped()).LookUpKey(ctx, hash[:])
	if errors.Is(err, pgx.ErrNoRows) {
		return Identity{}, 0, errInvalid
	}
	if err != nil {
		return Identity{}, 0, fmt.Errorf("look up API key: %w", err)
	}
	if subtle.ConstantTimeCompare(key.Hash, hash[:]) != 1 {
		return Identity{}, 0, errInvalid
	}
	i = Identity{AccountID: key.AccountID, KeyID: key.ID}
	for _, s := range key.Scopes {
		i.Scopes = append(i.Scopes, Scope(s))
	}
	return i, time.Duration(min(cacheFor.Seconds(), key.SecondsLeft) * float64(time.Second)), nil
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

// flush writes the uses since the last flush in one statement. If that fails, it logs the error and
// drops them: they are a convenience, and not worth a queue.
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
	if err := store.New(v.db.Unscoped()).NoteKeyUses(ctx, store.NoteKeyUsesParams{IDs: ids, Times: times}); err != nil {
		v.log.Warn("cannot note the last use of keys", "keys", len(ids), "error", err)
	}
}

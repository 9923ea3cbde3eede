package collector

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	mathrand "math/rand/v2"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	"lukechampine.com/blake3"

	"lodestone/pkg/postgres"
	"lodestone/pkg/service"
	"lodestone/pkg/store"
	"lodestone/pkg/token"
)

const (
	saltBytes = 32
	day       = 24 * time.Hour
)

// Salts keeps the secret of each day with which addresses are hashed. All collectors share them
// through Postgres; each is random, and destroyed 48 h after its day began, so that no one can go
// back from a hash to an address afterwards, nor compare a visitor over days. In Postgres they are
// encrypted under the token keys, since dumps of it are kept for longer.
//
// A salt that this collector cannot decrypt is never replaced: others may be using it. Events of
// its day are kept without the hash here, unless the salt is in memory already. It passes within 48
// h, or when the token key that is missing is given.
//
// It is a service.Service: Start returns when there is a salt for today, or after a few seconds
// without: a collector that is started again while Postgres is away keeps events without the hash
// until it is back. Tomorrow's salt is fetched ahead, so that midnight needs no Postgres and
// neither does an outage of a day.
type Salts struct {
	*service.Loop
	queries    *store.Queries
	keys       *token.Ring
	now        func() time.Time
	log        *slog.Logger
	set        atomic.Pointer[saltSet]
	age        prometheus.Gauge
	unreadable map[string]bool // days whose salt could not be decrypted, as the log has it; of Refresh
}

// saltSet is the salts of some days. It is never changed, only replaced.
type saltSet struct {
	salts []*salt // of consecutive or scattered days, oldest first; at most three
}

type salt struct {
	day     time.Time // its UTC midnight
	secret  [saltBytes]byte
	hashers sync.Pool // of *saltHasher: building one for each event costs eight times the hash itself
}

// saltHasher is a keyed hash with its message and its result, which a Hasher would otherwise move
// to the heap each time.
type saltHasher struct {
	keyed   *blake3.Hasher
	message [32]byte
	sum     [16]byte
}

func newSalt(day time.Time, secret []byte) *salt {
	s := &salt{day: day, secret: [saltBytes]byte(secret)}
	s.hashers.New = func() any { return &saltHasher{keyed: blake3.New(len(saltHasher{}.sum), s.secret[:])} }
	return s
}

// hash is keyed BLAKE3 of a message.
func (s *salt) hash(message *[32]byte) [16]byte {
	h, _ := s.hashers.Get().(*saltHasher) // the pool has no others
	defer s.hashers.Put(h)
	h.message = *message
	h.keyed.Reset()                    // keeps the key
	_, _ = h.keyed.Write(h.message[:]) // never fails
	h.keyed.Sum(h.sum[:0])
	return h.sum
}

func (s *saltSet) lookup(day time.Time) *salt {
	for _, salt := range s.salts {
		if salt.day.Equal(day) {
			return salt
		}
	}
	return nil
}

// SaltsDeps are the dependencies of salts; all are required.
type SaltsDeps struct {
	Postgres   *postgres.Pool   // migrated
	Tokens     *token.Ring      // encrypts the salts
	Now        func() time.Time // time.Now but in tests
	Log        *slog.Logger
	Registerer prometheus.Registerer
}

// NewSalts returns the salts kept in a database.
func NewSalts(d SaltsDeps) (*Salts, error) {
	s := &Salts{queries: store.New(d.Postgres.Unscoped()), keys: d.Tokens, now: d.Now, log: d.Log, unreadable: map[string]bool{}, age: prometheus.NewGauge(prometheus.GaugeOpts{ //nolint:promlinter // salts come by the day
		Name: "lodestone_collector_salt_horizon_days",
		Help: "Days, including today, that have a salt for the address hash. Below 1, events are stored without the hash.",
	})}
	if err := d.Registerer.Register(s.age); err != nil {
		return nil, fmt.Errorf("register salt metrics: %w", err)
	}
	s.set.Store(&saltSet{})
	s.Loop = service.NewLoop("address salts", s.run)
	return s, nil
}

// Hash returns keyed BLAKE3, cut to 16 bytes, of the account and the address under the salt of the
// day. The account is part of it so that two accounts cannot find out that they had the same
// visitor. Without a salt for the time it returns false. It takes no lock and does no input or
// output.
func (s *Salts) Hash(account uuid.UUID, client netip.Addr, at time.Time) (out [16]byte, ok bool) {
	salt := s.set.Load().lookup(midnight(at))
	if salt == nil {
		return out, false
	}
	addr := client.As16()
	var message [32]byte
	copy(message[:16], account[:])
	copy(message[16:], addr[:])
	return salt.hash(&message), true
}

func midnight(t time.Time) time.Time { return t.UTC().Truncate(day) }

// run refreshes the salts until it is stopped. It never gives up: what is in memory goes on serving
// while Postgres is away.
func (s *Salts) run(ctx context.Context, ready func()) error {
	const (
		firstRetry = 250 * time.Millisecond
		lastRetry  = 15 * time.Second
		startLimit = 3 * time.Second // of the start
	)
	retry, began, started := firstRetry, time.Now(), false
	for {
		wait := s.untilRefresh()
		attempt, cancel := ctx, func() {}
		if !started {
			attempt, cancel = context.WithTimeout(ctx, startLimit)
		}
		err := s.Refresh(attempt)
		cancel()
		if err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			s.log.Warn("cannot refresh the salts of the address hash, trying again",
				"error", err, "retry_in", retry, "days_left", s.horizon())
			wait, retry = jitter(retry), min(2*retry, lastRetry)
		} else {
			retry = firstRetry
		}
		switch {
		case started:
		case s.horizon() > 0:
			started = true
			ready()
		case time.Since(began) >= startLimit:
			s.log.Warn("starting without a salt: events get no address hash until Postgres answers",
				"error", err)
			started = true
			ready()
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		}
	}
}

// untilRefresh returns a wait of about a minute that ends at midnight if that comes first.
func (s *Salts) untilRefresh() time.Duration {
	const usual = time.Minute
	now := s.now()
	return min(jitter(usual), midnight(now).Add(day).Sub(now)+10*time.Millisecond)
}

func jitter(d time.Duration) time.Duration {
	return d/2 + mathrand.N(d)
}

// horizon returns for how many days, from today on, there are salts without a gap.
func (s *Salts) horizon() int {
	set, today := s.set.Load(), midnight(s.now())
	days := 0
	for set.lookup(today.Add(time.Duration(days)*day)) != nil {
		days++
	}
	return days
}

// Refresh destroys what is too old, here and in Postgres, and makes and fetches the rest. The
// service does so about once a minute, and at midnight; do not call it while that runs.
func (s *Salts) Refresh(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	today := midnight(s.now())
	s.forget(today.Add(-day))
	defer func() { s.age.Set(float64(s.horizon())) }()
	if err := s.offer(ctx, today); err != nil {
		return err
	}
	if err := s.queries.DestroySalts(ctx, today); err != nil {
		return fmt.Errorf("destroy old salts: %w", err)
	}
	return s.fetch(ctx, today)
}

// forget drops the salts of days before the one given.
func (s *Salts) forget(before time.Time) {
	old := s.set.Load()
	rest := &saltSet{}
	for _, salt := range old.salts {
		if !salt.day.Before(before) {
			rest.salts = append(rest.salts, salt)
		}
	}
	s.set.Store(rest)
}

// offer puts a salt into the table for each day that has none there: the one in memory if there is
// one, since the table is emptied when Postgres crashes, else a new one. Of several collectors
// that do so at once, the first one's counts.
func (s *Salts) offer(ctx context.Context, today time.Time) error {
	set := s.set.Load()
	for _, d := range []time.Time{today.Add(-day), today, today.Add(day)} {
		secret := make([]byte, saltBytes)
		switch known := set.lookup(d); {
		case known != nil:
			copy(secret, known.secret[:])
		case d.Before(today):
			continue // no event is hashed with it any more
		default:
			_, _ = rand.Read(secret) // never fails: crypto/rand ends the process instead
		}
		sealed, err := s.keys.Seal(saltPurpose, secret, saltContext(d))
		if err != nil {
			return fmt.Errorf("offer salt: %w", err)
		}
		if err := s.queries.OfferSalt(ctx, store.OfferSaltParams{Day: d, Sealed: sealed}); err != nil {
			return fmt.Errorf("offer salt: %w", err)
		}
	}
	return nil
}

// fetch takes over what the table has.
func (s *Salts) fetch(ctx context.Context, today time.Time) error {
	rows, err := s.queries.Salts(ctx, store.SaltsParams{FirstDay: today.Add(-day), LastDay: today.Add(day)})
	if err != nil {
		return fmt.Errorf("read salts: %w", err)
	}
	old, fresh := s.set.Load(), &saltSet{}
	for _, row := range rows {
		date := row.Day
		known := old.lookup(date)
		secret, err := s.keys.Open(saltPurpose, row.Sealed, saltContext(date))
		if err != nil {
			s.reportUnreadable(date, known != nil)
			if known != nil {
				fresh.salts = append(fresh.salts, known)
			}
			continue
		}
		delete(s.unreadable, date.Format(time.DateOnly))
		if known == nil || known.secret != [saltBytes]byte(secret) {
			if known != nil {
				s.log.Warn("the salt of a day was replaced by another collector's: hashes of that day fall into two groups",
					"day", date.Format(time.DateOnly))
			}
			known = newSalt(date, secret)
		}
		fresh.salts = append(fresh.salts, known)
	}
	s.set.Store(fresh)
	return nil
}

// reportUnreadable logs once that the salt of a day cannot be decrypted.
func (s *Salts) reportUnreadable(day time.Time, inMemory bool) {
	date := day.Format(time.DateOnly)
	if s.unreadable[date] {
		return
	}
	s.unreadable[date] = true
	effect := "events of that day are kept without the hash of the address"
	if inMemory {
		effect = "this collector goes on with the salt in its memory"
	}
	s.log.Error("a salt of the address hash cannot be decrypted with the token keys", "day", date, "effect", effect,
		"remedy", "give this collector every token key that other collectors have (--token-keys); keep an old key for two days after it signs no more")
}

// saltPurpose tells the key of salts from other keys that are derived from the token keys.
const saltPurpose = "salts of the address hash"

// saltContext binds an encrypted salt to its day.
func saltContext(day time.Time) []byte { return []byte(day.Format(time.DateOnly)) }

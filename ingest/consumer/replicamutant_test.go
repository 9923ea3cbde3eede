//go:build long

package consumer

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lodestone/ingest/replica"
	"lodestone/ingest/stream"
)

// mutant is a shard on which one rule of docs/decisions/010-replicas.md does not hold. It is made from the outside: the code that is
// tested is the product's.
type mutant string

const (
	noMutant       mutant = ""
	movesShard     mutant = "point 3: a partition is placed again by each owner"
	sharesInserts  mutant = "point 4: an insert has rows of two partitions"
	countsBefore   mutant = "point 5: a row counts by the replicas of before its insert"
	countsOne      mutant = "point 5: a row counts once the writer has it"
	asksWriter     mutant = "point 5: the writer answers for the others"
	trustsInserts  mutant = "point 5: an insert that is acknowledged counts"
	makesParts     mutant = "point 6: an insert becomes several parts"
	newTokens      mutant = "point 6: rows that are missing are inserted under a new token"
	keepsTokens    mutant = "point 6: tokens stay the same after a drop"
	dropsInEpoch   mutant = "point 6: inserts under old tokens are on their way after a drop"
	keepsRunning   mutant = "point 7: inserts of the writer before are not ended"
	keepsEpoch     mutant = "point 7: servers do not store the epoch"
	refusesNone    mutant = "point 7: servers do not refuse inserts of an earlier epoch"
	stampsNone     mutant = "point 7: inserts do not name the epoch of the record"
	ignoresRecord  mutant = "point 7: a process with one address of the shard stores there as on one server"
	ignoresSession mutant = "point 7: a writer that does not answer is replaced during its session"
	guessesSession mutant = "point 7: a replica without a session in Keeper says that the writer has none"
	ignoresLease   mutant = "point 7: a writer that does not answer is replaced during its leases"
	outlivesLease  mutant = "point 7: inserts begin after the lease"
	takesUnsynced  mutant = "point 7: the new writer lacks parts"
	setsClockBack  mutant = "point 7: the clock of the new writer may be behind"
	dropsUnsynced  mutant = "drop: those that are left lack parts"
)

var mutants = []mutant{
	movesShard, sharesInserts, countsBefore, countsOne, asksWriter, trustsInserts, makesParts, newTokens, keepsTokens, dropsInEpoch, keepsRunning, keepsEpoch, refusesNone, stampsNone,
	ignoresRecord, ignoresSession, guessesSession, ignoresLease, outlivesLease, takesUnsynced, setsClockBack, dropsUnsynced,
}

// The model notices when a rule does not hold. In a scenario nothing is wrong if it does.
func TestTheModelOfReplicasCatchesMutants(t *testing.T) {
	t.Parallel()
	for _, m := range mutants {
		t.Run(string(m), func(t *testing.T) {
			t.Parallel()
			if s, ok := scenarios[m]; ok {
				require.NoError(t, s.play(noMutant))
				err := s.play(m)
				require.Error(t, err)
				t.Log(err)
				return
			}
			run := rapid.Custom(func(t *rapid.T) error { return runModel(t, m) })
			const seeds = 20_000
			for seed := range seeds {
				if err := run.Example(seed); err != nil {
					t.Logf("seed %d: %v", seed, err)
					return
				}
			}
			t.Fatalf("%d runs did not notice it", seeds)
		})
	}
}

// lyingReader is the record that owners of a mutant see.
type lyingReader struct {
	*shard
	mutant mutant
	before []string // the replicas when an insert began
}

// Read implements replica.Register.
func (l *lyingReader) Read(ctx context.Context, id uint16) (replica.Record, error) {
	r, err := l.shard.Read(ctx, id)
	switch l.mutant { //nolint:exhaustive // the others do not lie here
	case countsBefore:
		if _, begins := ctx.Deadline(); begins {
			l.before = r.Replicas
		} else if l.before != nil {
			r.Replicas, l.before = l.before, nil
		}
	case countsOne:
		r.Replicas = []string{r.Writer}
	case ignoresRecord: // the first address is that of r0
		r = replica.Record{Shard: id, Replicas: []string{"r0"}, Writer: "r0", Epoch: math.MaxInt64, Ready: true}
	}
	return r, err
}

// lyingRegister is the record that movers of a mutant see.
type lyingRegister struct {
	*shard
	mutant mutant
}

// Read implements replica.Register.
func (l lyingRegister) Read(ctx context.Context, id uint16) (replica.Record, error) {
	r, err := l.shard.Read(ctx, id)
	if l.mutant == ignoresLease {
		r.Age = replica.Lease + 1
	}
	return r, err
}

// Swap implements replica.Register.
func (l lyingRegister) Swap(ctx context.Context, from, to replica.Record) error {
	if l.mutant == dropsInEpoch && to.Drops > from.Drops {
		to.Epoch, to.Ready, to.Previous = from.Epoch, true, ""
	}
	return l.shard.Swap(ctx, from, to)
}

// lyingServer is what movers see, of a mutant or not.
type lyingServer struct {
	*server
	mutant mutant
	during operation
}

// EndInserts implements replica.Server.
func (l lyingServer) EndInserts(ctx context.Context) error {
	if l.cut {
		return errAway
	}
	if l.mutant == keepsRunning {
		return nil
	}
	return l.server.EndInserts(ctx)
}

// Accept implements replica.Server.
func (l lyingServer) Accept(ctx context.Context, epoch int64) (int64, error) {
	if l.cut {
		return 0, errAway
	}
	if l.mutant == keepsEpoch {
		_, err := l.server.Accept(ctx, 0)
		return epoch, err
	}
	return l.server.Accept(ctx, epoch)
}

// Epoch implements replica.Server.
func (l lyingServer) Epoch(ctx context.Context) (int64, error) {
	if l.cut {
		return 0, errAway
	}
	return l.server.Epoch(ctx)
}

// Forget implements replica.Server.
func (l lyingServer) Forget(ctx context.Context, name string) error {
	if l.cut {
		return errAway
	}
	return l.server.Forget(ctx, name)
}

// Active implements replica.Server.
func (l lyingServer) Active(ctx context.Context, name string) (bool, error) {
	if l.cut {
		return false, errAway
	}
	active, err := l.server.Active(ctx, name)
	if l.mutant == guessesSession && errors.Is(err, errBlind) {
		return false, nil
	}
	return active && l.mutant != ignoresSession, err
}

// Sync implements replica.Server.
func (l lyingServer) Sync(ctx context.Context) error {
	if l.cut {
		return errAway
	}
	if l.mutant == takesUnsynced && l.during == toMove || l.mutant == dropsUnsynced && l.during == toDrop {
		return nil
	}
	for _, p := range l.shard.parts { // system.replicas counts it as one to check
		if p.unseen && p.source == l.server {
			return errors.New("a part is not to be seen yet")
		}
	}
	return l.server.Sync(ctx)
}

// Clock implements replica.Server.
func (l lyingServer) Clock(ctx context.Context) (now, stored time.Time, err error) {
	if l.cut {
		return now, stored, errAway
	}
	now, stored, err = l.server.Clock(ctx)
	if l.mutant == setsClockBack {
		stored = time.Time{}
	}
	return now, stored, err
}

// lies are what an owner of a mutant believes.
type lies struct {
	mutant       mutant
	tries        int
	acknowledged map[int64]bool // offsets
}

// lyingRows is what owners of a mutant see.
type lyingRows struct {
	*rows
	seen *lies
}

// Insert implements replica.Rows.
func (l *lyingRows) Insert(ctx context.Context, table stream.Table, how replica.Insert) error {
	switch l.seen.mutant { //nolint:exhaustive // as above
	case newTokens:
		l.seen.tries++
		how.Token += fmt.Sprint("#r", l.seen.tries)
	case keepsTokens:
		how.Token, _, _ = strings.Cut(how.Token, "#")
	case stampsNone:
		how.Epoch = math.MaxInt64
	case outlivesLease:
		ctx = context.WithoutCancel(ctx)
	}
	err := l.rows.Insert(ctx, table, how)
	for _, offset := range table.Offsets() {
		l.seen.acknowledged[offset] = l.seen.acknowledged[offset] || err == nil
	}
	return err
}

// Stored implements replica.Reader.
func (l *lyingRows) Stored(ctx context.Context, first, last int64) (*stream.Offsets, error) {
	if l.seen.mutant == asksWriter {
		writer := rows{server: l.shard.named(l.shard.record.Writer), partition: l.partition}
		return writer.Stored(ctx, first, last)
	}
	found, err := l.rows.Stored(ctx, first, last)
	for offset := first; offset <= last && err == nil; offset++ {
		if l.seen.mutant == trustsInserts && l.seen.acknowledged[offset] {
			found.Add(offset)
		}
	}
	return found, err
}

// Epoch implements replica.Rows.
func (l *lyingRows) Epoch(ctx context.Context) (int64, error) {
	if l.seen.mutant == asksWriter {
		writer := rows{server: l.shard.named(l.shard.record.Writer), partition: l.partition}
		return writer.Epoch(ctx)
	}
	return l.rows.Epoch(ctx)
}

// Package replica stores rows exactly once on a shard of ClickHouse that has several servers, its replicas: which replica writes, how it
// is replaced, and when a row counts as stored.
//
// The servers copy parts to each other through Keeper, asynchronously. What exactly once rests on:
//
//   - One replica writes. Postgres records which, with an epoch (Record). Every replica stores the epoch and refuses inserts of a lower
//     one. What decides (what is stored, the time at which a row was stored) is asked of the writer, and counts only if the record is
//     the same afterwards.
//   - A row counts as stored once a majority of the replicas, each asked directly, has it, and the writer is one of them. ClickHouse can
//     drop a part whose quorum was not reached, also after it was read.
//   - An insert holds rows of one month, so it becomes one part: all of it is stored, or nothing.
//   - A token that ClickHouse knows while rows are missing belongs to a part that may still come: the block waits. Only once an operator
//     has dropped a replica (Mover.Drop), whose parts no one else had, tokens are new.
//
// Callers see a shard through two interfaces, Server and Rows, and the record through Register. The test of package consumer drives this
// code against a model of a shard, since the embedded ClickHouse has no replicated tables.
package replica

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"lodestone/ingest/stream"
)

// Lease is how long after the record was read an insert may begin, by the writer's clock. A writer that cannot be asked is replaced only
// after the last lease of its epoch has ended.
const Lease = 30 * time.Second

// Record says which replica of a shard writes. It is the row of Postgres.
type Record struct {
	Shard    uint16
	Replicas []string // the names of those of which a majority has to have a row
	Writer   string
	Epoch    int64  // rises with each writer
	Ready    bool   // false: Writer is about to take over, and no replica writes
	Previous string // the writer before, while Writer takes over
	Drops    int    // how many replicas were dropped: part of tokens

	Age time.Duration // since the record was changed last, by the clock of Postgres
}

// Majority returns how many replicas have to have a row.
func (r Record) Majority() int { return len(r.Replicas)/2 + 1 }

// Register holds the records.
type Register interface {
	// Read returns the record of a shard.
	Read(ctx context.Context, shard uint16) (Record, error)
	// Swap replaces a record, unless it is not the one given any more: then it returns ErrChanged. The ages do not count. Other errors
	// leave it open whether the record was replaced.
	Swap(ctx context.Context, from, to Record) error
}

// ErrNoRecord says that a shard has no record: it has one server.
var ErrNoRecord = errors.New("no replicas are on record")

// ErrChanged says that another process has changed the record.
var ErrChanged = errors.New("the writer of the shard was changed meanwhile")

// Server is a replica of a shard, asked directly. Any call may fail after it had its effect.
type Server interface {
	// Name is the replica's name in Keeper.
	Name() string
	// Accept makes the server refuse inserts of lower epochs than the one given, and returns the epoch that it then stores, which may be
	// higher.
	Accept(ctx context.Context, epoch int64) (stored int64, err error)
	// Epoch returns the epoch that the server stores.
	Epoch(ctx context.Context) (int64, error)
	// EndInserts ends every insert of events that runs, and returns when none does.
	EndInserts(ctx context.Context) error
	// Sync returns when the server has every part that Keeper's log listed when it was called.
	Sync(ctx context.Context) error
	// Clock returns the server's time, and the greatest stored_at of the rows that it has.
	Clock(ctx context.Context) (now, stored time.Time, err error)
	// Active reports whether Keeper has a session of a replica. It is an error if the server has none itself.
	Active(ctx context.Context, name string) (bool, error)
	// Forget removes a replica that is gone from Keeper. Parts that only this replica had are lost.
	Forget(ctx context.Context, name string) error
}

// Insert says how rows are inserted.
type Insert struct {
	Token  string
	Epoch  int64
	Quorum int // of replicas, before the insert is acknowledged
}

// Rows are the rows of one partition on one replica. The insert has to begin before the deadline of its ctx.
type Rows interface {
	// Name is the replica's name in Keeper.
	Name() string
	// Epoch returns the epoch that the server stores.
	Epoch(ctx context.Context) (int64, error)
	// Sync is that of Server.
	Sync(ctx context.Context) error
	// EndInserts ends the inserts of the partition that run, and returns when none does.
	EndInserts(ctx context.Context) error
	Insert(ctx context.Context, rows stream.Table, how Insert) error
	Reader
	// Close closes the connection. It may be used again.
	Close()
}

// Reader looks up rows of a partition, as a stream.Store does.
type Reader interface {
	Stored(ctx context.Context, first, last int64) (*stream.Offsets, error)
	Last(ctx context.Context, from int64) (int64, error)
	Newest(ctx context.Context, first, last int64) (map[int64]stream.Identity, error)
	Same(ctx context.Context, rows stream.Table, from int) (*stream.Offsets, error)
	StoredBefore(ctx context.Context, events []stream.Record, offset int64, within time.Duration) (map[stream.Identity]struct{}, error)
}

// WaitError says what has to happen in the shard before the call may be repeated with success.
type WaitError struct {
	Shard uint16
	For   string
}

func (e *WaitError) Error() string { return fmt.Sprintf("shard %d: wait until %s", e.Shard, e.For) }

// errUnknown says that a replica of the record is not known yet.
var errUnknown = errors.New("no connection is open to it")

// named is a Server or Rows.
type named interface{ Name() string }

// find returns the replica of a name.
func find[R named](replicas []R, name string) (R, error) {
	if i := slices.IndexFunc(replicas, func(r R) bool { return r.Name() == name }); i >= 0 {
		return replicas[i], nil
	}
	var none R
	return none, fmt.Errorf("replica %s: %w", name, errUnknown)
}

// AtWriter calls fn with the writer of a shard. What fn read is true only if the writer is the same afterwards, else the error says so.
func AtWriter[R named](ctx context.Context, register Register, shard uint16, replicas []R, fn func(Record, R) error) error {
	r, writer, err := current(ctx, register, shard, replicas)
	if err != nil {
		return err
	}
	if err := fn(r, writer); err != nil {
		return err
	}
	return unchanged(ctx, register, r)
}

// unchanged returns an error if the record of a shard is another one by now. Of replicas that were added meanwhile, a majority need not have a
// row that counted before them: those that are added next copy it, if it counted before they began.
func unchanged(ctx context.Context, register Register, r Record) error {
	after, err := register.Read(ctx, r.Shard)
	if err != nil {
		return fmt.Errorf("read the writer of shard %d: %w", r.Shard, err)
	}
	if !after.Ready || after.Epoch != r.Epoch || !slices.Equal(after.Replicas, r.Replicas) {
		return fmt.Errorf("shard %d: %w", r.Shard, ErrChanged)
	}
	return nil
}

// current returns the record of a shard and its writer.
func current[R named](ctx context.Context, register Register, shard uint16, replicas []R) (r Record, writer R, err error) {
	r, err = register.Read(ctx, shard)
	switch {
	case err != nil:
		return r, writer, fmt.Errorf("read the writer of shard %d: %w", shard, err)
	case !r.Ready:
		return r, writer, &WaitError{shard, "replica " + r.Writer + " has taken over"}
	}
	writer, err = find(replicas, r.Writer)
	return r, writer, err
}

package replica

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"lodestone/pkg/postgres"
	"lodestone/pkg/store"
)

// Ledger is the Register in Postgres. It is safe for concurrent use.
type Ledger struct {
	pool *postgres.Pool
}

// NewLedger returns the register of an installation.
func NewLedger(pool *postgres.Pool) *Ledger { return &Ledger{pool: pool} }

// Begin records the only replica of a shard as its writer, with an epoch, unless the shard has a record.
func (l *Ledger) Begin(ctx context.Context, shard uint16, name string, epoch int64) error {
	err := store.New(l.pool.Unscoped()).AddShardWriter(ctx, store.AddShardWriterParams{Shard: int32(shard), Replicas: []string{name}, Writer: name, Epoch: epoch})
	if err != nil {
		return fmt.Errorf("record the replicas of shard %d: %w", shard, err)
	}
	return nil
}

// Read implements Register. The age of a record that is not ready begins when a reader sees it: the commit of a change may become
// visible long after its time, and until then others read the record before it.
func (l *Ledger) Read(ctx context.Context, shard uint16) (Record, error) {
	q := store.New(l.pool.Unscoped())
	row, err := q.ShardWriter(ctx, int32(shard))
	if errors.Is(err, pgx.ErrNoRows) {
		return Record{}, fmt.Errorf("shard %d: %w", shard, ErrNoRecord)
	}
	if err != nil {
		return Record{}, fmt.Errorf("read the writer of shard %d: %w", shard, err)
	}
	if !row.Ready && !row.Closed {
		if err := q.CloseShardWriter(ctx, store.CloseShardWriterParams{Shard: int32(shard), Epoch: row.Epoch}); err != nil {
			return Record{}, fmt.Errorf("record since when shard %d has no writer: %w", shard, err)
		}
	}
	return Record{
		Shard: shard, Replicas: row.Replicas, Writer: row.Writer, Epoch: row.Epoch, Ready: row.Ready, Previous: row.Previous,
		Drops: int(row.Drops), Age: time.Duration(row.AgeMs) * time.Millisecond,
	}, nil
}

// Writer implements clickhouse.Writers.
func (l *Ledger) Writer(ctx context.Context, shard uint16) (name string, epoch int64, err error) {
	r, err := l.Read(ctx, shard)
	switch {
	case errors.Is(err, ErrNoRecord):
		return "", 0, fmt.Errorf("%w: run `lodestone migrate` with the present --clickhouse-shards", err)
	case err != nil:
		return "", 0, err
	case !r.Ready:
		return "", 0, &WaitError{shard, "replica " + r.Writer + " has taken over"}
	}
	return r.Writer, r.Epoch, nil
}

// Replicas implements clickhouse.Writers.
func (l *Ledger) Replicas(ctx context.Context, shard uint16) ([]string, error) {
	r, err := l.Read(ctx, shard)
	return r.Replicas, err
}

// Shards returns the ids of the shards that have a record.
func (l *Ledger) Shards(ctx context.Context) ([]uint16, error) {
	found, err := store.New(l.pool.Unscoped()).ShardsWithWriters(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the shards that have several replicas: %w", err)
	}
	ids := make([]uint16, len(found))
	for i, id := range found {
		ids[i] = uint16(id)
	}
	return ids, nil
}

// Swap implements Register.
func (l *Ledger) Swap(ctx context.Context, from, to Record) error {
	changed, err := store.New(l.pool.Unscoped()).ChangeShardWriter(ctx, store.ChangeShardWriterParams{
		Shard: int32(from.Shard), FromEpoch: from.Epoch, FromReady: from.Ready, FromDrops: int32(from.Drops), FromReplicas: from.Replicas,
		Replicas: to.Replicas, Writer: to.Writer, Epoch: to.Epoch, Ready: to.Ready, Previous: to.Previous, Drops: int32(to.Drops),
	})
	if err != nil {
		return fmt.Errorf("record the writer of shard %d: %w", from.Shard, err)
	}
	if changed == 0 {
		return ErrChanged
	}
	return nil
}

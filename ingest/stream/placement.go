package stream

import (
	"context"
	"fmt"
	"slices"

	"github.com/ClickHouse/ch-go"
	"github.com/ClickHouse/ch-go/proto"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/pkg/clickhouse"
	"lodestone/pkg/config"
	"lodestone/pkg/postgres"
	"lodestone/pkg/store"
)

// placementLock is the key of the advisory lock under which partitions are placed, so that they
// spread evenly.
const placementLock = 0x6c6f6465_706c6163 // "lodeplac"

// Placements records in Postgres on which shard of ClickHouse the rows of each Kafka partition are.
// A partition is placed when it is first seen, and never moved: all that exactly once rests on (a
// block, its token, the look for what is stored, the server's clock) is of one server. A topology
// of one server records placements as well, so that it can get a second shard later. It is safe for
// concurrent use.
type Placements struct {
	pool     *postgres.Pool
	topology *clickhouse.Topology

	// has an element while one asks: hundreds of partitions may be new, and would connect to every
	// shard at once
	asking chan struct{}
	only   uint16 // id of the only shard, once it was asked; whoever asks may use it
}

// NewPlacements returns the ledger of a copy of the events.
func NewPlacements(pool *postgres.Pool, topology *clickhouse.Topology) *Placements {
	return &Placements{pool: pool, topology: topology, asking: make(chan struct{}, 1)}
}

// Partition is a partition of a topic, and the table of its rows.
type Partition struct {
	Topic   string
	TopicID uuid.UUID
	Number  int32
	Table   string // in database lodestone
}

// Shard returns the shard of a partition. A partition that has none is placed once every shard was
// asked for its rows: on the one that has some, as after Postgres was restored from a backup; else
// on one that has the fewest of the topic. An error may be temporary.
func (l *Placements) Shard(ctx context.Context, p Partition) (uint16, error) {
	shard, err := store.New(l.pool.Unscoped()).Placement(ctx, store.PlacementParams{TopicID: p.TopicID,
		Partition: p.Number, Copy: l.topology.Copy()})
	if err != nil {
		return 0, fmt.Errorf("read the shard of %s partition %d: %w", p.Topic, p.Number, err)
	}
	if shard != 0 {
		return uint16(shard), nil
	}
	ids, with, err := l.ask(ctx, p)
	if err != nil {
		return 0, fmt.Errorf("place %s partition %d, for which every shard has to answer: %w", p.Topic, p.Number, err)
	}
	if len(with) > 1 {
		return 0, fmt.Errorf("place %s partition %d: the shards %v all have rows of it, and one may", p.Topic, p.Number, with)
	}
	err = l.pool.Transaction(ctx, func(tx pgx.Tx) error {
		q := store.New(tx)
		if err := q.Lock(ctx, placementLock); err != nil {
			return err
		}
		others, err := q.PlacementsOfName(ctx, store.PlacementsOfNameParams{Topic: p.Topic, Copy: l.topology.Copy()})
		if err != nil {
			return err
		}
		if i := slices.IndexFunc(others, func(o store.PlacementsOfNameRow) bool {
			return o.TopicID == p.TopicID &&
				o.Partition == p.Number
		}); i >= 0 {
			shard = others[i].Shard // another process was faster
			return nil
		}
		shard = int32(chooseShard(p, ids, with, others))
		return q.AddPlacement(ctx, store.AddPlacementParams{TopicID: p.TopicID, Partition: p.Number,
			Topic: p.Topic, Shard: shard})
	})
	if err != nil {
		return 0, fmt.Errorf("record the shard of %s partition %d: %w", p.Topic, p.Number, err)
	}
	return uint16(shard), nil
}

// ask returns the ids of all shards, and of those that have rows of a partition.
func (l *Placements) ask(ctx context.Context, p Partition) (ids, with []uint16, err error) {
	select {
	case l.asking <- struct{}{}:
		defer func() { <-l.asking }()
	case <-ctx.Done():
		return nil, nil, context.Cause(ctx)
	}
	if l.only != 0 {
		return []uint16{l.only}, nil, nil
	}
	err = l.topology.Each(ctx, func(id uint16, conn *ch.Client) error {
		ids = append(ids, id)
		if l.topology.Size() == 1 {
			l.only = id
			return nil // where else
		}
		var rows proto.ColUInt64
		err := conn.Do(ctx, ch.Query{
			Body: "SELECT count() AS n FROM (SELECT 1 FROM lodestone." + p.Table +
				" WHERE kafka_topic_id = {topic:UUID} AND kafka_partition = {partition:Int32} LIMIT 1)",
			Parameters: ch.Parameters(map[string]any{"topic": p.TopicID.String(), "partition": p.Number}),
			Result:     proto.Results{{Name: "n", Data: &rows}},
		})
		if err != nil {
			return fmt.Errorf("look for rows on shard %d: %w", id, err)
		}
		if rows.Row(0) > 0 {
			with = append(with, id)
		}
		return nil
	})
	return ids, with, err
}

// chooseShard returns the shard of a partition that has none yet. Repeats of events of an earlier
// topic are looked for on its shards (Before).
func chooseShard(p Partition, ids, with []uint16, others []store.PlacementsOfNameRow) uint16 {
	if len(with) > 0 {
		return with[0]
	}
	count := map[uint16]int{}
	for _, o := range others {
		if o.TopicID == p.TopicID {
			count[uint16(o.Shard)]++
		}
	}
	slices.Sort(ids)
	return slices.MinFunc(ids, func(a, b uint16) int { return count[a] - count[b] })
}

// Before returns the shards other than one's own that may have earlier events of a topic: those of
// earlier topics of its name. An error may be temporary.
func (l *Placements) Before(ctx context.Context, topic string, topicID uuid.UUID, own uint16) ([]uint16, error) {
	if l.topology.Size() == 1 {
		return nil, nil
	}
	others, err := store.New(l.pool.Unscoped()).PlacementsOfName(ctx,
		store.PlacementsOfNameParams{Topic: topic, Copy: l.topology.Copy()})
	if err != nil {
		return nil, fmt.Errorf("read the shards of earlier topics named %s: %w", topic, err)
	}
	var shards []uint16
	for _, o := range others {
		if shard := uint16(o.Shard); o.TopicID != topicID && shard != own {
			shards = append(shards, shard)
		}
	}
	slices.Sort(shards)
	return slices.Compact(shards), nil
}

// AddCopy puts the copy of the events that the settings are of on record, and reports whether it
// was not. Its servers are migrated before.
func AddCopy(ctx context.Context, pool *postgres.Pool, c clickhouse.Config) (added bool, err error) {
	if added, err = store.New(pool.Unscoped()).AddCopy(ctx, c.Number()); err != nil {
		return false, fmt.Errorf("put copy %d of the events on record: %w", c.Number(), err)
	}
	return added, nil
}

// CheckPlacements returns an error of settings if the copy of the events is not on record, or the
// settings lack a shard that stores partitions: what is read without it would be less than there
// is.
func CheckPlacements(ctx context.Context, pool *postgres.Pool, c clickhouse.Config) error {
	servers, err := c.Servers()
	if err != nil {
		return err
	}
	known, err := store.New(pool.Unscoped()).HasCopy(ctx, c.Number())
	if err != nil {
		return fmt.Errorf("read which copies of the events there are: %w", err)
	}
	if !known {
		return config.Invalid("--clickhouse-copy", fmt.Sprintf("is %d, and no such copy is on record", c.Number()),
			"run `lodestone migrate` with the addresses and the number of the copy")
	}
	placed, err := store.New(pool.Unscoped()).PlacedShards(ctx, c.Number())
	if err != nil {
		return fmt.Errorf("read which shards store partitions: %w", err)
	}
	if len(placed) > len(servers) {
		return config.Invalid("--clickhouse-shards", fmt.Sprintf("has %d of the %d shards that store events", len(servers),
			len(placed)), "give the addresses of all of them")
	}
	return nil
}

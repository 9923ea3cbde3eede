package deadletter

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"log/slog"
	"slices"
	"time"

	"lodestone/ingest/erasure"
	"lodestone/ingest/stream"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/ingest/counter"
	"lodestone/pkg/clickhouse"
	"lodestone/pkg/kafka"
	"lodestone/pkg/placement"
	"lodestone/pkg/postgres"
	"lodestone/pkg/store"
)

// Limits of a replay.
const (
	replayLock    = 0x6c6f6465_64656164 // "lodedead", the key of the advisory lock that a replay holds
	batchLetters  = 1_000
	batchBytes    = 16 << 20
	insertTimeout = 20 * time.Second
	replayRounds  = 5 // passes over the result of a batch's inserts
)

// Replayer stores dead letters that this build can decode.
type Replayer struct {
	Box        *Box
	ClickHouse clickhouse.Config
	Conn       driver.Conn // of the same ClickHouse
	Pool       *postgres.Pool
	Group      string // of the consumers
	Log        *slog.Logger

	erased erasure.Set // people whose events are blanked
}

// Result counts the letters of a replay.
type Result struct {
	Stored    int // became rows now
	Present   int // were rows already, from an earlier replay or by a consumer of this build
	Repeats   int // repeat an event that is stored: marked as replayed, without a row
	Undecoded int // still cannot become rows, and stay open
	Unsettled int // the consumer has not finished the block of the record: stay open, try again
	Unknown   int // come from a topic that this build does not store: stay open
}

// candidate is a letter that this build can decode.
type candidate struct {
	letter Letter
	record stream.Record
	value  []byte
	repeat bool
}

// lane is the destination of the rows of one partition.
type lane struct {
	topic     string
	topicID   uuid.UUID
	partition int32
}

// Replay stores the letters of the filter that this build can decode under their origins, sets the counters of their
// links, and marks them as replayed, in this order: a replay that is killed at any point can be started again. Whether
// a row is stored is looked up in ClickHouse by its origin, never remembered. Only one replay runs at a time; another
// waits.
func (r *Replayer) Replay(ctx context.Context, f Filter) (Result, error) {
	var result Result
	err := r.Pool.Transaction(ctx, func(tx pgx.Tx) error {
		// The lock goes with the connection, whatever ends it.
		q := store.New(tx)
		if err := q.Lock(ctx, replayLock); err != nil {
			return fmt.Errorf("take the replay's lock: %w", err)
		}
		if err := q.AllowIdle(ctx); err != nil { // this transaction only holds the lock
			return fmt.Errorf("keep the replay's lock: %w", err)
		}
		if err := r.erased.Load(ctx, r.Pool); err != nil {
			return err
		}
		return r.replay(ctx, f, &result)
	})
	return result, err
}

func (r *Replayer) replay(ctx context.Context, f Filter, result *Result) error { //nolint:cyclop // the steps of a replay in their order
	letters, err := r.Box.List(ctx, f)
	if err != nil {
		return err
	}
	if err := requireAll(letters, f.Origins); err != nil {
		return err
	}
	chosen := make(map[Origin]Letter, len(letters))
	for _, l := range letters {
		if l.State != Replayed {
			chosen[l.Origin] = l
		}
	}
	settled, err := r.settled(ctx)
	if err != nil {
		return err
	}
	decoders := map[string]stream.Decoder{}
	batches := map[lane][]candidate{}
	bytes := 0
	flush := func() error {
		for at, batch := range batches {
			if err := r.store(ctx, at, batch, result); err != nil {
				return err
			}
		}
		clear(batches)
		bytes = 0
		return nil
	}
	if len(chosen) == 0 {
		return nil
	}
	var where scope
	for origin, l := range chosen {
		if where.since.IsZero() || l.At.Before(where.since) {
			where.since = l.At
		}
		if len(f.Origins) > 0 {
			where.origins = append(where.origins, origin)
		}
	}
	visit := func(e entry) error {
		l, ok := chosen[e.letter.Origin]
		if !ok || e.marker {
			return nil
		}
		delete(chosen, l.Origin) // doubles collapse
		s, known := stream.Of(l.Topic)
		if !known {
			result.Unknown++
			return nil
		}
		if !settled(l) {
			result.Unsettled++
			return nil
		}
		if decoders[l.Topic] == nil {
			decoders[l.Topic] = s.Decoder()
		}
		record, err := decoders[l.Topic].Decode(e.value)
		if err != nil {
			result.Undecoded++
			r.Log.Info("dead letter cannot be decoded", "origin", l.Origin, "error", err)
			return nil
		}
		at := lane{l.Topic, l.Origin.TopicID, l.Origin.Partition}
		batches[at] = append(batches[at], candidate{letter: l, record: record, value: e.value})
		bytes += len(e.value)
		if len(batches[at]) >= batchLetters || bytes >= batchBytes {
			return flush()
		}
		return nil
	}
	err = r.Box.each(ctx, where, visit)
	if err == nil && len(chosen) > 0 {
		err = r.Box.each(ctx, scope{}, visit) // see List
	}
	if err == nil {
		err = flush()
	}
	return err
}

// settled returns a function that reports whether the consumer is done with a letter's offset. Until then, a consumer
// of this build may be about to store the record itself.
func (r *Replayer) settled(ctx context.Context) (func(Letter) bool, error) {
	done := map[lane]int64{}
	ids := map[string]uuid.UUID{}
	for _, s := range stream.All() {
		id, _, err := kafka.Topic(ctx, r.Box.client, s.Topic)
		if errors.Is(err, kafka.ErrNoTopic) {
			continue
		}
		if err != nil {
			return nil, err
		}
		ids[s.Topic] = id
		committed, err := stream.Committed(ctx, r.Box.client, r.Group, s.Topic, id)
		if err != nil {
			return nil, err
		}
		for partition, next := range committed {
			done[lane{s.Topic, id, partition}] = next
		}
	}
	return func(l Letter) bool {
		if id, there := ids[l.Topic]; !there || id != l.Origin.TopicID {
			return true // of a topic that is gone: no consumer works on it
		}
		return l.Origin.Offset < done[lane{l.Topic, l.Origin.TopicID, l.Origin.Partition}]
	}, nil
}

// store stores a batch of one partition, counts, and marks.
func (r *Replayer) store(ctx context.Context, at lane, batch []candidate, result *Result) error {
	slices.SortFunc(batch, func(a, b candidate) int { return cmp.Compare(a.letter.Origin.Offset, b.letter.Origin.Offset) })
	of, _ := stream.Of(at.topic)
	of = of.Blanking(&r.erased)
	shards, err := clickhouse.NewTopology(r.ClickHouse)
	if err != nil {
		return err
	}
	shard, err := placement.New(r.Pool, shards).Shard(ctx, placement.Partition{Topic: at.topic, TopicID: at.topicID, Number: at.partition, Table: of.Table})
	if err != nil {
		return err
	}
	rows := &stream.Store{
		Connection: stream.Connection{Dial: shards.Dialer(shard), Log: r.Log},
		Stream:     of, TopicID: at.topicID, Partition: at.partition, Replays: true,
	}
	defer rows.Close()
	first, last := batch[0].letter.Origin.Offset, batch[len(batch)-1].letter.Origin.Offset

	var before map[int64]struct{}
	for round := 0; ; round++ {
		stored, missing, err := r.look(ctx, rows, batch)
		if err != nil {
			return err
		}
		if before == nil {
			before = stored
		}
		if len(missing) == 0 {
			break
		}
		if round == replayRounds {
			return fmt.Errorf("replay %d dead letters of %s partition %d: ClickHouse does not show their rows after %d inserts", len(missing), at.topic, at.partition, round)
		}
		if err := insert(ctx, rows, of, at, missing, round); err != nil {
			return err
		}
	}
	if err := counter.Recount(ctx, r.Pool, r.Conn, at.topic, at.topicID, at.partition, first, last); err != nil {
		return err
	}
	letters := make([]Letter, len(batch))
	why := make(map[Origin]string, len(batch))
	for i, c := range batch {
		letters[i] = c.letter
		_, present := before[c.letter.Origin.Offset]
		switch {
		case present:
			result.Present++
			why[c.letter.Origin] = "was stored already"
		case c.repeat:
			result.Repeats++
			why[c.letter.Origin] = "repeats an event that is stored"
		default:
			result.Stored++
			why[c.letter.Origin] = "stored"
		}
	}
	return r.Box.mark(ctx, letters, Replayed, func(l Letter) string { return why[l.Origin] })
}

// look returns the stored offsets of the batch, and the candidates that still have to be stored. It marks as repeats
// the candidates whose event is stored under another offset, or occurs earlier in the batch.
func (r *Replayer) look(ctx context.Context, rows *stream.Store, batch []candidate) (
	stored map[int64]struct{}, missing []candidate, err error,
) {
	if err := rows.EndInserts(ctx); err != nil {
		return nil, nil, err
	}
	if stored, err = storedOffsets(ctx, rows, batch); err != nil {
		return nil, nil, err
	}
	records := make([]stream.Record, len(batch))
	for i, c := range batch {
		records[i] = c.record
	}
	of, _ := stream.Of(batch[0].letter.Topic)
	elsewhere, err := of.Places(ctx, r.Conn, records, stream.AnyTime)
	if err != nil {
		return nil, nil, err
	}
	seen := map[stream.Identity]bool{}
	for i := range batch {
		c := &batch[i]
		if _, ok := stored[c.letter.Origin.Offset]; ok {
			seen[c.record.Identity] = true
			continue
		}
		c.repeat = seen[c.record.Identity]
		for _, at := range elsewhere[c.record.Identity] {
			c.repeat = c.repeat || at != stream.Place(c.letter.Origin)
		}
		seen[c.record.Identity] = true
		if !c.repeat {
			missing = append(missing, *c)
		}
	}
	return stored, missing, nil
}

// storedOffsets queries the batch's offsets in stretches, so that letters far apart do not make it read everything in
// between.
func storedOffsets(ctx context.Context, rows *stream.Store, batch []candidate) (map[int64]struct{}, error) {
	const stretch = 100_000
	stored := map[int64]struct{}{}
	for i := 0; i < len(batch); {
		first := batch[i].letter.Origin.Offset
		j := i
		for j+1 < len(batch) && batch[j+1].letter.Origin.Offset < first+stretch {
			j++
		}
		found, err := rows.Stored(ctx, first, batch[j].letter.Origin.Offset)
		if err != nil {
			return nil, err
		}
		for k := i; k <= j; k++ {
			if offset := batch[k].letter.Origin.Offset; found.Has(offset) {
				stored[offset] = struct{}{}
			}
		}
		i = j + 1
	}
	return stored, nil
}

// insert stores the rows of the candidates under a token derived from their origins. After an error, the rows may or
// may not be stored: the next replay checks.
func insert(ctx context.Context, store *stream.Store, of stream.Stream, at lane, missing []candidate, round int) error {
	decoder, rows := of.Decoder(), of.Tables.Take()
	hash := fnv.New64a()
	for _, c := range missing {
		if _, err := decoder.Decode(c.value); err != nil {
			return fmt.Errorf("decode dead letter %s a second time: %w", c.letter.Origin, err)
		}
		decoder.Add(rows, stream.Place(c.letter.Origin))
		_, _ = hash.Write([]byte(c.letter.Origin.String() + "\n")) // a hash never fails
	}
	token := fmt.Sprintf("replay:%s:%d:%d-%d-%x", at.topicID, at.partition, missing[0].letter.Origin.Offset,
		missing[len(missing)-1].letter.Origin.Offset, hash.Sum64())
	if round > 0 {
		// ClickHouse acknowledged, and does not have the rows: the token was logged by an insert
		// that was interrupted, and would suppress this one as well.
		token += fmt.Sprintf("#r%d", round)
	}
	limited, cancel := context.WithTimeout(ctx, insertTimeout)
	defer cancel()
	return store.Insert(limited, nil, rows, token)
}

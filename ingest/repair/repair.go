// Package repair repairs a partition whose log lost its end: it writes the records that have the offsets of stored rows
// again, behind those.
package repair

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"lodestone/ingest/stream"

	native "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/ingest/logbook"
	"lodestone/pkg/event"
	"lodestone/pkg/kafka"
)

// Repairer repairs partitions. Its methods may be called by one goroutine at a time.
type Repairer struct {
	Options []kgo.Opt // for Kafka
	Conn    driver.Conn
	Book    *logbook.Book
	Group   string // of the consumers, which have to be stopped
	// Erased are people and accounts whose records are written again without what they sent: Kafka keeps those for longer than it was to
	// keep the first ones.
	Erased stream.Erased
}

// Result is the result of a repair.
type Result struct {
	Offsets kafka.Range // that new records had taken
	Records int64       // that were written again
}

const (
	padKey       = "lodestone-padding" // of a header
	batchRecords = 1_000
	chunkOffsets = 10_000
)

// ErrSound is the error for a partition whose log matches the stored rows.
var ErrSound = errors.New("the log of the partition holds what is stored of it: there is nothing to repair")

// Partition repairs one partition. Collectors may write meanwhile. It may be repeated at any point: records that were
// written twice are repeats, since they are marked like those from a spool.
//
// The order makes that safe: until the log's start is recorded, the consumer sees that the log is not the stored one,
// and stops.
func (r *Repairer) Partition(ctx context.Context, s stream.Stream, partition int32) (Result, error) {
	cl, err := kgo.NewClient(append(slices.Clip(r.Options), kgo.RecordPartitioner(kgo.ManualPartitioner()))...)
	if err != nil {
		return Result{}, fmt.Errorf("make Kafka client: %w", err)
	}
	defer cl.Close()
	if err := logbook.RequireEmpty(ctx, cl, r.Group); err != nil {
		return Result{}, err
	}
	id, n, err := kafka.Topic(ctx, cl, s.Topic)
	if err != nil {
		return Result{}, err
	}
	if partition < 0 || int(partition) >= n {
		return Result{}, fmt.Errorf("%s has no partition %d", s.Topic, partition)
	}
	committed, err := stream.Committed(ctx, cl, r.Group, s.Topic, id)
	if err != nil {
		return Result{}, err
	}
	starts, err := r.Book.Starts(ctx, id)
	if err != nil {
		return Result{}, err
	}
	p := part{Repairer: r, cl: cl, stream: s, topicID: id, number: partition}
	last, err := p.lastStored(ctx)
	if err != nil {
		return Result{}, err
	}
	through := max(last, committed[partition]-1)
	held, err := p.held(ctx)
	if err != nil {
		return Result{}, err
	}
	from, err := p.firstReplaced(ctx, max(held.From, starts[partition]), min(held.To, through+1))
	if err != nil {
		return Result{}, err
	}
	// What took the offsets of records without rows, such as dead letters, shows by its leader epoch alone.
	cuts, err := stream.EpochCuts(ctx, cl, r.Group, s.Topic, id)
	if err != nil {
		return Result{}, err
	}
	if cut, ok := cuts[partition]; ok {
		from = min(from, max(cut, held.From, starts[partition]))
	}
	if from > through {
		return Result{}, ErrSound
	}
	done := Result{Offsets: kafka.Range{From: from, To: through + 1}}
	if err := p.pad(ctx, held, through); err != nil {
		return done, err
	}
	if done.Records, err = p.writeAgain(ctx, done.Offsets); err != nil {
		return done, err
	}
	offsets := kadm.Offsets{}
	offsets.Add(kadm.Offset{Topic: s.Topic, Partition: partition, At: through + 1, LeaderEpoch: -1})
	if err := kadm.NewClient(cl).CommitAllOffsets(ctx, r.Group, offsets); err != nil {
		return done, fmt.Errorf("commit where reading goes on: %w", err)
	}
	return done, r.Book.Replace(ctx, id, s.Topic, partition, through)
}

// part is the partition that is repaired.
type part struct {
	*Repairer
	cl      *kgo.Client
	stream  stream.Stream
	topicID uuid.UUID
	number  int32
}

func (p *part) held(ctx context.Context) (kafka.Range, error) {
	ranges, err := kafka.Ranges(ctx, p.cl, p.stream.Topic)
	return ranges[p.number], err
}

func (p *part) rows(ctx context.Context, what string, to kafka.Range, into ...any) error {
	err := p.Conn.QueryRow(native.Context(ctx, native.WithParameters(native.Parameters{
		"topic": p.topicID.String(), "partition": fmt.Sprint(p.number), "from": fmt.Sprint(to.From), "to": fmt.Sprint(to.To),
	})), "SELECT "+what+" FROM lodestone."+p.stream.Table+" WHERE kafka_topic_id = {topic:UUID} AND kafka_partition = {partition:Int32}"+
		" AND kafka_offset >= {from:Int64} AND kafka_offset < {to:Int64}").Scan(into...)
	if err != nil {
		return fmt.Errorf("read stored offsets: %w", err)
	}
	return nil
}

// lastStored returns the highest stored offset, or -1.
func (p *part) lastStored(ctx context.Context) (int64, error) {
	var n uint64
	var last int64
	err := p.rows(ctx, "count(), max(kafka_offset)", kafka.Range{From: 0, To: 1 << 62}, &n, &last)
	if n == 0 {
		last = -1
	}
	return last, err
}

// firstReplaced returns the first offset, at or after start, from which the log may differ from the stored rows, or
// end. A log loses its end, so the search goes backwards, to a chunk in which every row matches its record.
func (p *part) firstReplaced(ctx context.Context, start, end int64) (int64, error) {
	first := end
	for past := end; past > start; {
		chunk := kafka.Range{From: max(start, past-chunkOffsets), To: past}
		stored, same, err := p.compare(ctx, chunk)
		if err != nil {
			return 0, err
		}
		differs := int64(-1)
		for _, offset := range stored { // in order
			if _, ok := same[offset]; !ok {
				differs = offset
				break
			}
		}
		if differs < 0 && len(stored) > 0 {
			break
		}
		if differs >= 0 { // records before it that have no row may be other ones as well
			first = chunk.From
			for offset := range same {
				if offset < differs {
					first = max(first, offset+1)
				}
			}
		}
		past = chunk.From
	}
	return first, nil
}

// compare returns the stored offsets of the range, in order, and those of them that match the record in the log.
func (p *part) compare(ctx context.Context, r kafka.Range) (stored []int64, same map[int64]struct{}, err error) {
	if err := p.rows(ctx, "arraySort(groupUniqArray(kafka_offset))", r, &stored); err != nil {
		return nil, nil, err
	}
	decoder := p.stream.Decoder()
	var records []stream.Record
	identities := map[int64]stream.Identity{}
	err = kafka.ReadRange(ctx, p.Options, p.stream.Topic, p.number, r, func(record *kgo.Record) error {
		if d, err := decoder.Decode(record.Value); err == nil {
			records, identities[record.Offset] = append(records, d), d.Identity
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	places, err := p.stream.Places(ctx, p.Conn, records, stream.SameTime)
	if err != nil {
		return nil, nil, err
	}
	same = map[int64]struct{}{}
	for offset, id := range identities {
		if slices.Contains(places[id], stream.Place{TopicID: p.topicID, Partition: p.number, Offset: offset}) {
			same[offset] = struct{}{}
		}
	}
	return stored, same, nil
}

// pad makes the log longer than the stored rows. Since collectors may write meanwhile, some padding may come to lie
// behind that, where consumers read it: it repeats a record of the log, which makes neither rows nor dead letters.
func (p *part) pad(ctx context.Context, held kafka.Range, through int64) error {
	end := held.To
	if end > through {
		return nil
	}
	repeat, err := p.lastSound(ctx, held)
	if err != nil {
		return err
	}
	for end <= through {
		records := make([]*kgo.Record, min(through+1-end, batchRecords))
		for i := range records {
			records[i] = &kgo.Record{Topic: p.stream.Topic, Partition: p.number, Value: repeat, Headers: []kgo.RecordHeader{{Key: padKey}}}
		}
		if err := p.cl.ProduceSync(ctx, records...).FirstErr(); err != nil {
			return fmt.Errorf("make the log longer than what is stored: %w", err)
		}
		held, err := p.held(ctx)
		if err != nil {
			return err
		}
		end = held.To
	}
	return nil
}

// lastSound returns the last record of the range that can become a row, marked as one from a spool, or nil if there is none.
func (p *part) lastSound(ctx context.Context, r kafka.Range) (found []byte, err error) {
	decoder := p.stream.Decoder()
	for to := r.To; to > r.From && found == nil; {
		chunk := kafka.Range{From: max(r.From, to-chunkOffsets), To: to}
		if err := kafka.ReadRange(ctx, p.Options, p.stream.Topic, p.number, chunk, func(record *kgo.Record) error {
			if _, err := decoder.Decode(record.Value); err == nil {
				found = p.again(record.Value)
			}
			return nil
		}); err != nil {
			return nil, err
		}
		to = chunk.From
	}
	return found, nil
}

// again returns a record as it is written again.
func (p *part) again(record []byte) []byte {
	return event.MarkSpooled(slices.Clone(p.stream.Blank(record, p.Erased)))
}

// writeAgain writes the records of the range to the end of the partition, marked so that repeats of stored events are
// found, and returns their number.
func (p *part) writeAgain(ctx context.Context, r kafka.Range) (n int64, err error) {
	held, err := p.held(ctx)
	if err != nil {
		return 0, err
	}
	r.From = max(r.From, held.From)
	var batch []*kgo.Record
	flush := func() error {
		if err := p.cl.ProduceSync(ctx, batch...).FirstErr(); err != nil {
			return fmt.Errorf("write records again: %w", err)
		}
		n += int64(len(batch))
		batch = batch[:0]
		return nil
	}
	err = kafka.ReadRange(ctx, p.Options, p.stream.Topic, p.number, r, func(record *kgo.Record) error {
		if len(record.Headers) == 1 && record.Headers[0].Key == padKey {
			return nil
		}
		batch = append(batch, &kgo.Record{
			Topic: p.stream.Topic, Partition: p.number, Key: record.Key, Value: p.again(record.Value), Headers: record.Headers,
		})
		if len(batch) < batchRecords {
			return nil
		}
		return flush()
	})
	if err != nil {
		return n, err
	}
	return n, flush()
}

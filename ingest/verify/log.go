package verify

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	native "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/google/uuid"
	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/ingest/deadletter"
	"lodestone/ingest/stream"
	"lodestone/pkg/kafka"
	"lodestone/pkg/store"
)

const (
	chunkRecords = 20_000  // records that are judged together
	restOffsets  = 500_000 // offsets that one query looks at for doubles
)

// checkedRecord is a record of the log with the result that the consumer must reach for it.
type checkedRecord struct {
	offset  int64
	at      time.Time // when Kafka got it
	record  stream.Record
	decodes bool
	repeats bool
	moved   bool // belongs to another partition: no row is expected
}

// compareLog compares a range of the log with the table. Reading begins at warm, which is at or
// before the range, so that the window of repeats is filled.
func (v *Verifier) compareLog(ctx context.Context, p *part, r kafka.Range, warm int64, report *Report) error {
	result := Partition{Topic: p.stream.Topic, Partition: p.number, Offsets: r}
	decoder, window := p.stream.Decoder(), stream.NewWindow(stream.RepeatWindow)
	begin := r.From // of the chunk
	var chunk []checkedRecord
	for !r.Empty() {
		err := kafka.ReadRange(ctx, v.Options, p.stream.Topic, p.number, kafka.Range{From: warm, To: r.To},
			func(record *kgo.Record) error {
				decoded, err := decoder.Decode(record.Value)
				j := checkedRecord{offset: record.Offset, at: record.Timestamp, record: decoded, decodes: err == nil}
				j.moved = p.unused && len(record.Key) > 0 && j.decodes // its copy is compared in the log of that partition
				j.repeats = j.decodes && !j.moved && window.Repeats(decoded.Identity, record.Offset)
				if record.Offset < r.From {
					return nil
				}
				chunk = append(chunk, j)
				if len(chunk) < chunkRecords {
					return nil
				}
				err = v.judge(ctx, p, kafka.Range{From: begin, To: record.Offset + 1}, chunk, &result, report)
				begin, chunk = record.Offset+1, chunk[:0]
				return err
			})
		if !errors.Is(err, kafka.ErrExpired) {
			if err != nil {
				return err
			}
			break
		}
		// Retention removed the beginning while we read. Continue with the rest; repeats of removed
		// records are found in the table.
		ranges, err := kafka.Ranges(ctx, v.Client, p.stream.Topic)
		if err != nil {
			return err
		}
		warm = ranges[p.number].From
		begin = max(begin, warm)
		r.From, chunk = begin, chunk[:0]
		window = stream.NewWindow(stream.RepeatWindow)
	}
	if begin < r.To {
		if err := v.judge(ctx, p, kafka.Range{From: begin, To: r.To}, chunk, &result, report); err != nil {
			return err
		}
	}
	report.Partitions = append(report.Partitions, result)
	return nil
}

// judge compares the records of a range of offsets with the rows.
func (v *Verifier) judge(ctx context.Context, p *part, r kafka.Range, records []checkedRecord,
	result *Partition, report *Report) error {
	rows, err := v.rows(ctx, p, r)
	if err != nil {
		return err
	}
	differ := func(kind Kind, offset int64) {
		report.add(Difference{
			Kind: kind, Topic: p.stream.Topic, TopicID: p.topicID, Partition: p.number,
			Offsets: kafka.Range{From: offset, To: offset + 1}, Count: 1,
		})
	}
	var missing, suspects, single []checkedRecord
	for _, j := range records {
		result.Records++
		n := rows[j.offset]
		delete(rows, j.offset)
		result.Rows += int64(n)
		switch {
		case n > 1:
			differ(Doubled, j.offset)
		case n == 1 && j.repeats:
			suspects = append(suspects, j)
		case n == 1 && j.decodes:
			single = append(single, j)
		case n == 0 && (j.repeats || j.moved):
			result.Repeats++
		case n == 0:
			missing = append(missing, j)
		}
	}
	foreign := make([]int64, 0, len(rows))
	for offset := range rows {
		foreign = append(foreign, offset)
	}
	slices.Sort(foreign)
	for _, offset := range foreign {
		differ(Foreign, offset)
	}
	if err := v.compareRecords(ctx, p, single, differ); err != nil {
		return err
	}
	if len(missing)+len(suspects) == 0 {
		return nil
	}
	return v.judgeByTable(ctx, p, missing, suspects, differ, result)
}

// comparedRecords is how many records of a chunk are compared with their rows by the event's id. A
// log that lost its end has different records from some offset on, so a sample shows it.
const comparedRecords = 2_000

// compareRecords compares records with the rows of their offsets.
func (v *Verifier) compareRecords(ctx context.Context, p *part, records []checkedRecord,
	differ func(Kind, int64)) error {
	step := max(1, (len(records)+comparedRecords-1)/comparedRecords)
	var compared []checkedRecord
	for i := len(records) - 1; i >= 0; i -= step { // the last one in any case
		compared = append(compared, records[i])
	}
	places, err := v.places(ctx, p, compared, stream.SameTime)
	if err != nil {
		return err
	}
	slices.Reverse(compared)
	for _, j := range compared {
		if !slices.Contains(places[j.record.Identity],
			stream.Place{TopicID: p.topicID, Partition: p.number, Offset: j.offset}) {
			differ(Replaced, j.offset)
		}
	}
	return nil
}

// judgeByTable decides the cases that the log alone cannot: records without a row that may repeat
// an event from before the window, as those from a spool do, and rows that may repeat another row.
func (v *Verifier) judgeByTable(ctx context.Context, p *part, missing, suspects []checkedRecord,
	differ func(Kind, int64), result *Partition) error {
	if len(missing) > 0 {
		oldest := slices.MinFunc(missing, func(a, b checkedRecord) int { return a.at.Compare(b.at) })
		if err := v.readDead(ctx, oldest.at); err != nil {
			return err
		}
	}
	places, err := v.places(ctx, p, missing, stream.RepeatWithin)
	if err != nil {
		return err
	}
	older := slices.DeleteFunc(slices.Clone(missing),
		func(j checkedRecord) bool { return len(places[j.record.Identity]) > 0 })
	anyTime, err := v.places(ctx, p, slices.Concat(older, suspects), stream.AnyTime)
	if err != nil {
		return err
	}
	maps.Copy(places, anyTime)
	known, err := store.New(v.Pool.Unscoped()).LostRanges(ctx, v.Copy)
	if err != nil {
		return fmt.Errorf("read lost offsets: %w", err)
	}
	onRecord := func(offset int64) bool {
		return slices.ContainsFunc(known, func(l store.LostRangesRow) bool {
			return l.TopicID == p.topicID && l.Partition == p.number && l.FirstOffset <= offset && offset < l.PastOffset
		})
	}
	for _, j := range missing {
		_, dead := v.dead[deadletter.Origin{TopicID: p.topicID, Partition: p.number, Offset: j.offset}]
		switch {
		case dead:
			result.DeadLetters++
		case j.decodes && len(places[j.record.Identity]) > 0:
			result.Repeats++
		case onRecord(j.offset): // a broker that is killed soon after it deleted records restores them
		default:
			differ(Lost, j.offset)
		}
	}
	for _, j := range suspects {
		if len(places[j.record.Identity]) > 1 {
			differ(Repeated, j.offset)
		}
	}
	return nil
}

// places returns where the events of those records are stored that can be decoded.
func (v *Verifier) places(ctx context.Context, p *part, records []checkedRecord,
	within time.Duration) (map[stream.Identity][]stream.Place, error) {
	var decoded []stream.Record
	for _, j := range records {
		if j.decodes {
			decoded = append(decoded, j.record)
		}
	}
	return p.stream.Places(ctx, v.Conn, decoded, within)
}

// readDead reads the origins of dead letters since a record was written, unless they were read.
// Letters are written after their record, and before anything behind them is committed, so those of
// the range are present.
func (v *Verifier) readDead(ctx context.Context, since time.Time) error {
	if v.dead != nil && !since.Before(v.deadSince) {
		return nil
	}
	// brokers' clocks differ a little
	letters, err := deadletter.NewBox(v.Client, v.Options).List(ctx, deadletter.Filter{Since: since.Add(-time.Hour)})
	if err != nil {
		return err
	}
	v.dead, v.deadSince = make(map[deadletter.Origin]struct{}, len(letters)), since
	for _, l := range letters {
		v.dead[l.Origin] = struct{}{}
	}
	return nil
}

// rows returns the number of rows of each offset in the range.
func (v *Verifier) rows(ctx context.Context, p *part, r kafka.Range) (map[int64]uint64, error) {
	found := map[int64]uint64{}
	rows, err := v.Conn.Query(parameters(ctx, p.topicID, p.number, r),
		"SELECT kafka_offset, count() FROM lodestone."+p.stream.Table+where+" GROUP BY kafka_offset")
	if err != nil {
		return nil, fmt.Errorf("read stored offsets: %w", err)
	}
	for rows.Next() {
		var offset int64
		var n uint64
		if err = rows.Scan(&offset, &n); err != nil {
			break
		}
		found[offset] = n
	}
	if err = errors.Join(err, rows.Err(), rows.Close()); err != nil {
		return nil, fmt.Errorf("read stored offsets: %w", err)
	}
	return found, nil
}

const where = " WHERE kafka_topic_id = {topic:UUID} AND kafka_partition = {partition:Int32}" +
	" AND kafka_offset >= {from:Int64} AND kafka_offset < {to:Int64}"

func parameters(ctx context.Context, topicID uuid.UUID, partition int32, r kafka.Range) context.Context {
	return native.Context(ctx, native.WithParameters(native.Parameters{
		"topic": topicID.String(), "partition": fmt.Sprint(partition), "from": fmt.Sprint(r.From), "to": fmt.Sprint(r.To),
	}))
}

// compareRest checks the rows that were not compared with the log: those of deleted topics, those
// that expired in the log, and those beyond its end.
func (v *Verifier) compareRest(ctx context.Context, s stream.Stream, parts []part, report *Report) error {
	rows, err := v.Conn.Query(ctx,
		"SELECT kafka_topic_id, kafka_partition, min(kafka_offset), max(kafka_offset) FROM lodestone."+
			s.Table+" GROUP BY kafka_topic_id, kafka_partition ORDER BY ALL")
	if err != nil {
		return fmt.Errorf("list stored partitions: %w", err)
	}
	var stored []part
	for rows.Next() {
		p := part{stream: s}
		if err = rows.Scan(&p.topicID, &p.number, &p.log.From, &p.log.To); err != nil {
			break
		}
		p.log.To++
		stored = append(stored, p)
	}
	if err = errors.Join(err, rows.Err(), rows.Close()); err != nil {
		return fmt.Errorf("list stored partitions: %w", err)
	}
	// After the rows: every stored record was in the log before.
	ends := map[int32]int64{}
	if len(parts) > 0 {
		ranges, err := kafka.Ranges(ctx, v.Client, s.Topic)
		if err != nil {
			return err
		}
		for number, r := range ranges {
			ends[number] = r.To
		}
	}
	for _, p := range stored {
		rest := []kafka.Range{p.log}
		if len(parts) > 0 && parts[0].topicID == p.topicID { // the current topic
			if end := ends[p.number]; p.log.To > end {
				first := max(p.log.From, end)
				report.add(Difference{
					Kind: Foreign, Topic: s.Topic, TopicID: p.topicID, Partition: p.number,
					Offsets: kafka.Range{From: first, To: p.log.To}, Count: p.log.To - first,
				})
			}
			for _, known := range parts {
				if known.number == p.number {
					rest = []kafka.Range{{From: p.log.From, To: min(p.log.To, known.judged.From)},
						{From: max(p.log.From, known.judged.To), To: p.log.To}}
				}
			}
		}
		for _, r := range rest {
			if err := v.compareUnique(ctx, &p, r, report); err != nil {
				return err
			}
		}
	}
	return nil
}

// compareUnique looks for offsets of the range with more than one row.
func (v *Verifier) compareUnique(ctx context.Context, p *part, r kafka.Range, report *Report) error {
	for from := r.From; from < r.To; from += restOffsets {
		step := kafka.Range{From: from, To: min(from+restOffsets, r.To)}
		var rows, offsets uint64
		err := v.Conn.QueryRow(parameters(ctx, p.topicID, p.number, step),
			"SELECT count(), uniqExact(kafka_offset) FROM lodestone."+p.stream.Table+where).Scan(&rows, &offsets)
		if err != nil {
			return fmt.Errorf("compare rows with offsets: %w", err)
		}
		if rows == offsets {
			continue
		}
		found, err := v.rows(ctx, p, step)
		if err != nil {
			return err
		}
		for offset, n := range found {
			if n > 1 {
				report.add(Difference{
					Kind: Doubled, Topic: p.stream.Topic, TopicID: p.topicID, Partition: p.number,
					Offsets: kafka.Range{From: offset, To: offset + 1}, Count: 1,
				})
			}
		}
	}
	return nil
}

package consumer

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/ClickHouse/ch-go"
	native "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/pkg/clickhouse"
)

// What follows lets the tools of operators, which check the consumer's work and finish what it could
// not do, decide with the consumer's own code.

// RepeatWindow is how many offsets back a repeat of an event is recognised.
const RepeatWindow = repeatWindow

// Stream is a topic with the table that its records are stored in.
type Stream struct {
	Topic string
	Table string // in database lodestone
	Link  string // column of the id of the link that an event belongs to
	inner stream
}

// Streams returns every stream that a consumer works on.
func Streams() []Stream {
	var all []Stream
	for _, s := range []stream{eventStream(), linkViewStream()} {
		all = append(all, Stream{Topic: s.topic, Table: s.table, Link: s.link, inner: s})
	}
	return all
}

// StreamOf returns the stream of a topic.
func StreamOf(topic string) (Stream, bool) {
	for _, s := range Streams() {
		if s.Topic == topic {
			return s, true
		}
	}
	return Stream{}, false
}

// Identity tells an event from every other one of its stream.
type Identity struct {
	Account uuid.UUID // whose the event is; the same for all events of a link
	Link    uuid.UUID
	Event   uuid.UUID // unique within the link
}

// Decoder reads records of a stream. It is used by one goroutine.
type Decoder struct{ inner decoder }

// Decoder returns a reader of the stream's records.
func (s Stream) Decoder() *Decoder { return &Decoder{s.inner.decoder()} }

// Decode returns whose event a record is, or the error for which the consumer makes it a dead
// letter (see Reason).
func (d *Decoder) Decode(record []byte) (Identity, error) {
	r, err := d.inner.decode(record)
	if err != nil {
		return Identity{}, err
	}
	return Identity{Account: r.account, Link: r.link, Event: r.event}, nil
}

// Reason returns the reason of a dead letter for an error of Decode: one of a small fixed set.
func Reason(err error) string { return newDeadLetter(nil, err).reason }

// Window recognises repeats as the consumer does. It is used by one goroutine.
type Window struct{ inner *window }

// NewWindow returns an empty window. It decides as a consumer's does once it was shown every
// record of the RepeatWindow offsets before.
func NewWindow() *Window { return &Window{newWindow(repeatWindow)} }

// Repeats notes that the event stands at the offset and reports whether it stood at one of the
// RepeatWindow offsets before. Offsets must rise from call to call.
func (w *Window) Repeats(id Identity, offset int64) bool {
	return w.inner.repeats(identity{link: id.Link, event: id.Event}, offset)
}

// IsCommitFor reports whether a commit with the metadata is one for the topic with the id, not for a
// topic that had the same name before. A commit by another tool has no metadata and counts for any.
func IsCommitFor(metadata string, id uuid.UUID) bool {
	of, _, known := parseMetadata(metadata)
	return !known || of == id
}

// coordinatorPatience bounds the wait for a group's coordinator: a new cluster makes it when it is
// first asked for.
const coordinatorPatience = time.Minute

// Committed returns the offset of each partition of the topic with the id below which the group has
// done everything. Partitions without a commit are not in it, nor are commits for a topic that had
// the same name before.
func Committed(ctx context.Context, cl *kgo.Client, group, topic string, id uuid.UUID) (map[int32]int64, error) {
	ctx, cancel := context.WithTimeout(ctx, coordinatorPatience)
	defer cancel()
	for {
		commits, err := kadm.NewClient(cl).FetchOffsetsForTopics(ctx, group, topic)
		if errors.Is(err, kerr.GroupIDNotFound) {
			return nil, nil // nothing has been stored yet
		}
		done := map[int32]int64{}
		for partition, o := range commits[topic] {
			err = errors.Join(err, o.Err)
			if o.At >= 0 && IsCommitFor(o.Metadata, id) {
				done[partition] = o.At
			}
		}
		if err == nil {
			return done, nil
		}
		if !kerr.IsRetriable(err) {
			return nil, fmt.Errorf("read committed offsets of %s: %w", topic, err)
		}
		timer := time.NewTimer(100 * time.Millisecond)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return nil, fmt.Errorf("read committed offsets of %s: %w", topic, err)
		}
	}
}

// Writer stores records of one partition under their offsets. It is used by one goroutine.
type Writer struct {
	decoder decoder
	table   table
	store   *store
	at      origin
}

// Writer returns a writer for a partition of the topic with the id, which need not exist any more.
// Close ends it.
func (s Stream) Writer(options ch.Options, topicID uuid.UUID, partition int32, log *slog.Logger) *Writer {
	return &Writer{
		decoder: s.inner.decoder(),
		table:   s.inner.tables.take(),
		store: &store{
			connection: connection{options: options, log: log},
			table:      s.Table, link: s.Link, topicID: topicID, partition: partition, replays: true,
		},
		at: origin{topicID: topicID, partition: partition},
	}
}

// Add decodes a record and makes it a row of the next insert. A record that cannot be decoded adds
// nothing.
func (w *Writer) Add(record []byte, offset int64) error {
	if _, err := w.decoder.decode(record); err != nil {
		return err
	}
	at := w.at
	at.offset = offset
	w.decoder.add(w.table, at)
	return nil
}

// Insert stores the rows added since the last insert as one block under the token, whose part after
// the last colon appears in the query's id. Any error leaves it open whether they are, or will be,
// stored until the deadline of ctx, which it must have, is over.
func (w *Writer) Insert(ctx context.Context, token string) error {
	defer w.table.reset()
	if len(w.table.offsets()) == 0 {
		return nil
	}
	return w.store.insert(ctx, &w.store.connection, w.table, token)
}

// Stored returns which offsets from first to last are stored. It takes a bit of memory for each of the range.
func (w *Writer) Stored(ctx context.Context, first, last int64) (*Offsets, error) {
	return w.store.stored(ctx, first, last)
}

// Close closes the connection.
func (w *Writer) Close() { w.store.close() }

// Settle ends inserts of earlier Writers for the partition that still run, and returns when none does.
// A consumer's inserts go on.
func (w *Writer) Settle(ctx context.Context) error { return w.store.kill(ctx) }

// Place is where in the log a row comes from.
type Place struct {
	TopicID   uuid.UUID
	Partition int32
	Offset    int64
}

// placesAtOnce is how many events one query of Places asks for.
const placesAtOnce = 2_000

// Places returns under which offsets the events are stored. Those that are not stored are not in it.
func (s Stream) Places(ctx context.Context, conn driver.Conn, ids []Identity) (map[Identity][]Place, error) {
	found := map[Identity][]Place{}
	query := "SELECT account_id, " + s.Link + ", event_id, kafka_topic_id, kafka_partition, kafka_offset FROM lodestone." + s.Table +
		" WHERE account_id IN {accounts:Array(UUID)} AND " + s.Link + " IN {links:Array(UUID)} AND event_id IN {events:Array(UUID)}"
	for len(ids) > 0 {
		chunk := ids[:min(len(ids), placesAtOnce)]
		ids = ids[len(chunk):]
		wanted := make(map[Identity]struct{}, len(chunk))
		columns := [3][]uuid.UUID{}
		seen := [3]map[uuid.UUID]struct{}{{}, {}, {}}
		for _, id := range chunk {
			wanted[id] = struct{}{}
			for i, v := range []uuid.UUID{id.Account, id.Link, id.Event} {
				if _, ok := seen[i][v]; !ok {
					seen[i][v] = struct{}{}
					columns[i] = append(columns[i], v)
				}
			}
		}
		rows, err := conn.Query(native.Context(ctx, native.WithParameters(native.Parameters{
			"accounts": clickhouse.UUIDs(columns[0]), "links": clickhouse.UUIDs(columns[1]), "events": clickhouse.UUIDs(columns[2]),
		})), query)
		if err != nil {
			return nil, fmt.Errorf("look for stored events: %w", err)
		}
		for rows.Next() {
			var id Identity
			var p Place
			if err = rows.Scan(&id.Account, &id.Link, &id.Event, &p.TopicID, &p.Partition, &p.Offset); err != nil {
				break
			}
			if _, ok := wanted[id]; ok {
				found[id] = append(found[id], p)
			}
		}
		if err = errors.Join(err, rows.Err(), rows.Close()); err != nil {
			return nil, fmt.Errorf("look for stored events: %w", err)
		}
	}
	return found, nil
}

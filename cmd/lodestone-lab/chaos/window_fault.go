package chaos

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/pkg/event"
)

// repeatWindow is the number of records of a partition within which the consumer knows repeats by
// itself.
const repeatWindow = 100_000

// ofFirstLink returns the numbers of so many new events of the first link, which share a partition.
// Numbers between them are never used.
func (l *load) ofFirstLink(n int) []uint64 {
	numbers := make([]uint64, 0, n)
	for len(numbers) < n {
		if number := l.next.Add(1) - 1; l.linkOf(number) == 0 {
			numbers = append(numbers, number)
		}
	}
	return numbers
}

// acknowledged writes events of the runner's own into the ledger.
func (s *scene) acknowledged(numbers []uint64) error {
	for _, n := range numbers {
		if err := s.load.ledger.Write(true, false, int(s.load.step.Load()), n, 1); err != nil {
			return err
		}
	}
	return nil
}

// record returns an event as a collector whose clock is ahead writes it to Kafka.
func (s *scene) record(number uint64, spooled bool, ahead time.Duration) *kgo.Record {
	l := s.links[s.load.linkOf(number)]
	now := time.Now().Add(ahead).UnixMilli()
	e := event.Event{
		AccountID: l.account, LeadMagnetID: l.magnet, AccessLinkID: l.id,
		SessionID: s.load.ids.Session(s.load.sessionOf(number)),
		EventID:   s.load.ids.Event(number), CreatedAt: now, ReceivedAt: now, Spooled: spooled,
	}
	e.Type, _ = event.ParseType(kindOf(number))
	if e.Type == event.PageViewed {
		e.Page, e.Data = 1, []byte(`{"page":1}`)
	}
	return &kgo.Record{Topic: event.Topic, Key: l.id[:], Value: e.Append(nil)}
}

// write writes records to the partitions of their keys.
func (s *scene) write(ctx context.Context, records ...*kgo.Record) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	client, err := kgo.NewClient(kgo.SeedBrokers(s.kafka.Brokers()...),
		kgo.RecordPartitioner(kgo.StickyKeyPartitioner(nil)),
		kgo.MaxBufferedRecords(len(records)+1))
	if err != nil {
		return err
	}
	defer client.Close()
	if err := client.ProduceSync(ctx, records...).FirstErr(); err != nil {
		return fmt.Errorf("write records: %w", err)
	}
	return nil
}

// passWindow writes one event to the first link's partition again and again, until more records lie
// between what was there and what comes next than the consumer looks back. They make one row. No
// sender may have anything under way: whatever it repeated afterwards would come too late to be
// known.
func (s *scene) passWindow(ctx context.Context) error {
	number := s.load.ofFirstLink(1)
	if err := s.acknowledged(number); err != nil {
		return err
	}
	one := s.record(number[0], false, 0)
	records := make([]*kgo.Record, repeatWindow+1+s.rand.IntN(repeatWindow/2))
	for i := range records {
		r := *one
		records[i] = &r
	}
	s.note("%d records of one event", len(records))
	return s.write(ctx, records...)
}

// repeatFromSpool leaves behind what an outage of Kafka and the consumers does: events that reached
// Kafka late, were taken for unacknowledged and kept in the spool of a collector whose clock is
// hours ahead, and are sent once more, more records later than the consumer knows repeats by
// itself.
func repeatFromSpool(ctx context.Context, s *scene) error {
	ahead := 3*time.Hour + s.between(0, time.Hour)
	s.note("no consumer runs; events come again from the spool of a collector whose clock is %v ahead", ahead)
	defer s.load.resume()
	if err := errors.Join(s.load.quiet(ctx), s.spoolsEmpty(ctx, s.limit)); err != nil {
		return err
	}
	return s.withoutConsumers(s.rand.IntN(2) == 0, func() error {
		numbers := s.load.ofFirstLink(1 + s.rand.IntN(20))
		first, again := make([]*kgo.Record, len(numbers)), make([]*kgo.Record, len(numbers))
		for i, n := range numbers {
			first[i], again[i] = s.record(n, false, 0), s.record(n, true, ahead)
		}
		return errors.Join(s.acknowledged(numbers), s.write(ctx, first...), s.passWindow(ctx), s.write(ctx, again...))
	})
}

// poison keeps account of the records that were written to the topic and cannot become rows.
type poison struct {
	mu     sync.Mutex
	places map[string]struct{} // as the dead letters' keys name them
}

// poisons returns one record of each kind that cannot become a row.
func poisons(l link) map[string][]byte {
	good := event.Event{
		AccountID: l.account, LeadMagnetID: l.magnet, AccessLinkID: l.id, EventID: uuid.New(), Type: event.PageViewed,
		Page: 1, Data: []byte(`{"page":1}`), CreatedAt: time.Now().UnixMilli(), ReceivedAt: time.Now().UnixMilli(),
	}
	with := func(change func(e *event.Event)) []byte {
		e := good
		change(&e)
		return e.Append(nil)
	}
	full := good.Append(nil)
	return map[string][]byte{
		"nothing":               {},
		"noise":                 {0xff, 0xfe, 0x00, 0x17, 0x80, 0x80},
		"cut short":             full[:len(full)-5],
		"no event type":         with(func(e *event.Event) { e.Type = 0 }),
		"no access link":        with(func(e *event.Event) { e.AccessLinkID = uuid.Nil }),
		"data that is no JSON":  with(func(e *event.Event) { e.Data = []byte(`{"page":`) }),
		"text that is no UTF-8": with(func(e *event.Event) { e.UserAgent = []byte{0xc3, 0x28} }),
		"a time out of range":   with(func(e *event.Event) { e.CreatedAt = -1 }),
	}
}

func writePoison(ctx context.Context, s *scene) error {
	for range 1 + s.rand.IntN(3) {
		kinds := poisons(s.links[0])
		// None of them is a link view, either: those of access links have no generic link.
		for _, topic := range topics {
			id, err := s.topicID(ctx, topic)
			if err != nil {
				return err
			}
			s.note("write %d records that cannot become rows to %s", len(kinds), topic)
			for _, kind := range slices.Sorted(maps.Keys(kinds)) {
				r := &kgo.Record{Topic: topic, Partition: s.rand.Int32N(partitions), Key: s.links[0].id[:], Value: kinds[kind]}
				if err := s.direct.ProduceSync(ctx, r).FirstErr(); err != nil {
					return fmt.Errorf("write a record that is %s: %w", kind, err)
				}
				s.poison.add(id, r.Partition, r.Offset)
			}
		}
		if err := s.hold(ctx, s.between(time.Second, 3*time.Second)); err != nil {
			return err
		}
	}
	return nil
}

func (p *poison) add(topicID uuid.UUID, partition int32, offset int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.places[topicID.String()+"/"+strconv.Itoa(int(partition))+"/"+strconv.FormatInt(offset, 10)] = struct{}{}
}

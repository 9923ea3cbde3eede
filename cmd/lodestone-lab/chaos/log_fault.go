package chaos

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/cmd/lodestone-lab/probe"
	"lodestone/pkg/event"
)

// gone keeps account of what Kafka lost or deleted before it was stored: the numbers of events and link views of which no
// copy was left in the log.
type gone struct {
	mu      sync.Mutex
	numbers map[uint64]struct{}
}

func (g *gone) add(numbers map[uint64]struct{}) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for n := range numbers {
		g.numbers[n] = struct{}{}
	}
}

func (g *gone) has(number uint64) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	_, ok := g.numbers[number]
	return ok
}

// place is a partition, and a range of its offsets, from the first one to before the second.
type place struct {
	topic     string
	partition int32
	from, to  int64
}

func (p place) String() string {
	return fmt.Sprintf("%s/%d [%d, %d)", p.topic, p.partition, p.from, p.to)
}

// numbers returns the numbers of this run's events and link views that stand in a range of the log.
func (s *scene) numbers(ctx context.Context, p place) (map[uint64]struct{}, error) {
	found := map[uint64]struct{}{}
	if p.from >= p.to {
		return found, nil
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	reader, err := kgo.NewClient(kgo.SeedBrokers(s.kafka.Brokers()...),
		kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{p.topic: {p.partition: kgo.NewOffset().At(p.from)}}))
	if err != nil {
		return nil, err
	}
	defer reader.Close()
	for next := p.from; next < p.to; {
		fetches := reader.PollFetches(ctx)
		if ctx.Err() != nil {
			return nil, fmt.Errorf("read %v: %w", p, ctx.Err())
		}
		fetches.EachRecord(func(r *kgo.Record) {
			if next = r.Offset + 1; r.Offset >= p.to {
				return
			}
			if n, ok := s.numberOf(r); ok {
				found[n] = struct{}{}
			}
		})
	}
	return found, nil
}

// numberOf returns the number of the event or link view in a record, if it is one of this run's.
func (s *scene) numberOf(r *kgo.Record) (uint64, bool) {
	if r.Topic == event.LinkViewTopic {
		var v event.LinkView
		if v.Decode(r.Value) != nil {
			return 0, false
		}
		return s.load.ids.Number(v.EventID)
	}
	var e event.Event
	if e.Decode(r.Value) != nil {
		return 0, false
	}
	return s.load.ids.Number(e.EventID)
}

// lose puts on record that Kafka has a range of the log no longer. Events of which another copy is left in the rest are not lost.
func (s *scene) lose(ctx context.Context, lost, rest place) error {
	numbers, err := s.numbers(ctx, lost)
	if err != nil {
		return err
	}
	left, err := s.numbers(ctx, rest)
	if err != nil {
		return err
	}
	for n := range left {
		delete(numbers, n)
	}
	s.gone.add(numbers)
	return nil
}

// backlog stops the consumers in order, lets events come in for a while, and returns what is then in the log and not stored, by
// topic and partition, without partitions that have nothing. No sender has anything under way and the spools are empty, until
// the caller lets the load go on.
func (s *scene) backlog(ctx context.Context, d time.Duration) ([]place, error) {
	for _, p := range s.consumers[:consumers] {
		p.Stop(40 * time.Second)
	}
	if err := errors.Join(s.hold(ctx, d), s.load.quiet(ctx)); err != nil {
		return nil, err
	}
	if err := s.spoolsEmpty(ctx, s.limit); err != nil {
		return nil, err
	}
	var committed kadm.OffsetResponses
	var log ends
	err := retry(ctx, "read the commits and the ends of the log", func() (err error) {
		if committed, err = s.admin.FetchOffsetsForTopics(ctx, group, topics...); err == nil {
			log, err = s.ends(ctx)
		}
		return err
	})
	var places []place
	for _, topic := range topics {
		for partition, end := range log[topic] {
			p := place{topic: topic, partition: int32(partition), to: end}
			if o, ok := committed.Lookup(topic, int32(partition)); ok {
				p.from = max(0, o.At)
			}
			if p.from < p.to {
				places = append(places, p)
			}
		}
	}
	if err == nil && len(places) == 0 {
		err = errors.New("nothing waits in the log although no consumer runs")
	}
	return places, err
}

// startConsumers begins the next life of those that backlog stopped.
func (s *scene) startConsumers() (err error) {
	for _, p := range s.consumers[:consumers] {
		p.Kill(0)
		err = errors.Join(err, p.Start())
	}
	return err
}

// expireRecords deletes records that no one has read, as Kafka does after retention.ms.
func expireRecords(ctx context.Context, s *scene) error {
	d := s.between(2*time.Second, 5*time.Second)
	s.note("no consumer runs for %v", d)
	defer s.load.resume()
	places, err := s.backlog(ctx, d)
	if err != nil {
		return errors.Join(err, s.startConsumers())
	}
	s.rand.Shuffle(len(places), func(i, j int) { places[i], places[j] = places[j], places[i] })
	var deleted []place
	offsets := kadm.Offsets{}
	for _, p := range places[:1+s.rand.IntN(min(3, len(places)))] {
		rest := place{p.topic, p.partition, p.from + 1 + s.rand.Int64N(p.to-p.from), p.to}
		p.to = rest.from
		s.note("delete %v, which no one has read", p)
		err = errors.Join(err, s.lose(ctx, p, rest))
		deleted = append(deleted, p)
		offsets.AddOffset(p.topic, p.partition, p.to, -1)
	}
	if err == nil {
		err = retry(ctx, "delete records", func() error {
			done, err := s.admin.DeleteRecords(ctx, offsets)
			if err == nil {
				err = done.Error()
			}
			return err
		})
	}
	s.load.resume()
	if err = errors.Join(err, s.startConsumers()); err != nil {
		return err
	}
	return s.acknowledgeLosses(ctx, deleted)
}

// acknowledgeLosses waits until exactly these ranges are on record as lost and the alarm is raised, acknowledges them, and waits
// for the end of the alarm.
func (s *scene) acknowledgeLosses(ctx context.Context, want []place) error {
	slices.SortFunc(want, func(a, b place) int { return strings.Compare(a.String(), b.String()) })
	records := int64(0)
	for _, p := range want {
		records += p.to - p.from
	}
	if err := s.alarm(ctx, records); err != nil {
		s.wrong("the alarm of lost records: %v", err)
	}
	numbers, found, err := s.losses(ctx)
	if err != nil {
		return err
	}
	if !slices.Equal(found, want) {
		s.wrong("on record as lost are %v, and not %v", found, want)
	}
	if len(numbers) == 0 {
		return nil
	}
	if err := s.command(ctx, slices.Concat([]string{"losses", "acknowledge", "--why", "chaos"}, numbers)...); err != nil {
		return err
	}
	if err := s.alarm(ctx, 0); err != nil {
		s.wrong("the alarm of lost records, after they were acknowledged: %v", err)
	}
	return nil
}

// alarm waits until every consumer shows so many lost records.
func (s *scene) alarm(ctx context.Context, want int64) error {
	return probe.Until(ctx, time.Minute, retryInterval, "wait for the alarm", func() error {
		for _, p := range s.consumers[:consumers] {
			n, err := probe.Metric(ctx, s.admins[p.Name], "lodestone_consumer_lost_records")
			if err == nil && n != want {
				err = fmt.Errorf("%s shows %d lost records, not %d", p.Name, n, want)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// losses returns the lost ranges on record that are not acknowledged, with their numbers, in the order of their texts.
func (s *scene) losses(ctx context.Context) (numbers []string, ranges []place, err error) {
	conn, err := pgx.Connect(ctx, s.postgres.URL())
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	rows, err := conn.Query(ctx, "SELECT number::text, topic, partition, first_offset, last_offset + 1 FROM lost_ranges WHERE acknowledged_at IS NULL")
	if err != nil {
		return nil, nil, fmt.Errorf("read the lost ranges: %w", err)
	}
	var number string
	var p place
	if _, err := pgx.ForEachRow(rows, []any{&number, &p.topic, &p.partition, &p.from, &p.to}, func() error {
		numbers, ranges = append(numbers, number), append(ranges, p)
		return nil
	}); err != nil {
		return nil, nil, fmt.Errorf("read the lost ranges: %w", err)
	}
	slices.SortFunc(ranges, func(a, b place) int { return strings.Compare(a.String(), b.String()) })
	return numbers, ranges, nil
}

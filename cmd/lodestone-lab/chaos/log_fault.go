package chaos

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/cmd/lodestone-lab/chaos/machine"
	"lodestone/cmd/lodestone-lab/probe"
	"lodestone/pkg/event"
)

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
	return found, s.read(ctx, p, func(r *kgo.Record) {
		if n, ok := s.numberOf(r); ok {
			found[n] = struct{}{}
		}
	})
}

// read calls each for the records of a range of the log.
func (s *scene) read(ctx context.Context, p place, each func(*kgo.Record)) error {
	if p.from >= p.to {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	reader, err := kgo.NewClient(kgo.SeedBrokers(s.kafka.Brokers()...),
		kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{p.topic: {p.partition: kgo.NewOffset().At(p.from)}}))
	if err != nil {
		return err
	}
	defer reader.Close()
	for next := p.from; next < p.to; {
		fetches := reader.PollFetches(ctx)
		if ctx.Err() != nil {
			return fmt.Errorf("read %v: %w", p, ctx.Err())
		}
		fetches.EachRecord(func(r *kgo.Record) {
			if next = r.Offset + 1; r.Offset < p.to {
				each(r)
			}
		})
	}
	return nil
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

// lose records that Kafka no longer has a range of the log. Events that occur again in the rest are
// not lost.
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
	s.gone.Add(numbers)
	return nil
}

// backlog stops the consumers in order, lets events come in for a while, and returns what is then
// in the log and not stored, by topic and partition, without partitions that have nothing. No
// sender has anything under way and the spools are empty, until the caller lets the load go on.
func (s *scene) backlog(ctx context.Context, d time.Duration) ([]place, error) {
	if err := s.stopOther(ctx); err != nil {
		return nil, err
	}
	for _, p := range s.consumers[:consumers] {
		p.Stop(40 * time.Second)
	}
	s.load.resume()
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

// startConsumers begins the next life of those that were stopped.
func (s *scene) startConsumers() (err error) {
	for _, p := range s.consumers[:consumers] {
		p.Kill(0)
		err = errors.Join(err, p.Start())
	}
	return errors.Join(err, s.other.start())
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
	before, err := s.lost(ctx)
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
	return s.requireLost(ctx, before, deleted)
}

// shownWithin bounds the wait until consumers that just started, on brokers that did as well, show
// what they found.
const shownWithin = 3 * time.Minute

// requireLost waits until the consumers have counted these ranges as lost, and requires that they
// are on record, and nothing else beside what was before.
func (s *scene) requireLost(ctx context.Context, before, want []place) error {
	if err := s.alarm(ctx, records(want)); err != nil {
		s.wrong("the alarm of lost records: %v", err)
	}
	found, err := s.lost(ctx)
	if err != nil {
		return err
	}
	for _, p := range want {
		if !slices.ContainsFunc(found, func(f place) bool {
			return f.topic == p.topic && f.partition == p.partition && f.from <= p.from && p.to <= f.to
		}) {
			s.wrong("%v is lost and not on record: %v", p, found)
		}
	}
	if records(found) != records(before)+records(want) {
		s.wrong("on record as lost are %v, which were %v before %v were lost", found, before, want)
	}
	return nil
}

// records returns how many records are in the ranges.
func records(places []place) (n int64) {
	for _, p := range places {
		n += p.to - p.from
	}
	return n
}

// alarm waits until the consumers, which have just started, have counted at least so many lost
// records. One that loses a partition between counting and its commit leaves them to be counted
// again.
func (s *scene) alarm(ctx context.Context, want int64) error {
	return probe.Until(ctx, shownWithin, retryInterval, "wait for the alarm", func() error {
		sum := int64(0)
		for _, p := range s.consumers[:consumers] {
			n, err := probe.Metric(ctx, s.admins[p.Name], "lodestone_consumer_lost_records_total")
			if err != nil {
				return err
			}
			sum += n
		}
		if sum < want {
			return fmt.Errorf("%d records are counted as lost, not %d", sum, want)
		}
		return nil
	})
}

// lost returns the ranges on record as lost.
func (s *scene) lost(ctx context.Context) (ranges []place, err error) {
	conn, err := pgx.Connect(ctx, s.postgres.URL())
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	rows, err := conn.Query(ctx,
		"SELECT topic, partition, lower(one), upper(one) FROM lost_ranges, unnest(offsets) AS one WHERE copy = 1")
	if err != nil {
		return nil, fmt.Errorf("read the lost ranges: %w", err)
	}
	var p place
	if _, err := pgx.ForEachRow(rows, []any{&p.topic, &p.partition, &p.from, &p.to}, func() error {
		ranges = append(ranges, p)
		return nil
	}); err != nil {
		return nil, fmt.Errorf("read the lost ranges: %w", err)
	}
	return ranges, nil
}

// longest is the most that truncateLog takes of what is stored.
const longest = 1_000

// longLog waits until enough records of a partition are stored to lose some, and returns where the
// logs start.
func (s *scene) longLog(ctx context.Context) (starts map[string]map[int32]int64, err error) {
	return starts, probe.Until(ctx, s.limit, retryInterval, "wait until a log is long enough", func() error {
		listed, err := s.admin.ListStartOffsets(ctx, event.Topic, event.LinkViewTopic)
		if err = errors.Join(err, listed.Error()); err != nil {
			return err
		}
		committed, err := s.admin.FetchOffsetsForTopics(ctx, group, topics...)
		if err != nil {
			return err
		}
		starts = map[string]map[int32]int64{}
		enough := false
		listed.Each(func(o kadm.ListedOffset) {
			if starts[o.Topic] == nil {
				starts[o.Topic] = map[int32]int64{}
			}
			starts[o.Topic][o.Partition] = o.Offset
			stored, _ := committed.Lookup(o.Topic, o.Partition) // 0 without a commit
			enough = enough || stored.At-o.Offset > 2*longest
		})
		if !enough {
			return errors.New("too little of every log is stored")
		}
		return nil
	})
}

// truncateLog takes the end of a partition's log away, on every broker, as a power failure of all
// of them does: records that were acknowledged are gone, some of them stored and some not, and
// others get their offsets. The partition has to stand still, until the topic is recreated.
func truncateLog(ctx context.Context, s *scene) error {
	d, back := s.between(2*time.Second, 5*time.Second), 100+s.rand.Int64N(longest-100)
	setBack, grow := s.rand.IntN(2) == 0, s.rand.IntN(2) == 0
	starts, err := s.longLog(ctx)
	if err != nil {
		return err
	}
	s.note("no consumer runs for %v", d)
	defer s.load.resume()
	places, err := s.backlog(ctx, d)
	if err != nil {
		return errors.Join(err, s.startConsumers())
	}
	// Rows have to lie behind the end, and the end not before the log's start, which another fault may
	// have moved.
	if places = slices.DeleteFunc(places,
		func(p place) bool { return p.from-starts[p.topic][p.partition] <= longest }); len(places) == 0 {
		s.note("too little is stored")
		return s.startConsumers()
	}
	p := places[s.rand.IntN(len(places))]
	at := p.from - back
	err = s.lose(ctx, place{p.topic, p.partition, at, p.to}, place{})
	if err == nil {
		err = s.cutWhileDown(ctx, p, at, setBack)
	}
	s.load.resume()
	if grow && err == nil {
		err = probe.Until(ctx, s.limit, retryInterval, "wait until the log grew past what is stored", func() error {
			log, err := s.ends(ctx)
			if err == nil && log[p.topic][p.partition] <= p.from {
				err = fmt.Errorf("the log ends at %d", log[p.topic][p.partition])
			}
			return err
		})
	}
	if err = errors.Join(err, s.startConsumers()); err != nil {
		return err
	}
	if err := s.halted(ctx, "log"); err != nil {
		s.wrong("a partition whose log lost its end: %v", err)
		return nil
	}
	return s.recreateHalted(ctx, place{p.topic, p.partition, max(at-2*longest, starts[p.topic][p.partition]), 0})
}

// recreateHalted recreates the topic of a partition that stands still, as docs/operations.md says,
// and saves what the partition has from an offset on. What it has may be stored already.
func (s *scene) recreateHalted(ctx context.Context, halted place) error {
	s.note("the partition stands still; recreate its topic once the other partitions have run dry")
	if err := s.load.quiet(ctx); err != nil {
		return err
	}
	defer s.load.resume()
	if err := s.spoolsEmpty(ctx, s.limit); err != nil {
		return err
	}
	log, err := s.ends(ctx)
	if err != nil {
		return err
	}
	halted.to = log[halted.topic][halted.partition]
	log[halted.topic][halted.partition] = 0
	if err := s.await(ctx, log, s.limit); err != nil {
		return err
	}
	return s.withoutConsumers(false, func() error {
		s.other.stop()
		saved, err := s.save(ctx, halted)
		if err != nil {
			return err
		}
		defer s.direct.PurgeTopicsFromClient(halted.topic) // else it holds on to the id of the old one
		if err := s.recreateTopic(ctx, halted.topic); err != nil {
			return err
		}
		writer, err := kgo.NewClient(kgo.SeedBrokers(s.kafka.Brokers()...), kgo.RecordPartitioner(kgo.ManualPartitioner()))
		if err != nil {
			return err
		}
		defer writer.Close()
		s.note("write %d records to the new topic", len(saved))
		return writer.ProduceSync(ctx, saved...).FirstErr()
	})
}

// save returns the keys and values of a range of the log, as records to be written to the same
// partition.
func (s *scene) save(ctx context.Context, p place) (records []*kgo.Record, err error) {
	return records, s.read(ctx, p, func(r *kgo.Record) {
		records = append(records, &kgo.Record{Topic: p.topic, Partition: p.partition, Key: r.Key, Value: r.Value})
	})
}

// halted waits until one partition stands still for a reason.
func (s *scene) halted(ctx context.Context, reason string) error {
	return probe.Until(ctx, shownWithin, retryInterval, "wait until it stands still", func() error {
		sum := int64(0)
		for _, p := range s.consumers[:consumers] {
			n, err := probe.Metric(ctx, s.admins[p.Name], `lodestone_consumer_halted_partitions{reason="`+reason+`"}`)
			if err != nil {
				return err
			}
			sum += n
		}
		if sum != 1 {
			return fmt.Errorf("%d partitions stand still", sum)
		}
		return nil
	})
}

// launchedBroker returns the pid of a broker that may not answer yet, so that PID is 0: it has read
// its log already.
func (s *scene) launchedBroker(node int) func() int {
	return func() int {
		text, _ := os.ReadFile(filepath.Join(s.dir, "kafka", "kafka"+strconv.Itoa(node)+".pid")) // missing while none runs
		pid, _, _ := strings.Cut(string(text), "\n")
		n, _ := strconv.Atoi(pid)
		return n
	}
}

// cutWhileDown ends all brokers, cuts the partition's log, and waits until they run again. The
// group's commit is set back to the new end if its log is to have lost its end as well.
func (s *scene) cutWhileDown(ctx context.Context, p place, at int64, setBack bool) error {
	const down = 4 * time.Second
	var all sync.WaitGroup
	for node := range s.brokers {
		all.Go(func() { s.killEngine(ctx, s.launchedBroker(node+1), down) })
	}
	err := s.hold(ctx, down/2)
	var end int64
	if err == nil {
		end, err = machine.CutLog(filepath.Join(s.dir, "kafka"), p.topic, p.partition, at)
	}
	all.Wait()
	if err != nil {
		return err
	}
	if err := probe.Until(ctx, s.limit, retryInterval, "find the log cut", func() error {
		log, err := s.ends(ctx)
		if err == nil && log[p.topic][p.partition] != end {
			err = fmt.Errorf("the log ends at %d, not at %d", log[p.topic][p.partition], end)
		}
		return err
	}); err != nil {
		return err
	}
	s.note("%v, where records wait, lost its end: it ends at %d", p, end)
	if !setBack {
		return nil
	}
	s.note("the group's commit is set back to %d", end)
	return retry(ctx, "set the offset back", func() error {
		offsets := kadm.Offsets{}
		offsets.AddOffset(p.topic, p.partition, end, -1)
		return s.admin.CommitAllOffsets(ctx, group, offsets)
	})
}

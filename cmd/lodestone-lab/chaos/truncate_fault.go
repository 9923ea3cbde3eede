package chaos

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"

	"lodestone/cmd/lodestone-lab/probe"
	"lodestone/pkg/event"
)

// cutLog makes every copy of a partition end before the batch that holds an offset, and returns where it ends then. No broker
// may run.
func (w *world) cutLog(topic string, partition int32, at int64) (end int64, err error) {
	for node := range w.brokers {
		dir := filepath.Join(w.dir, "kafka", "kafka"+strconv.Itoa(node+1), topic+"-"+strconv.Itoa(int(partition)))
		if end, err = cutSegments(dir, at); err != nil {
			return 0, fmt.Errorf("cut the log of %s/%d on broker %d: %w", topic, partition, node+1, err)
		}
	}
	return end, nil
}

func cutSegments(dir string, at int64) (end int64, err error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.log"))
	if err != nil {
		return 0, err
	}
	slices.Sort(paths) // their names are first offsets, of a fixed width
	for i, path := range paths {
		first, err := strconv.ParseInt(strings.TrimSuffix(filepath.Base(path), ".log"), 10, 64)
		if err != nil {
			return 0, err
		}
		if i > 0 && first > at {
			if err := os.Remove(path); err != nil { // its indexes go when Kafka finds no log for them
				return 0, err
			}
			continue
		}
		if end, err = cutSegment(path, first, at); err != nil {
			return 0, err
		}
	}
	return end, nil
}

// cutSegment ends a file of batches before the one that holds the offset, and returns the offset after its last record.
func cutSegment(path string, end, at int64) (int64, error) {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return 0, err
	}
	defer func() { _ = file.Close() }()
	const header = 27 // first offset, length, leader epoch, magic, checksum, attributes, number of the last record
	var b [header]byte
	for position := int64(0); ; {
		_, err := file.ReadAt(b[:], position)
		if errors.Is(err, io.EOF) {
			return end, nil
		}
		if err != nil {
			return 0, err
		}
		first, length, last := int64(binary.BigEndian.Uint64(b[:])), int64(binary.BigEndian.Uint32(b[8:])), int64(binary.BigEndian.Uint32(b[23:]))
		if length == 0 { // a file that was made with its full size
			return end, nil
		}
		if first+last >= at {
			return end, file.Truncate(position)
		}
		end, position = first+last+1, position+12+length
	}
}

// longest is the most that truncateLog takes of what is stored.
const longest = 1_000

// longLog waits until a partition has enough records to lose some, and returns where the logs start.
func (s *scene) longLog(ctx context.Context) (starts map[string]map[int32]int64, err error) {
	return starts, probe.Until(ctx, s.limit, retryInterval, "wait until a log is long enough", func() error {
		listed, err := s.admin.ListStartOffsets(ctx, event.Topic, event.LinkViewTopic)
		if err = errors.Join(err, listed.Error()); err != nil {
			return err
		}
		ends, err := s.ends(ctx)
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
			enough = enough || ends[o.Topic][o.Partition]-o.Offset > 2*longest
		})
		if !enough {
			return errors.New("every log is too short")
		}
		return nil
	})
}

// truncateLog takes the end of a partition's log away, on every broker, as a power failure of all of them does: records that
// were acknowledged are gone, some of them stored and some not, and others get their offsets. The partition has to stand still,
// until the log is repaired by the product's command.
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
	// Rows have to lie behind the end, and the end not before the log's start, which another fault may have moved.
	if places = slices.DeleteFunc(places, func(p place) bool { return p.from-starts[p.topic][p.partition] <= longest }); len(places) == 0 {
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
	s.note("the partition stands still; repair its log")
	return s.withoutConsumers(false, func() error {
		return retry(ctx, "repair the log", func() error { return s.command(ctx, "repair-log", p.topic, strconv.Itoa(int(p.partition))) })
	})
}

// halted waits until one partition stands still for a reason.
func (s *scene) halted(ctx context.Context, reason string) error {
	return probe.Until(ctx, time.Minute, retryInterval, "wait until it stands still", func() error {
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

// launchedBroker returns the pid of a broker that may not answer yet, so that PID is 0: it has read its log already.
func (s *scene) launchedBroker(node int) func() int {
	return func() int {
		text, _ := os.ReadFile(filepath.Join(s.dir, "kafka", "kafka"+strconv.Itoa(node)+".pid")) // missing while none runs
		pid, _, _ := strings.Cut(string(text), "\n")
		n, _ := strconv.Atoi(pid)
		return n
	}
}

// cutWhileDown ends all brokers, cuts the partition's log, and waits until they run again. The group's commit is set back to
// the new end if its log is to have lost its end as well.
func (s *scene) cutWhileDown(ctx context.Context, p place, at int64, setBack bool) error {
	const down = 4 * time.Second
	var all sync.WaitGroup
	for node := range s.brokers {
		all.Go(func() { s.killEngine(ctx, s.launchedBroker(node+1), down) })
	}
	err := s.hold(ctx, down/2)
	var end int64
	if err == nil {
		end, err = s.cutLog(p.topic, p.partition, at)
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

package chaos

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/twmb/franz-go/pkg/kadm"

	"lodestone/cmd/lodestone-lab/chaos/machine"
	"lodestone/ingest/stream"
)

func (w *world) setWindow(ctx context.Context, blocks int) error {
	return retry(ctx, "set the window of tokens", func() error {
		for _, shard := range w.stores {
			for _, s := range stream.All() {
				if err := shard.Exec(ctx, "ALTER TABLE lodestone."+s.Table+" MODIFY SETTING non_replicated_deduplication_window = "+strconv.Itoa(blocks)); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// evictTokens lets ClickHouse remember no more than one token, and meanwhile makes consumers
// wonder what became of their inserts.
func evictTokens(ctx context.Context, s *scene) error {
	s.note("ClickHouse remembers one token only, while consumers are killed and answers get lost")
	if err := s.setWindow(ctx, 1); err != nil {
		return err
	}
	var err error
	for range 3 {
		if err = s.hold(ctx, s.between(time.Second, 3*time.Second)); err != nil {
			break
		}
		s.consumer().Kill(0)
	}
	err = errors.Join(err, loseAnswers("", 200, 3000, true, "consumer1-clickhouse", "consumer2-clickhouse").inject(ctx, s))
	return errors.Join(err, s.setWindow(context.WithoutCancel(ctx), 10_000))
}

// tokenWithoutPart makes what a crash between the two leaves: a token that ClickHouse remembers,
// whose rows are not there. It kills the consumers, looks for an announced block that is stored
// and not yet known to be, and takes its rows away.
func tokenWithoutPart(ctx context.Context, s *scene) error {
	for range 8 {
		found := 0
		err := s.withoutConsumers(true, func() (err error) {
			found, err = s.takeAnnouncedRows(ctx)
			return err
		})
		if err != nil {
			return err
		}
		if found > 0 {
			s.note("took the rows of %d announced blocks away, whose tokens are remembered", found)
			return nil
		}
		// Consumers that were killed are members of the group until their sessions are over, and until
		// then the next ones have nothing to announce.
		if err := s.recovered(ctx, s.limit); err != nil {
			return err
		}
		if err := s.hold(ctx, s.between(200*time.Millisecond, 2*time.Second)); err != nil {
			return err
		}
	}
	return errors.New("no announced block was found stored")
}

func (s *scene) takeAnnouncedRows(ctx context.Context) (found int, err error) {
	for _, shard := range s.stores {
		// No insert of the dead may land later.
		if err := retry(ctx, "end inserts", func() error {
			return shard.Exec(ctx, "KILL QUERY WHERE query LIKE 'INSERT INTO%' SYNC")
		}); err != nil {
			return found, err
		}
		for _, of := range stream.All() {
			taken, err := s.takeAnnouncedRowsOf(ctx, shard, of)
			if found += taken; err != nil {
				return found, err
			}
		}
	}
	return found, nil
}

func (s *scene) takeAnnouncedRowsOf(ctx context.Context, shard driver.Conn, of stream.Stream) (found int, err error) {
	var committed kadm.OffsetResponses
	if err := retry(ctx, "read commits", func() (err error) {
		committed, err = s.admin.FetchOffsetsForTopics(ctx, group, of.Topic)
		return err
	}); err != nil {
		return 0, err
	}
	table := "lodestone." + of.Table
	for _, o := range committed.Sorted() {
		parts := strings.Fields(o.Metadata) // "1 TOPIC-ID LAST"
		if len(parts) != 3 {
			continue
		}
		last, err := strconv.ParseInt(parts[2], 10, 64)
		if err != nil || last < o.At {
			continue
		}
		where := fmt.Sprintf("kafka_topic_id = '%s' AND kafka_partition = %d AND kafka_offset >= %d AND kafka_offset <= %d", parts[1], o.Partition, o.At, last)
		err = retry(ctx, "take rows away", func() error {
			var rows uint64
			if err := shard.QueryRow(ctx, "SELECT count() FROM "+table+" WHERE "+where).Scan(&rows); err != nil || rows == 0 {
				return err
			}
			found++
			return shard.Exec(ctx, "ALTER TABLE "+table+" DELETE WHERE "+where+" SETTINGS mutations_sync = 2")
		})
		if err != nil {
			return found, err
		}
	}
	return found, nil
}

// underTheGuard is what is left of ClickHouse's disk when it is full: less than its configuration
// keeps free (keep_free_space_bytes), so that it begins nothing more. What runs by then goes to its
// end: with no byte left, ClickHouse 26.7 keeps parts with empty files and says that they are
// stored, which no user of it can fix.
const underTheGuard = 896 << 20

func fillClickHouse(ctx context.Context, s *scene) error {
	disk := filepath.Join(s.dir, shardName(s.shard()))
	if !s.disks.CanFill(disk) {
		return errNoDisk
	}
	d := s.between(5*time.Second, 15*time.Second)
	s.note("the disk of %s is full, but for what its configuration keeps free, for %v", filepath.Base(disk), d)
	if err := s.disks.Fill(disk, underTheGuard); err != nil {
		return err
	}
	return errors.Join(s.hold(ctx, d), s.disks.Empty(disk))
}

var errLeftOut = machine.ErrLeftOut

var errNoDisk = fmt.Errorf("%w: it takes root and a loop device", errLeftOut)

// hour returns an hour and up to half of one more, back or forth: Kafka draws a line at an hour.
func (s *scene) hour() time.Duration {
	d := time.Hour + s.between(0, 30*time.Minute)
	if s.rand.IntN(2) == 0 {
		return -d
	}
	return d.Round(time.Second)
}

// jump moves the clocks of some processes, of each on its own, a few times, and then back to the
// right time, which is a jump as well.
func jump(name string, short bool, prefixes ...string) fault {
	return fault{name: "clock jumps: " + name, short: short, inject: func(ctx context.Context, s *scene) error {
		names := s.clocks.Names(prefixes...)
		if len(names) == 0 {
			return fmt.Errorf("%w: the clocks of %v cannot be moved on this machine", errLeftOut, prefixes)
		}
		var err error
		for range 2 + s.rand.IntN(3) {
			for _, name := range names {
				ahead := s.hour()
				s.note("the clock of %s is set %v ahead", name, ahead)
				err = errors.Join(err, s.clocks.Set(name, ahead), s.moved(ctx, name, ahead))
			}
			if err = errors.Join(err, s.hold(ctx, s.between(time.Second, 5*time.Second))); err != nil {
				break
			}
		}
		for _, name := range names {
			err = errors.Join(err, s.clocks.Set(name, 0))
		}
		s.note("the clocks are right again")
		return err
	}}
}

// moved asks ClickHouse for its time, and returns an error if the clock that was set did not move.
func (w *world) moved(ctx context.Context, name string, ahead time.Duration) error {
	for i, shard := range w.stores {
		if name != shardName(i) {
			continue
		}
		var now time.Time
		if err := retry(ctx, "ask ClickHouse for its time", func() error { return shard.QueryRow(ctx, "SELECT now()").Scan(&now) }); err != nil {
			return err
		}
		if off := now.Sub(time.Now().Add(ahead)); off.Abs() > 10*time.Minute {
			return fmt.Errorf("the clock of %s was set %v ahead, and is %v off that", name, ahead, off)
		}
	}
	return nil
}

// setServers moves the clocks of all ClickHouse servers.
func (w *world) setServers(ahead time.Duration) (err error) {
	for i := range w.stores {
		err = errors.Join(err, w.clocks.Set(shardName(i), ahead))
	}
	return err
}

// jumpAroundZombie stops a consumer for longer than its session lasts, and meanwhile sets its clock
// and that of ClickHouse back: by either, the time of the insert that it stopped in is not over.
func jumpAroundZombie(ctx context.Context, s *scene) error {
	number := s.rand.IntN(consumers)
	p, d := s.consumers[number], s.between(sessionTimeout+3*time.Second, 20*time.Second)
	own, server := s.hour().Abs(), s.hour().Abs()
	pid, _ := p.Status()
	if pid == 0 {
		s.note("%s is not running: nothing to stop", p.Name)
		return nil
	}
	s.note("SIGSTOP %s for %v; its clock is set %v back, ClickHouse's %v", p.Name, d, own, server)
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		return fmt.Errorf("stop process %s: %w", strconv.Itoa(pid), err)
	}
	err := errors.Join(s.clocks.Set(p.Name, -own), s.setServers(-server))
	if err == nil {
		err = s.hold(ctx, d)
	}
	_ = syscall.Kill(pid, syscall.SIGCONT) // it may have ended
	err = errors.Join(err, s.hold(ctx, s.between(2*time.Second, 5*time.Second)))
	return errors.Join(err, s.clocks.Set(p.Name, 0), s.setServers(0))
}

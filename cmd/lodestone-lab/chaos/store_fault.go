package chaos

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"lodestone/cmd/lodestone-lab/chaos/machine"
)

// refusePartition has ClickHouse refuse the rows of one partition for a while: those of the others
// that were in a batch with them are stored meanwhile.
func refusePartition(ctx context.Context, s *scene) error {
	partition, d := s.rand.IntN(partitions), s.between(3*time.Second, 12*time.Second)
	s.note("ClickHouse refuses the rows of partition %d for %v", partition, d)
	change := func(ctx context.Context, sql string) error {
		return retry(ctx, "change a constraint", func() (err error) {
			for _, shard := range s.stores {
				err = errors.Join(err, shard.Exec(ctx, "ALTER TABLE lodestone.events "+sql))
			}
			return err
		})
	}
	err := change(ctx, "ADD CONSTRAINT IF NOT EXISTS chaos CHECK kafka_partition != "+strconv.Itoa(partition))
	if err == nil {
		err = s.hold(ctx, d)
	}
	return errors.Join(err, change(context.WithoutCancel(ctx), "DROP CONSTRAINT IF EXISTS chaos"))
}

// underTheGuard is the number of bytes left on a full disk of ClickHouse. It is less than the
// configuration keeps free (keep_free_space_bytes), so that ClickHouse starts no new write but
// finishes those under way: with no byte left, ClickHouse 26.7 acknowledges parts with empty files,
// which no user of it can fix.
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
		if err := retry(ctx, "ask ClickHouse for its time",
			func() error { return shard.QueryRow(ctx, "SELECT now()").Scan(&now) }); err != nil {
			return err
		}
		if off := now.Sub(time.Now().Add(ahead)); off.Abs() > 10*time.Minute {
			return fmt.Errorf("the clock of %s was set %v ahead, and is %v off that", name, ahead, off)
		}
	}
	return nil
}

// jumpAroundZombie stops a consumer for longer than its session lasts, and meanwhile sets its clock
// back: by that, the time of the insert that it stopped in is not over.
func jumpAroundZombie(ctx context.Context, s *scene) error {
	number := s.rand.IntN(consumers)
	p, d := s.consumers[number], s.between(sessionTimeout+3*time.Second, 20*time.Second)
	back := s.hour().Abs()
	pid, _ := p.Status()
	if pid == 0 {
		s.note("%s is not running: nothing to stop", p.Name)
		return nil
	}
	s.note("SIGSTOP %s for %v; its clock is set %v back", p.Name, d, back)
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		return fmt.Errorf("stop process %s: %w", strconv.Itoa(pid), err)
	}
	err := s.clocks.Set(p.Name, -back)
	if err == nil {
		err = s.hold(ctx, d)
	}
	_ = syscall.Kill(pid, syscall.SIGCONT) // it may have ended
	err = errors.Join(err, s.hold(ctx, s.between(2*time.Second, 5*time.Second)))
	return errors.Join(err, s.clocks.Set(p.Name, 0))
}

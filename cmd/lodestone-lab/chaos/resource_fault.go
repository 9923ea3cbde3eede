package chaos

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"lodestone/cmd/lodestone-lab/chaos/machine"
	"lodestone/cmd/lodestone-lab/probe"
)

// burstRequests is how many requests of 500 events fill a spool with more than its collector reads ahead of Kafka.
const burstRequests = 80

// burst sends events to one collector as fast as it takes them, each request until it is acknowledged or given up.
func (s *scene) burst(ctx context.Context, p *machine.Process, requests int) error {
	client := &http.Client{Transport: &http.Transport{}, Timeout: clientTimeout}
	defer client.CloseIdleConnections()
	one := &sender{load: s.load, size: sizes[len(sizes)-1], only: s.addressOf(p), http: client}
	for range requests {
		if err := one.send(ctx); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// addressOf returns the address of a collector for clients.
func (w *world) addressOf(p *machine.Process) string {
	return w.addresses[slices.Index(w.collectors, p)]
}

// slowKafka makes Kafka so slow for the collectors that their events go to the spools, while connections stay open and what
// is in the spools is sent on, little by little.
func (s *scene) slowKafka() error {
	return s.network.Disturb(s.network.Names("collector-kafka"), machine.Toxic{Kind: "latency", Answers: true, Attributes: map[string]int64{"latency": 2500 + s.rand.Int64N(1500)}})
}

// takeDescriptors lowers the limit of a collector's descriptors below what it has open, while its spool is full of events that
// Kafka takes slowly, and while Kafka cannot be reached at all: it can accept no connection, begin and open no segment.
func takeDescriptors(ctx context.Context, s *scene) error {
	p := s.collector()
	limit, slow, away := uint64(1+s.rand.IntN(12)), s.between(3*time.Second, 7*time.Second), s.between(time.Second, 4*time.Second)
	if err := s.slowKafka(); err != nil {
		return err
	}
	err := s.burst(ctx, p, burstRequests)
	pid, _ := p.Status()
	if err != nil || pid == 0 {
		s.network.Heal(context.WithoutCancel(ctx))
		return errors.Join(err, s.hold(ctx, time.Second))
	}
	s.note("%s may have %d descriptors for %v with a slow Kafka, and for %v without Kafka", p.Name, limit, slow, away)
	undo, err := machine.LimitDescriptors(pid, limit)
	if err != nil {
		s.network.Heal(context.WithoutCancel(ctx))
		return err
	}
	err = s.knock(ctx, p, slow)
	s.network.Heal(context.WithoutCancel(ctx))
	if err == nil {
		err = s.spoilFor(ctx, s.network.Names("collector-kafka"), machine.Toxic{Kind: "timeout", Answers: false, Attributes: map[string]int64{"timeout": 0}}, away)
	}
	if err == nil {
		err = s.hold(ctx, s.between(time.Second, 3*time.Second)) // Kafka is back before the descriptors are
	}
	err = errors.Join(err, undo())
	if now, _ := p.Status(); now != pid {
		s.wrong("%s ended for want of descriptors", p.Name)
	}
	return err
}

// knock opens connections to a collector and keeps them open for a while.
func (s *scene) knock(ctx context.Context, p *machine.Process, d time.Duration) error {
	var dialer net.Dialer
	var open []net.Conn
	defer func() {
		for _, c := range open {
			_ = c.Close() // nothing was sent
		}
	}()
	for range 4 {
		c, err := dialer.DialContext(ctx, "tcp", strings.TrimPrefix(s.addressOf(p), "http://"))
		if err != nil {
			return fmt.Errorf("connect to %s: %w", p.Name, err)
		}
		open = append(open, c)
	}
	return s.hold(ctx, d)
}

// failReads makes segments of a spool unreadable for a while, in the middle of its being sent: each gives its name to a
// directory, which can be opened and not read.
func failReads(ctx context.Context, s *scene) error {
	p := s.collector()
	d, restart := s.between(2*time.Second, 6*time.Second), s.rand.IntN(3) == 0
	if err := s.slowKafka(); err != nil {
		return err
	}
	defer func() { s.network.Heal(context.WithoutCancel(ctx)) }()
	if err := s.burst(ctx, p, burstRequests); err != nil {
		return err
	}
	held, err := s.swapSegments(p)
	if err == nil {
		s.note("%d segments of the spool of %s cannot be read for %v, part of that with a slow Kafka", len(held), p.Name, d)
		err = s.hold(ctx, d/2)
	}
	s.network.Heal(context.WithoutCancel(ctx))
	if err == nil {
		err = s.hold(ctx, d/2)
	}
	for _, h := range held {
		err = errors.Join(err, h.restore())
	}
	if restart { // it finds out from its files alone what is not sent
		s.note("kill -9 %s", p.Name)
		p.Kill(0)
	}
	return err
}

// heldSegment is a segment whose name a directory has.
type heldSegment struct {
	spool string
	file  string      // where the segment is meanwhile
	stand os.FileInfo // the directory
}

// swapSegments takes the segments of a collector's spool that it does not have open at this moment.
func (s *scene) swapSegments(p *machine.Process) (held []heldSegment, err error) {
	pid, _ := p.Status()
	spool := filepath.Join(s.spoolDir(1+slices.Index(s.collectors, p)), "events")
	open, err := openFiles(pid)
	if err != nil {
		return nil, err
	}
	paths, err := filepath.Glob(filepath.Join(spool, "*.segment"))
	if err != nil {
		return nil, err
	}
	aside := filepath.Join(filepath.Dir(spool), "held")
	for _, path := range paths {
		if open[path] {
			continue
		}
		stand := filepath.Join(aside, filepath.Base(path))
		if err := os.MkdirAll(stand, 0o700); err != nil {
			return held, err
		}
		info, err := os.Stat(stand)
		if err != nil {
			return held, err
		}
		if err := machine.Exchange(stand, path); errors.Is(err, fs.ErrNotExist) {
			if err := os.Remove(stand); err != nil { // it was sent and removed meanwhile
				return held, err
			}
		} else if err != nil {
			return held, err
		} else {
			held = append(held, heldSegment{spool: spool, file: stand, stand: info})
		}
	}
	return held, nil
}

// openFiles returns the paths of the files that a process has open.
func openFiles(pid int) (map[string]bool, error) {
	dir := "/proc/" + strconv.Itoa(pid) + "/fd"
	descriptors, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("list open files: %w", err)
	}
	open := map[string]bool{}
	for _, d := range descriptors {
		if path, err := os.Readlink(filepath.Join(dir, d.Name())); err == nil { // else it was closed meanwhile
			open[path] = true
		}
	}
	return open, nil
}

// restore gives the segment its name back. Whatever was done to the directory meanwhile, which was taken for the segment, is
// done to the segment.
func (h heldSegment) restore() error {
	at := ""
	err := filepath.WalkDir(h.spool, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) { // removed meanwhile
				return nil
			}
			return err
		}
		if info, err := d.Info(); err == nil && d.IsDir() && os.SameFile(info, h.stand) {
			at = path
			return fs.SkipAll
		}
		return nil
	})
	if err != nil {
		return err
	}
	if at != "" {
		err = machine.Exchange(at, h.file)
	}
	return errors.Join(err, os.Remove(h.file)) // the directory, or a segment that was removed
}

// spoolBytes is the size of the disk of one collector's spool.
const spoolBytes = 128 << 20

func (w *world) spoolDir(collector int) string {
	return filepath.Join(w.dir, "spool"+strconv.Itoa(collector))
}

// spooled returns how many records wait in the collectors' spools for Kafka. A collector that does
// not answer is an error: no one else knows.
func (w *world) spooled(ctx context.Context) (records int64, err error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	for _, p := range w.collectors {
		n, err := probe.Metric(ctx, w.admins[p.Name], "lodestone_spool_records")
		if err != nil {
			return 0, fmt.Errorf("ask %s for its spool: %w", p.Name, err)
		}
		records += n
	}
	return records, nil
}

// spoolsEmpty returns when nothing waits in the spools.
func (w *world) spoolsEmpty(ctx context.Context, within time.Duration) error {
	return probe.Until(ctx, within, retryInterval, "empty the spools", func() error {
		records, err := w.spooled(ctx)
		if err == nil && records > 0 {
			err = fmt.Errorf("%d records wait in the spools", records)
		}
		return err
	})
}

// fillSpool takes Kafka away from the collectors while their spools' disks are full: what they
// cannot keep they have to refuse.
func fillSpool(ctx context.Context, s *scene) error {
	for i := range collectors {
		if !s.disks.CanFill(s.spoolDir(i + 1)) {
			return errNoDisk
		}
	}
	d := s.between(5*time.Second, 15*time.Second)
	s.note("the disks of the spools are full, and Kafka cannot be reached, for %v", d)
	var errs []error
	for i := range collectors {
		errs = append(errs, s.disks.Fill(s.spoolDir(i+1), 0))
	}
	errs = append(errs, s.spoilFor(ctx, s.network.Names("collector-kafka"), machine.Toxic{Kind: "timeout", Answers: false, Attributes: map[string]int64{"timeout": 0}}, d))
	for i := range collectors {
		errs = append(errs, s.disks.Empty(s.spoolDir(i+1)))
	}
	return errors.Join(errs...)
}

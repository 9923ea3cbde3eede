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
)

// burstRequests is how many requests of 500 events fill a spool with more than its collector reads ahead of Kafka.
const burstRequests = 80

// burst sends events to one collector as fast as it takes them, each request until it is acknowledged or given up.
func (s *scene) burst(ctx context.Context, p *process, requests int) error {
	client := &http.Client{Transport: &http.Transport{}, Timeout: clientTimeout}
	defer client.CloseIdleConnections()
	one := &sender{load: s.load, size: sizes[len(sizes)-1], only: s.doorOf(p), http: client}
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

// doorOf returns the address of a collector for clients.
func (w *world) doorOf(p *process) string { return w.doors[slices.Index(w.collectors, p)] }

// slowKafka makes Kafka so slow for the collectors that their events go to the spools, while connections stay open and what
// is in the spools is sent on, little by little.
func (s *scene) slowKafka() error {
	return s.network.spoil(s.network.names("collector-kafka"), toxic{"latency", true, map[string]int64{"latency": 2500 + s.rand.Int64N(1500)}})
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
	pid, _ := p.status()
	if err != nil || pid == 0 {
		s.network.heal(context.WithoutCancel(ctx))
		return errors.Join(err, s.hold(ctx, time.Second))
	}
	s.note("%s may have %d descriptors for %v with a slow Kafka, and for %v without Kafka", p.name, limit, slow, away)
	undo, err := limitDescriptors(pid, limit)
	if err != nil {
		s.network.heal(context.WithoutCancel(ctx))
		return err
	}
	err = s.knock(ctx, p, slow)
	s.network.heal(context.WithoutCancel(ctx))
	if err == nil {
		err = s.spoilFor(ctx, s.network.names("collector-kafka"), toxic{"timeout", false, map[string]int64{"timeout": 0}}, away)
	}
	if err == nil {
		err = s.hold(ctx, s.between(time.Second, 3*time.Second)) // Kafka is back before the descriptors are
	}
	err = errors.Join(err, undo())
	if now, _ := p.status(); now != pid {
		s.wrong("%s ended for want of descriptors", p.name)
	}
	return err
}

// knock opens connections to a collector and keeps them open for a while.
func (s *scene) knock(ctx context.Context, p *process, d time.Duration) error {
	var dialer net.Dialer
	var open []net.Conn
	defer func() {
		for _, c := range open {
			_ = c.Close() // nothing was sent
		}
	}()
	for range 4 {
		c, err := dialer.DialContext(ctx, "tcp", strings.TrimPrefix(s.doorOf(p), "http://"))
		if err != nil {
			return fmt.Errorf("connect to %s: %w", p.name, err)
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
	defer func() { s.network.heal(context.WithoutCancel(ctx)) }()
	if err := s.burst(ctx, p, burstRequests); err != nil {
		return err
	}
	held, err := s.swapSegments(p)
	if err == nil {
		s.note("%d segments of the spool of %s cannot be read for %v, part of that with a slow Kafka", len(held), p.name, d)
		err = s.hold(ctx, d/2)
	}
	s.network.heal(context.WithoutCancel(ctx))
	if err == nil {
		err = s.hold(ctx, d/2)
	}
	for _, h := range held {
		err = errors.Join(err, h.restore())
	}
	if restart { // it finds out from its files alone what is not sent
		s.note("kill -9 %s", p.name)
		p.kill(0)
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
func (s *scene) swapSegments(p *process) (held []heldSegment, err error) {
	pid, _ := p.status()
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
		if err := exchange(stand, path); errors.Is(err, fs.ErrNotExist) {
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
		err = exchange(at, h.file)
	}
	return errors.Join(err, os.Remove(h.file)) // the directory, or a segment that was removed
}

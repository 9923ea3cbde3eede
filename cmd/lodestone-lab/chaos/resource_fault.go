package chaos

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"time"

	"lodestone/cmd/lodestone-lab/chaos/machine"
	"lodestone/cmd/lodestone-lab/probe"
)

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
	errs = append(errs, s.spoilFor(ctx, s.network.Names("collector-kafka"), machine.Toxic{Kind: "timeout", Answers: false,
		Attributes: map[string]int64{"timeout": 0}}, d))
	for i := range collectors {
		errs = append(errs, s.disks.Empty(s.spoolDir(i+1)))
	}
	return errors.Join(errs...)
}

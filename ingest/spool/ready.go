package spool

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

const (
	// readySpace is the free space of a spool that takes events: enough for a few ordinary requests.
	readySpace = 64 << 10
	// probeFile is written to find out whether the disk accepts writes.
	probeFile  = "probe"
	probeBytes = 4 << 10
	// kafkaTry bounds the query of CheckKafka: the collector works without Kafka, and no balancer may
	// take its /readyz for a process that hangs.
	kafkaTry = time.Second
)

// Ready reports whether events can be made durable: on the disk, or else by Kafka, which the
// function kafka checks. Without either, every write fails. Kafka is not checked while the disk
// accepts writes, so that its outage does not slow this down.
func (s *Spool) Ready(ctx context.Context, kafka func(context.Context) error) error {
	full := s.accepts()
	if full == nil {
		return nil
	}
	if s.circuit.open.Load() {
		return fmt.Errorf("events cannot be stored: no connection to Kafka, and the spool: %w", full)
	}
	if err := kafka(ctx); err != nil {
		return fmt.Errorf("events cannot be stored: Kafka: %w; the spool: %w", err, full)
	}
	return nil
}

// errAway says what /readyz shows while Kafka is away.
var errAway = errors.New("kafka does not take events in time: they wait in the spool")

// CheckKafka returns an error while events go to the disk since Kafka does not take them in time,
// or would go there: also while none arrive, the function kafka finds out.
func (s *Spool) CheckKafka(ctx context.Context, kafka func(context.Context) error) error {
	if s.circuit.open.Load() {
		return errAway
	}
	ctx, cancel := context.WithTimeout(ctx, kafkaTry)
	defer cancel()
	if err := kafka(ctx); err != nil {
		return fmt.Errorf("events will wait in the spool: %w", err)
	}
	return nil
}

// accepts reports whether the disk accepts events.
func (s *Spool) accepts() error {
	q := s.queue.Load()
	if q == nil {
		return errClosed
	}
	if used, _ := q.state(); used+readySpace > q.maxBytes {
		return ErrFull
	}
	if err := probe(filepath.Join(s.config.Dir, probeFile)); err != nil {
		return fmt.Errorf("%w: %w", ErrUnwritable, err)
	}
	return nil
}

// probe writes a file in the same way as the spool.
func probe(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(make([]byte, probeBytes))
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

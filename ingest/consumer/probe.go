package consumer

import (
	"context"
	"fmt"
	"time"

	"lodestone/ingest/stream"

	"lodestone/pkg/clickhouse"
	"lodestone/pkg/service"
)

const (
	// leaveAfter is how long this consumer may be unable to write before it leaves the group, so that one that can
	// write can have its partitions. It joins again when the probe succeeds: an outage of the server is one leaving
	// and one joining of each consumer.
	leaveAfter   = time.Minute
	probeTimeout = 5 * time.Second
	mostProbe    = 5 * time.Second // between two probes
)

// probe returns nil if ClickHouse lets this consumer read and write the tables. It writes nothing.
func (c *Consumer) probe(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	asks := &stream.Connection{Options: c.clickhouse, Log: c.log}
	defer asks.Close()
	for _, s := range c.streams {
		if err := s.Probe(ctx, asks); err != nil {
			return err
		}
	}
	return nil
}

// unable returns why this consumer has not been able to write for leaveAfter, or nil. It probes only after an error, and
// is called by one goroutine, again and again. What ClickHouse refuses for the data of a block, or for the time being,
// is no reason to leave: the next consumer would be refused the same.
func (c *Consumer) unable(ctx context.Context, forbidden *time.Time) error {
	silent := c.away.SilentFor(c.leaveAfter)
	if !silent && !c.away.Refused() && forbidden.IsZero() {
		return nil
	}
	err := c.probe(ctx)
	_, answered := clickhouse.IsException(err)
	switch {
	case err == nil, ctx.Err() != nil, answered && !clickhouse.IsForbidden(err):
		*forbidden = time.Time{}
		return nil //nolint:nilerr // the error is no reason to leave
	case answered && forbidden.IsZero():
		*forbidden = time.Now()
		c.log.Error("ClickHouse does not let this consumer write; it leaves the consumer group unless that ends", "in", c.leaveAfter, "error", err)
		return nil
	case answered && time.Since(*forbidden) < c.leaveAfter, !answered && !silent:
		return nil
	}
	return fmt.Errorf("nothing can be stored since %s: %w", c.leaveAfter, err)
}

// awaitClickHouse returns nil once the probe succeeds.
func (c *Consumer) awaitClickHouse(ctx context.Context) error {
	pause := 100 * time.Millisecond
	for {
		err := c.probe(ctx)
		if err == nil {
			c.away.Succeeded()
			return nil
		}
		if ctx.Err() == nil {
			c.log.Warn("not joining the consumer group until ClickHouse lets this consumer write", "again_in", pause, "error", err)
		}
		if err := service.Sleep(ctx, pause); err != nil {
			return err
		}
		pause = min(2*pause, mostProbe)
	}
}

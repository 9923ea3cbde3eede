package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// EachReplica calls fn with a connection to every replica on record of each shard that has several, once that one has the rows and the changes of
// the tables that the others had at the call. It stops at an error. A replica that does not answer is one: what is to be done on all of them is not
// done then.
func EachReplica(ctx context.Context, conn driver.Conn, tables []string, fn func(replica driver.Conn) error) error {
	e, several := conn.(*everywhere)
	if !several {
		return nil
	}
	for _, shard := range e.shards {
		if err := shard.eachReplica(ctx, tables, fn); err != nil {
			return err
		}
	}
	return nil
}

func (s *shardConn) eachReplica(ctx context.Context, tables []string, fn func(driver.Conn) error) error {
	if len(s.replicas) == 1 {
		return nil
	}
	if s.writers == nil {
		return errNoWriters
	}
	id, err := s.id(ctx)
	if err != nil {
		return err
	}
	left, err := s.writers.Replicas(ctx, id)
	if err != nil {
		return err //nolint:wrapcheck // it names the shard
	}
	var errs []error
	for _, r := range s.replicas {
		m, err := r.identify(ctx)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if m.Shard != id || !slices.Contains(left, m.Replica) {
			continue // it is about to be added, and gets what the others have by then
		}
		for _, table := range tables {
			if err := r.Exec(ctx, "SYSTEM SYNC REPLICA lodestone."+table); err != nil {
				return fmt.Errorf("wait until replica %s of shard %d has what the others have: %w", m.Replica, id, err)
			}
		}
		if err := fn(r.Conn); err != nil {
			return fmt.Errorf("replica %s of shard %d: %w", m.Replica, id, err)
		}
		left = slices.DeleteFunc(left, func(name string) bool { return name == m.Replica })
	}
	if len(left) > 0 {
		return errors.Join(append(errs, fmt.Errorf("replica %s of shard %d does not answer: start it, or drop it with `lodestone shard drop-replica`", strings.Join(left, ", "), id))...)
	}
	return nil
}

package postgres

import (
	"context"
	"time"
)

// WriteASCIIDomains is the migration of keys of addresses.
var WriteASCIIDomains = writeASCIIDomains

// EachConnection runs a statement on every connection of the pool.
func (p *Pool) EachConnection(ctx context.Context, statement string) error {
	for _, c := range p.pool.AcquireAllIdle(ctx) {
		_, err := c.Exec(ctx, statement)
		c.Release()
		if err != nil {
			return err
		}
	}
	return nil
}

// WaitForReplica sets how long a read waits for the replica.
func (p *Pool) WaitForReplica(limit time.Duration) { p.replica.wait = limit }

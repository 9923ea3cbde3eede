package postgres

import "context"

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

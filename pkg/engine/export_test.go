package engine

import (
	"context"
	"os"
	"time"
)

// Probe checks once whether the server serves, as is done every few seconds.
func (c *ClickHouse) Probe(ctx context.Context) error { return c.probe(ctx) }

// SetHangAfter lowers how long the server may go without an answer until it is restarted.
func (c *ClickHouse) SetHangAfter(d time.Duration) { c.hangAfter = d }

// SetFree replaces what tells how much of a disk is free.
func (s *Set) SetFree(free func(dir string) (int64, error)) { s.free = free }

// Users returns the file of users that a server in a directory gets: the library, or a server of
// the system.
func Users(dir string, library bool) ([]byte, error) {
	c := NewClickHouse(ClickHouseConfig{Dir: dir})
	c.library = library
	if err := c.configure(); err != nil {
		return nil, err
	}
	return os.ReadFile(c.path("users.xml"))
}

// ChildEnvironment returns what engines inherit of the environment.
func ChildEnvironment() []string { return childEnvironment() }

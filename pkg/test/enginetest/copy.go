package enginetest

import (
	"testing"

	"lodestone/pkg/clickhouse"
)

// NewCopy returns a server of the test's own for another copy of the events, with the current
// schema; the end of the test stops it.
func NewCopy(t testing.TB, number int32) clickhouse.Config {
	t.Helper()
	server := NewMigratedClickHouse(t, Dir(t))
	Run(t, server)
	c := clickhouse.Config{URL: server.URL(), Copy: number}
	if _, err := clickhouse.Migrate(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	return c
}

// AddCopy returns the same stack with another copy of the events, and puts that on record.
func (s *Stack) AddCopy(number int32) *Stack {
	s.t.Helper()
	other := *s
	other.ClickHouse = NewCopy(s.t, number)
	other.Conn = Open(s.t, other.ClickHouse)
	s.Exec("SELECT add_copy($1)", number)
	return &other
}

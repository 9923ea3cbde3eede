package enginetest

import (
	"testing"

	"lodestone/pkg/test/pgbouncer"
)

// PgBouncer starts a PgBouncer in transaction mode before the database of an address, and returns
// its address. It has so few connections to Postgres that clients take turns on each of them.
func PgBouncer(t testing.TB, database string) string {
	t.Helper()
	pooler, err := pgbouncer.New(pgbouncer.Config{Runtime: Runtime(), Dir: Dir(t), Database: database, Port: FreePort(t)})
	if err != nil {
		t.Fatal(err)
	}
	Run(t, pooler)
	return pooler.URL()
}

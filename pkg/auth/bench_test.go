package auth

import (
	"context"
	"testing"
	"time"
)

// BenchmarkVerify looks a key up: in memory, where one that was used within a second is, and in
// Postgres.
func BenchmarkVerify(b *testing.B) {
	v, db, c := open(b)
	k, _ := makeKey(b, db, "read", "write")
	for name, apart := range map[string]time.Duration{"memory": 0, "Postgres": time.Minute} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c.move(apart)
				if _, err := v.Verify(context.Background(), k.Text); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

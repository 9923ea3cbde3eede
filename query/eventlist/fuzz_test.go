package eventlist

import (
	"testing"

	"github.com/google/uuid"

	"lodestone/pkg/api"
)

// A cursor comes from outside: whatever it holds, it is refused or a place that could be one.
func FuzzCursor(f *testing.F) {
	account := uuid.MustParse("0191d3c5-8a4e-7c1f-9b1d-3f2f6f0a7e55")
	good, err := api.EncodeCursor(Filter{}.Cursor(account, Position{CreatedAt: earliest, TopicID: account}, latest))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add("")
	f.Add("e30")
	f.Fuzz(func(t *testing.T, text string) {
		var c Cursor
		if api.DecodeCursor(text, &c) != nil {
			return
		}
		p, err := Filter{}.Position(account, c)
		if err == nil && (p.CreatedAt.Before(earliest) || p.CreatedAt.After(latest) || p.Partition < 0 ||
			p.Offset < 0 || p.TopicID == uuid.Nil) {
			t.Fatalf("%q: %+v", text, p)
		}
	})
}

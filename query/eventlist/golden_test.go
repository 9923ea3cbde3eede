package eventlist

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/event"
	"lodestone/query/scope"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func full() Filter {
	link, magnet := uuid.MustParse("0197a1b2-0000-7000-8000-000000000001"),
		uuid.MustParse("0197a1b2-0000-7000-8000-000000000002")
	bot := false
	from, to := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC), time.Date(2026, 3, 2, 0, 0, 0, 1, time.UTC)
	after := time.Date(2026, 3, 1, 12, 0, 0, 999_999, time.UTC)
	return Filter{AccessLinkID: &link, LeadMagnetID: &magnet, Type: event.DownloadStarted, From: &from, To: &to,
		ReceivedAfter: &after, Bot: &bot}
}

// The exact text of every statement is in testdata, to be read and reviewed. Run with -update to
// rewrite it.
func TestStatements(t *testing.T) {
	t.Parallel()
	position := Position{
		CreatedAt: time.Date(2026, 3, 1, 6, 0, 0, 0, time.UTC),
		TopicID:   uuid.MustParse("0197a1b2-0000-7000-8000-000000000003"), Partition: 2, Offset: 41,
	}
	edge, now := time.Date(2026, 2, 27, 0, 0, 0, 0, time.UTC), time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC)
	from, to := edge.Add(time.Hour), edge.Add(3*dayLength+time.Minute)
	days := []day{{start: edge.Add(dayLength), events: 15}, {start: edge, events: 30}}
	rare := []day{{start: edge.Add(dayLength), events: 1, times: []time.Time{edge.Add(25 * time.Hour)}},
		{start: edge, events: 2, times: []time.Time{edge, edge.Add(time.Millisecond)}}}
	after := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	kind := full()
	kind.AccessLinkID = nil
	for name, s := range map[string]scope.Statement{
		"page":           pageStatement(Filter{}, span{created: period{from: &edge}}, 0, 21),
		"page_days":      pageStatement(Filter{}, on(days, nil), 40, 21),
		"page_times":     pageStatement(full(), on(rare, nil), 0, 21),
		"page_mixed":     pageStatement(full(), on([]day{days[0], rare[1]}, nil), 0, 21),
		"page_full":      pageStatement(full(), span{created: period{from: &edge}}, 0, 21),
		"cursor":         pageStatement(Filter{}, span{after: &position}, 0, 21),
		"cursor_full":    pageStatement(full(), span{after: &position}, 0, 21),
		"stored":         storedStatement(Filter{}, edge, now, nil, 21),
		"stored_full":    storedStatement(full(), edge, now, &position, 21),
		"count":          countStatement(Filter{}, now),
		"count_time":     countStatement(Filter{From: &from, To: &to}, now),
		"count_received": countStatement(Filter{ReceivedAfter: &after}, now),
		"count_new":      countStatement(Filter{ReceivedAfter: &after}, after.Add(recent-1)),
		"count_link":     countStatement(full(), now),
		"count_full":     countStatement(kind, now),
	} {
		text := []string{s.SQL}
		names := make([]string, 0, len(s.Params))
		for param := range s.Params {
			names = append(names, param)
		}
		slices.Sort(names)
		for _, param := range names {
			text = append(text, fmt.Sprintf("-- %s = %s", param, s.Params[param]))
			require.Contains(t, s.SQL, "{"+param+":")
		}
		lines := strings.Join(text, "\n") + "\n"
		path := filepath.Join("testdata", name+".sql")
		if *update {
			require.NoError(t, os.MkdirAll("testdata", 0o755))
			require.NoError(t, os.WriteFile(path, []byte(lines), 0o644))
		}
		golden, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, string(golden), lines, "%s: run with -update if this is meant", path)
		require.Regexp(t, `WHERE account_id (= \{account:UUID\}|IN \{accounts:Array\(UUID\)\})`, s.SQL, path)
	}
}

func TestTimeBounds(t *testing.T) {
	t.Parallel()
	instant := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		at        time.Time
		from, cut string
	}{
		{instant, "1772323200000", "1772323200000"},
		{instant.Add(time.Nanosecond), "1772323200001", "1772323200000"},
		{instant.Add(time.Millisecond - 1), "1772323200001", "1772323200000"},
		{instant.In(time.FixedZone("", 3600)), "1772323200000", "1772323200000"},
		{time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC), "0", "0"},
		{time.Date(9999, 12, 31, 23, 59, 59, 999_999_999, time.UTC), "5648745600000", "5648745600000"},
	} {
		list := Filter{From: &c.at, To: &c.at, ReceivedAfter: &c.at}.conditions()
		require.Equal(t, c.from, list[0].params[0].value, "%v", c.at)
		require.Equal(t, c.from, list[1].params[0].value, "%v", c.at)
		require.Equal(t, c.cut, list[2].params[0].value, "%v", c.at)
	}
}

func TestCursorBelongsToItsList(t *testing.T) {
	t.Parallel()
	account := uuid.New()
	p := Position{CreatedAt: time.UnixMilli(1772323200123).UTC(), TopicID: uuid.New(), Partition: 3, Offset: 99}
	settled := time.UnixMilli(1772323300456)
	f := full()
	require.EqualValues(t, 1772323300456_000, f.Cursor(account, p, settled).Settled)
	back, err := f.Position(account, f.Cursor(account, p, settled))
	require.NoError(t, err)
	require.Equal(t, p, back)

	_, err = f.Position(uuid.New(), f.Cursor(account, p, settled))
	require.Error(t, err, "another account")
	changes := map[string]func(*Filter){
		"link":     func(f *Filter) { f.AccessLinkID = nil },
		"magnet":   func(f *Filter) { other := uuid.New(); f.LeadMagnetID = &other },
		"type":     func(f *Filter) { f.Type = event.PageViewed },
		"from":     func(f *Filter) { f.From = nil },
		"to":       func(f *Filter) { later := f.To.Add(time.Second); f.To = &later },
		"received": func(f *Filter) { f.ReceivedAfter = nil },
		"bot":      func(f *Filter) { bot := true; f.Bot = &bot },
	}
	for name, change := range changes {
		other := full()
		change(&other)
		_, err := other.Position(account, f.Cursor(account, p, settled))
		require.Error(t, err, name)
	}
	for name, spoil := range map[string]func(*Cursor){
		"no topic":           func(c *Cursor) { c.TopicID = uuid.Nil },
		"negative partition": func(c *Cursor) { c.Partition = -1 },
		"negative offset":    func(c *Cursor) { c.Offset = -1 },
		"time before":        func(c *Cursor) { c.CreatedAt = -1 },
		"settled never":      func(c *Cursor) { c.Settled = 0 },
		"settled beyond":     func(c *Cursor) { c.Settled = 1 << 62 },
		"time beyond":        func(c *Cursor) { c.CreatedAt = 1 << 62 },
	} {
		c := f.Cursor(account, p, settled)
		spoil(&c)
		_, err := f.Position(account, c)
		require.Error(t, err, name)
	}
}

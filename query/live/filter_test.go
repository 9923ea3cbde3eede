package live

import (
	"reflect"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/event"
	"lodestone/query/eventlist"
	"lodestone/query/querytest"
)

// Every filter of the list lets the same events through here: one that is added to the list fails this test until it has
// an example, and until matches knows it.
func TestEveryFilterOfTheList(t *testing.T) {
	t.Parallel()
	account, link, magnet, topic := querytest.ID(t), querytest.ID(t), querytest.ID(t), querytest.ID(t)
	at := time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC)
	ch := querytest.Scoped(t)
	var offset int64
	var events []querytest.Stored
	for _, l := range []uuid.UUID{link, querytest.ID(t)} {
		for _, m := range []uuid.UUID{magnet, querytest.ID(t)} {
			for _, kind := range event.Types() {
				for _, bot := range []string{"", "a rule"} {
					for _, after := range []time.Duration{0, time.Millisecond, time.Second} {
						events = append(events, querytest.Stored{Event: event.Event{
							AccountID: account, LeadMagnetID: m, AccessLinkID: l, EventID: querytest.ID(t), Type: kind, Bot: bot,
							CreatedAt: at.Add(after).UnixMilli(), ReceivedAt: at.UnixMilli(),
						}, TopicID: topic, Offset: offset, StoredAt: at.Add(after)})
						offset++
					}
				}
			}
		}
	}
	querytest.Store(t, querytest.Conn(t), events...)
	stored, err := read(t.Context(), ch, []uuid.UUID{account}, Position{}.until(at.Add(-time.Hour)).window(at.Add(time.Hour), nil), 1000)
	require.NoError(t, err)
	require.Len(t, stored, int(offset))
	yes, later, between := true, at.Add(time.Millisecond), at.Add(500*time.Microsecond)
	examples := map[string][]eventlist.Filter{
		"AccessLinkID":  {{AccessLinkID: &link}},
		"LeadMagnetID":  {{LeadMagnetID: &magnet}},
		"Type":          {{Type: event.DownloadStarted}},
		"From":          {{From: &at}, {From: &later}, {From: &between}},
		"To":            {{To: &at}, {To: &later}, {To: &between}},
		"ReceivedAfter": {{ReceivedAfter: &at}, {ReceivedAfter: &later}, {ReceivedAfter: &between}},
		"Bot":           {{Bot: &yes}, {Bot: new(bool)}},
	}
	list := eventlist.New(ch)
	for field := range reflect.TypeFor[eventlist.Filter]().Fields() {
		require.NotEmpty(t, examples[field.Name], "an example of %s", field.Name)
		for _, f := range examples[field.Name] {
			want, _, err := list.Page(t.Context(), account, f, 0, offset)
			require.NoError(t, err)
			var listed, let []uuid.UUID
			for _, e := range want {
				listed = append(listed, e.ID)
			}
			for _, e := range stored {
				if matches(&f, e) {
					let = append(let, e.ID)
				}
			}
			require.ElementsMatch(t, listed, let, field.Name)
		}
	}
}

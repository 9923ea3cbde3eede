package report_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/event"
	"lodestone/pkg/test/enginetest"
	"lodestone/query/querytest"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

// story collects events of one account.
type story struct {
	t       *testing.T
	account uuid.UUID
	magnet  uuid.UUID
	topic   uuid.UUID
	events  []querytest.StoredEvent
	persons map[uuid.UUID]uuid.UUID // of access links; one that is not there stands for a person
}

func newStory(t *testing.T) *story {
	t.Helper()
	return &story{t: t, account: querytest.ID(t), magnet: querytest.ID(t), topic: querytest.ID(t),
		persons: map[uuid.UUID]uuid.UUID{}}
}

// person says that access links are of one person.
func (s *story) person(links ...uuid.UUID) {
	s.t.Helper()
	person := querytest.ID(s.t)
	for _, link := range links {
		s.persons[link] = person
		require.NoError(s.t, querytest.Conn(s.t).Exec(s.t.Context(),
			"INSERT INTO lodestone.access_links (id, account_id, lead_magnet_id, person_id, version) SETTINGS async_insert = 0 VALUES (?, ?, ?, ?, 1)", link, s.account, s.magnet, person))
	}
}

// owner is who is behind an access link.
func (s *story) owner(link uuid.UUID) uuid.UUID {
	if person, ok := s.persons[link]; ok {
		return person
	}
	return link
}

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// view adds a page view of a version, some minutes after the start.
func (s *story) view(link uuid.UUID, version, page, minute int, duration time.Duration, bot string) {
	at := start.Add(time.Duration(minute) * time.Minute).UnixMilli()
	s.events = append(s.events, querytest.StoredEvent{
		Event: event.Event{
			AccountID: s.account, LeadMagnetID: s.magnet, AccessLinkID: link, SessionID: link, EventID: querytest.ID(s.t),
			Type: event.PageViewed, MagnetVersion: uint32(version), Page: uint32(page),
			DurationMS: uint32(duration.Milliseconds()),
			Bot:        bot, CreatedAt: at, ReceivedAt: at,
		},
		TopicID: s.topic, Offset: int64(len(s.events)),
	})
}

func (s *story) store() {
	s.t.Helper()
	querytest.Store(s.t, querytest.Conn(s.t), s.events...)
}

// count says how many pages a version has.
func (s *story) count(version, pages int) {
	s.t.Helper()
	require.NoError(s.t, querytest.Conn(s.t).Exec(s.t.Context(),
		"INSERT INTO lodestone.magnet_versions VALUES (?, ?, ?, ?, 1)", s.account, s.magnet, version, pages))
}

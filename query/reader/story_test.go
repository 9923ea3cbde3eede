package reader_test

import (
	"cmp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/event"
	"lodestone/pkg/test/enginetest"
	"lodestone/query/querytest"
	"lodestone/query/reader"
)

// sessions are those of some access links, with all their events.
func (m *model) sessions(links []uuid.UUID) (list []reader.Session) {
	type key struct{ link, session uuid.UUID }
	grouped := map[key][]querytest.StoredEvent{}
	for _, e := range m.events {
		if e.Bot != "" || !slices.Contains(links, e.AccessLinkID) {
			continue
		}
		k := key{e.AccessLinkID, e.SessionID}
		if e.SessionID == uuid.Nil {
			k.session = e.EventID
		}
		grouped[k] = append(grouped[k], e)
	}
	ids := map[*uuid.UUID]key{}
	for k, events := range grouped {
		slices.SortStableFunc(events, func(a, b querytest.StoredEvent) int { return cmp.Compare(a.CreatedAt, b.CreatedAt) })
		first, last := events[0], events[len(events)-1]
		s := reader.Session{
			ID: &k.session, AccessLinkID: k.link, LeadMagnetID: first.LeadMagnetID,
			Started: time.UnixMilli(first.CreatedAt).UTC(), Last: time.UnixMilli(last.CreatedAt).UTC(),
		}
		pages := map[[2]uint32]bool{}
		for _, e := range events {
			s.UserAgent = max(s.UserAgent, string(e.UserAgent))
			at := time.UnixMilli(e.CreatedAt).UTC()
			if e.Type != event.PageViewed {
				s.Downloads = append(s.Downloads, reader.Download{Type: e.Type, At: at})
				continue
			}
			s.PageViews++
			s.ReadingMS += int64(e.DurationMS)
			if e.Page > 0 {
				pages[[2]uint32{e.MagnetVersion, e.Page}] = true
			}
			s.Visits = append(s.Visits, reader.Visit{Page: int(e.Page), Version: int(e.MagnetVersion),
				Started: at, MS: int64(e.DurationMS)})
		}
		s.Pages = int64(len(pages))
		s.Device = map[string]string{"": "unknown", "Mozilla/5.0 (Windows NT 10.0) Chrome/120": "desktop",
			"Mozilla/5.0 (iPhone; CPU iPhone OS 17)": "mobile"}[s.UserAgent]
		ids[s.ID] = k
		list = append(list, s)
	}
	slices.SortFunc(list, func(a, b reader.Session) int {
		return cmp.Or(b.Started.Compare(a.Started), strings.Compare(a.ID.String(), b.ID.String()),
			strings.Compare(a.AccessLinkID.String(), b.AccessLinkID.String()))
	})
	for i, s := range list {
		if grouped[ids[s.ID]][0].SessionID == uuid.Nil {
			list[i].ID = nil
		}
	}
	return list
}

// The story of each access link is that of the reference, for two accounts beside each other.
// Neither sees the other's access links.
func TestStoriesAgainstTheReference(t *testing.T) {
	t.Parallel()
	pool := enginetest.SharedPostgres(t)
	for seed := range uint64(1) {
		models := []*model{newModel(t, pool, seed), newModel(t, pool, seed+100)}
		models[0].fill()
		models[1].fill()
		for _, l := range models[0].links {
			_, err := models[0].readers.Story(t.Context(), models[1].account, l.id)
			require.ErrorIs(t, err, reader.ErrUnknown)
			models[0].checkStory(l)
		}
	}
}

func (m *model) checkStory(l link) {
	t := m.t
	got, err := m.readers.Story(t.Context(), m.account, l.id)
	links := []uuid.UUID{l.id}
	if !l.deleted {
		links = nil
		for _, other := range m.links {
			if other.person == l.person && !other.deleted {
				links = append(links, other.id)
			}
		}
	}
	var events []querytest.StoredEvent
	bots := int64(0)
	for _, e := range m.events {
		switch {
		case !slices.Contains(links, e.AccessLinkID):
		case e.Bot != "":
			bots++
		default:
			events = append(events, e)
		}
	}
	if l.deleted && len(events) == 0 && bots == 0 {
		require.ErrorIs(t, err, reader.ErrUnknown)
		return
	}
	require.NoError(t, err)
	require.Equal(t, m.owner(l.id), got.ID)
	require.ElementsMatch(t, links, got.AccessLinks)
	require.Equal(t, m.email(links), got.Email)
	require.Equal(t, m.source(m.owner(l.id)), got.Source)
	require.Equal(t, m.sessions(links), got.Sessions)
	require.Equal(t, bots, got.ExcludedBots)
	require.False(t, got.Truncated)
	if len(events) > 0 {
		require.Equal(t, m.activity(events, got.AsOf), got.Activity)
	}
	var submissions []uuid.UUID
	if l.deleted {
		require.Empty(t, got.Links)
		require.Empty(t, got.Submissions)
		return
	}
	for i := range got.Links {
		require.True(t, i == 0 || !got.Links[i].CreatedAt.Before(got.Links[i-1].CreatedAt))
		if id := got.Links[i].SubmissionID; id != nil {
			submissions = append(submissions, *id)
		}
	}
	require.Len(t, got.Links, len(links))
	require.Len(t, got.Submissions, len(submissions))
	for i, s := range got.Submissions {
		require.Contains(t, submissions, s.ID)
		require.True(t, i == 0 || !s.SubmittedAt.Before(got.Submissions[i-1].SubmittedAt))
		require.Equal(t, "I agree", *s.ConsentText)
	}
	if l.submission == uuid.Nil {
		require.Nil(t, got.Submission)
	} else {
		require.Equal(t, l.submission, got.Submission.ID)
	}
}

// A story is bounded: the newest sessions are there, and their first visits; the numbers count
// everything.
func TestALongStoryIsTruncated(t *testing.T) {
	t.Parallel()
	m := newModel(t, enginetest.SharedPostgres(t), 4)
	l := m.recipient("ann@example.com")
	session := querytest.ID(t)
	for n := range 4900 {
		e := m.view(l, 1, ago(24*time.Hour).Add(time.Duration(n)*time.Second), time.Second)
		e.SessionID = session
		m.add(e)
	}
	for n := range 499 {
		m.add(m.view(l, 2, ago(time.Duration(n+1)*time.Second), time.Second))
	}
	m.store()
	got, err := m.readers.Story(t.Context(), m.account, l.id)
	require.NoError(t, err)
	require.True(t, got.Truncated)
	require.Len(t, got.Sessions, 500)
	long := got.Sessions[499]
	require.Len(t, long.Visits, 5000-499)
	require.Equal(t, long.Started, long.Visits[0].Started, "its first visits")
	require.EqualValues(t, 4900, long.PageViews)
	require.EqualValues(t, 4900+499, got.PageViews)

	// One session more leaves out the oldest one.
	m.add(m.view(l, 2, ago(0), time.Second))
	m.store()
	got, err = m.readers.Story(t.Context(), m.account, l.id)
	require.NoError(t, err)
	require.True(t, got.Truncated)
	require.Len(t, got.Sessions, 500)
	for _, s := range got.Sessions {
		require.Len(t, s.Visits, 1)
	}
	require.EqualValues(t, 501, got.Activity.Sessions)
}

// An access link that no one opened has a story, which is empty.
func TestAnUnreadStory(t *testing.T) {
	t.Parallel()
	m := newModel(t, enginetest.SharedPostgres(t), 5)
	l := m.recipient("ann@example.com")
	m.store()
	got, err := m.readers.Story(t.Context(), m.account, l.id)
	require.NoError(t, err)
	require.Equal(t, "ann@example.com", *got.Email)
	require.Len(t, got.Links, 1)
	require.Empty(t, got.Sessions)
	require.Empty(t, got.Magnets)
	require.Zero(t, got.Score.Sum())
	_, err = m.readers.Story(t.Context(), m.account, querytest.ID(t))
	require.ErrorIs(t, err, reader.ErrUnknown)
}

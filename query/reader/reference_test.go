package reader_test

import (
	"bytes"
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"lodestone/pkg/event"
	"lodestone/query/querytest"
	"lodestone/query/reader"
)

// The reference answers in the slowest and most obvious way.

// link returns the link of an id, unless it was deleted.
func (m *model) link(id uuid.UUID) (link, bool) {
	for _, l := range m.links {
		if l.id == id && !l.deleted {
			return l, true
		}
	}
	return link{}, false
}

// owner is who is behind an access link.
func (m *model) owner(id uuid.UUID) uuid.UUID {
	if l, ok := m.link(id); ok {
		return l.person
	}
	return id
}

func (m *model) matches(f reader.Filter, e querytest.StoredEvent) bool {
	l, exists := m.link(e.AccessLinkID)
	at := time.UnixMilli(e.CreatedAt)
	return (f.Text == "" || exists && strings.Contains(strings.ToLower(l.email), strings.ToLower(f.Text))) &&
		(f.LeadMagnetID == nil || e.LeadMagnetID == *f.LeadMagnetID) &&
		(f.GenericLinkID == nil || e.GenericLinkID == *f.GenericLinkID) &&
		(f.UTMSource == nil || l.source.UTMSource == *f.UTMSource) &&
		(f.UTMCampaign == nil || l.source.UTMCampaign == *f.UTMCampaign) &&
		(!slices.Contains(f.Without, "utm_campaign") || l.source.UTMCampaign == "") &&
		(f.ReferrerHost == nil || l.source.ReferrerHost == *f.ReferrerHost) &&
		(!slices.Contains(f.Without, "utm_source") || l.source.UTMSource == "") &&
		(!slices.Contains(f.Without, "referrer_host") || l.source.ReferrerHost == "") &&
		(f.Device == nil || deviceOf(e) == *f.Device) &&
		(f.MagnetVersion == nil || int(e.MagnetVersion) == *f.MagnetVersion) &&
		(f.From == nil || !at.Before(*f.From)) && (f.To == nil || at.Before(*f.To))
}

// deviceOf is the kind of device of an event of the model.
func deviceOf(e querytest.StoredEvent) string {
	switch {
	case e.Bot != "":
		return "bot"
	case len(e.UserAgent) == 0:
		return "unknown"
	case strings.Contains(string(e.UserAgent), "iPhone"):
		return "mobile"
	default:
		return "desktop"
	}
}

// list returns the whole list, and the number of events of bots.
func (m *model) list(f reader.Filter, asOf time.Time) (people []reader.Person, bots int64) {
	byPerson := map[uuid.UUID][]querytest.StoredEvent{}
	for _, e := range m.events {
		switch {
		case !m.matches(f, e):
		case e.Bot != "":
			bots++
		default:
			byPerson[m.owner(e.AccessLinkID)] = append(byPerson[m.owner(e.AccessLinkID)], e)
		}
	}
	for id, events := range byPerson {
		p := reader.Person{ID: id, Activity: m.activity(events, asOf), Source: m.source(id)}
		links := map[uuid.UUID]bool{}
		for _, e := range events {
			links[e.AccessLinkID] = true
		}
		p.AccessLinks = sorted(links)
		if p.Email = m.email(p.AccessLinks); p.Email != nil {
			p.Status = new("New")
		}
		furthest := m.furthest(events)
		if p.PageViews > 0 && p.Pages >= int64(f.MinPages) && (f.Finished == nil || p.Finished == *f.Finished) &&
			(f.Downloaded == nil || (p.Downloads > 0) == *f.Downloaded) &&
			(f.FromForm == nil || m.fromForm(events) == *f.FromForm) &&
			slices.Max(furthest) >= f.Reached && (f.StoppedAt == 0 || slices.Contains(furthest, f.StoppedAt)) {
			people = append(people, p)
		}
	}
	name, descending := strings.CutPrefix(string(f.Order), "-")
	if f.Order == "" {
		name, descending = "last_seen_at", true
	}
	slices.SortFunc(people, func(a, b reader.Person) int {
		value := func(p reader.Person) int64 {
			return map[string]int64{"last_seen_at": p.LastSeen.UnixMilli(), "score": p.Score.Sum(), "reading_ms": p.ReadingMS,
				"downloads": p.Downloads}[name]
		}
		order := cmp.Compare(value(a), value(b))
		if descending {
			order = -order
		}
		return cmp.Or(order, strings.Compare(a.ID.String(), b.ID.String()))
	})
	return people, bots
}

// furthest returns the furthest page of each document.
func (m *model) furthest(events []querytest.StoredEvent) []int {
	last := map[uuid.UUID]int{}
	for _, e := range events {
		last[e.LeadMagnetID] = max(last[e.LeadMagnetID], 0)
		if e.Type == event.PageViewed {
			last[e.LeadMagnetID] = max(last[e.LeadMagnetID], int(e.Page))
		}
	}
	return slices.Collect(maps.Values(last))
}

// fromForm reports whether one of the pages was viewed by a link that the API did not make, or that
// was deleted.
func (m *model) fromForm(events []querytest.StoredEvent) bool {
	return slices.ContainsFunc(events, func(e querytest.StoredEvent) bool {
		l, ok := m.link(e.AccessLinkID)
		return e.Type == event.PageViewed && (!ok || l.origin != "api")
	})
}

func sorted(ids map[uuid.UUID]bool) []uuid.UUID {
	return slices.SortedFunc(maps.Keys(ids), func(a, b uuid.UUID) int { return bytes.Compare(a[:], b[:]) })
}

// email is the spelling of the newest of the links.
func (m *model) email(ids []uuid.UUID) (email *string) {
	var newest link
	for _, id := range ids {
		if l, ok := m.link(id); ok && (email == nil || l.created.After(newest.created) || l.created.Equal(newest.created) &&
			bytes.Compare(l.id[:], newest.id[:]) > 0) {
			newest, email = l, &l.email
		}
	}
	return email
}

// source is that of the first submission, or of the link that a deleted one made.
func (m *model) source(person uuid.UUID) (source reader.Source) {
	var first *time.Time
	earlier := func(at time.Time) bool { return first == nil || at.Before(*first) }
	for _, s := range m.submissions {
		if s.person == person && !s.deleted && earlier(s.at) {
			first, source = &s.at, s.source
		}
	}
	for _, l := range m.links {
		if l.person == person && !l.deleted && l.origin != "api" && earlier(l.created) {
			first, source = &l.created, l.source
		}
	}
	return source
}

// activity returns the activity of people in some events.
func (m *model) activity(events []querytest.StoredEvent, asOf time.Time) (a reader.Activity) {
	type page struct {
		magnet        uuid.UUID
		version, page uint32
	}
	magnets, sessions, pages := map[uuid.UUID]bool{}, map[string]bool{}, map[page]bool{}
	attention := int64(0)
	for i, e := range events {
		at := time.UnixMilli(e.CreatedAt).UTC()
		if i == 0 || at.Before(a.FirstSeen) {
			a.FirstSeen = at
		}
		if i == 0 || at.After(a.LastSeen) {
			a.LastSeen = at
		}
		magnets[e.LeadMagnetID] = true
		switch e.Type {
		case event.DownloadStarted:
		case event.DownloadCompleted:
			a.Downloads++
		case event.PageViewed:
			a.PageViews++
			a.ReadingMS += int64(e.DurationMS)
			attention += min(int64(e.DurationMS), 60_000)
			session := e.SessionID
			if session == uuid.Nil {
				session = e.EventID
			}
			sessions[e.AccessLinkID.String()+session.String()] = true
			if e.Page > 0 {
				pages[page{e.LeadMagnetID, e.MagnetVersion, e.Page}] = true
			}
			counts := m.pages[e.LeadMagnetID]
			if e.MagnetVersion > 0 && int(e.MagnetVersion) <= len(counts) && e.Page == counts[e.MagnetVersion-1] {
				a.Finished = true
			}
		}
	}
	a.Magnets, a.Sessions, a.Pages = sorted(magnets), int64(len(sessions)), int64(len(pages))
	if a.Finished {
		a.Score.Finished = 40
	}
	a.Score.Attention = min(25, attention/24_000)
	a.Score.Returns = min(15, 5*max(0, a.Sessions-1))
	if a.Downloads > 0 {
		a.Score.Downloads = 10
	}
	switch since := asOf.Sub(a.LastSeen); {
	case since < 7*24*time.Hour:
		a.Score.Recency = 10
	case since < 30*24*time.Hour:
		a.Score.Recency = 5
	}
	return a
}

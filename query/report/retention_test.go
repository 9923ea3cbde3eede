package report_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/event"
	"lodestone/pkg/problem"
	"lodestone/pkg/timezone"
	"lodestone/query/querytest"
	"lodestone/query/report"
)

// retentionOf is the report as text, made slowly: intervals are found minute by minute.
func retentionOf(s *story, magnet uuid.UUID, zone *time.Location, by report.Interval, from, to,
	asOf time.Time) (rows []string, bots int64) {
	within := func(at time.Time) bool {
		return (from.IsZero() || !at.Before(from)) && (to.IsZero() || at.Before(to))
	}
	reads := map[uuid.UUID][]time.Time{}
	var first time.Time
	for _, e := range s.events {
		at := time.UnixMilli(e.CreatedAt)
		switch {
		case e.LeadMagnetID != magnet || e.Type != event.PageViewed:
		case e.Bot != "" && within(at):
			bots++
		case e.Bot == "":
			person := s.owner(e.AccessLinkID)
			reads[person] = append(reads[person], at)
			if first.IsZero() || at.Before(first) {
				first = at
			}
		}
	}
	if first.IsZero() {
		return nil, bots
	}
	if first.Before(from) {
		first = from
	}
	list := windows(first.Truncate(time.Minute), asOf.Add(time.Minute), zone, by)
	for i := range list { // whole intervals
		start, err := time.Parse(time.RFC3339, list[i].label)
		if err != nil {
			panic(err)
		}
		list[i].from = start
		if i > 0 {
			list[i-1].to = start
		}
	}
	if len(list) == 0 {
		return nil, bots
	}
	last := &list[len(list)-1]
	for last.to = last.from; label(last.to.In(zone), by) == label(last.from.In(zone), by); {
		last.to = last.to.Add(time.Minute)
	}
	hasRead := func(person uuid.UUID, w window) bool {
		for _, at := range reads[person] {
			if !at.Before(w.from) && at.Before(w.to) {
				return true
			}
		}
		return false
	}
	cohortOf := func(link uuid.UUID) int {
		earliest := reads[link][0]
		for _, at := range reads[link] {
			if at.Before(earliest) {
				earliest = at
			}
		}
		for i, w := range list {
			if within(earliest) && !earliest.Before(w.from) && earliest.Before(w.to) {
				return i
			}
		}
		return -1
	}
	for i, cohort := range list {
		size, returned := 0, []string{}
		for link := range reads {
			if cohortOf(link) == i {
				size++
			}
		}
		if size == 0 {
			continue
		}
		for j := i + 1; j < len(list); j++ {
			back := 0
			for link := range reads {
				if cohortOf(link) == i && hasRead(link, list[j]) {
					back++
				}
			}
			returned = append(returned, fmt.Sprintf("%d %s %t: %d", j-i, list[j].label, list[j].to.After(asOf), back))
		}
		partial := cohort.from.Before(from) || !to.IsZero() && cohort.to.After(to) || cohort.to.After(asOf)
		rows = append(rows, fmt.Sprintf("%s %t: %d %q", cohort.label, partial, size, returned))
	}
	return rows, bots
}

// Every answer is that of the reference: by days of 23, 25 and 23.5 hours, weeks and months, with
// bots, other lead magnets and accounts, reads at the edge of a day, and readers who came before
// the range.
func TestRetentionAgainstTheReference(t *testing.T) {
	t.Parallel()
	places := []struct{ zone, from string }{
		{"UTC", "2024-02-20"}, {"Europe/Berlin", "2026-03-20"}, {"Europe/Berlin", "2026-10-15"},
		{"Australia/Lord_Howe", "2026-03-25"},
		{"America/Havana", "2026-03-01"}, {"Asia/Kolkata", "2026-06-01"}, {"Asia/Beirut", "2026-03-20"},
	}
	reporter := report.New(querytest.Scoped(t))
	for seed, place := range places {
		t.Run(fmt.Sprint(seed, " ", place.zone), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(uint64(seed), 31))
			zone, err := timezone.Load(place.zone)
			require.NoError(t, err)
			begin, err := time.ParseInLocation(time.DateOnly, place.from, time.UTC)
			require.NoError(t, err)
			s, other := newStory(t), newStory(t)
			links := []uuid.UUID{querytest.ID(t), querytest.ID(t), querytest.ID(t), querytest.ID(t),
				querytest.ID(t), querytest.ID(t)}
			magnet, anotherMagnet := s.magnet, querytest.ID(t)
			other.magnet = magnet
			s.person(links[0], links[1], links[2])
			for range 10 + random.IntN(60) {
				at := begin.Add(time.Duration(random.Int64N(40*24*3600*1000)) * time.Millisecond)
				if random.IntN(3) == 0 {
					year, month, day := at.Date()
					at = firstMoment(zone, year, month, day).Add(-time.Duration(random.IntN(2)) * time.Millisecond)
				}
				s.magnet = magnet
				if random.IntN(8) == 0 {
					s.magnet = anotherMagnet
				}
				link := links[random.IntN(len(links))]
				of := []*story{s, s, s, other}[random.IntN(4)]
				of.view(link, 1, 1, 0, 0, []string{"", "", "", "scanner"}[random.IntN(4)])
				stored := &of.events[len(of.events)-1]
				stored.CreatedAt = at.UnixMilli()
				if random.IntN(8) == 0 {
					stored.Type = event.DownloadCompleted
				}
			}
			s.store()
			other.store()
			for range 5 {
				by := []report.Interval{report.Day, report.Week, report.Month}[random.IntN(3)]
				q := report.RetentionQuestion{LeadMagnetID: magnet, By: by, Timezone: place.zone,
					AsOf: begin.Add(time.Duration(20*24+random.IntN(40*24)) * time.Hour)}
				var from, to time.Time
				if random.IntN(2) == 0 {
					year, month, day := begin.AddDate(0, 0, random.IntN(20)).Date()
					from = firstMoment(zone, year, month, day)
					q.From = from.Format(time.DateOnly)
					if random.IntN(2) == 0 {
						to = from.Add(time.Duration(1+random.IntN(600)) * time.Hour)
						q.To = to.UTC().Format(time.RFC3339)
					}
				}
				got, err := reporter.Retention(t.Context(), s.account, q)
				require.NoError(t, err)
				want, bots := retentionOf(s, magnet, zone, by, from, to, q.AsOf)
				require.Equal(t, want, shownRetention(got), "%+v", q)
				require.Equal(t, bots, got.ExcludedBots, "%+v", q)
			}
		})
	}
}

func shownRetention(r report.Retention) (rows []string) {
	for _, c := range r.Cohorts {
		returned := []string{}
		for _, back := range c.Returns {
			returned = append(returned, fmt.Sprintf("%d %s %t: %d", back.After, back.Start.Format(time.RFC3339),
				back.Partial, back.Readers))
		}
		rows = append(rows, fmt.Sprintf("%s %t: %d %q", c.Start.Format(time.RFC3339), c.Partial, c.Readers, returned))
	}
	return rows
}

func TestRetentionOfTooMuch(t *testing.T) {
	t.Parallel()
	s, r := newStory(t), report.New(querytest.Scoped(t))
	s.view(querytest.ID(t), 1, 1, 0, 0, "")
	for day := range 300 { // a reader a day
		s.view(querytest.ID(t), 1, 1, day*24*60, 0, "")
	}
	s.store()
	ask := func(by report.Interval, from string, days int) (report.Retention, error) {
		return r.Retention(t.Context(), s.account, report.RetentionQuestion{LeadMagnetID: s.magnet, By: by, From: from,
			AsOf: start.Add(time.Duration(days) * 24 * time.Hour)})
	}
	got, err := ask(report.Day, "", 100)
	require.NoError(t, err)
	require.Len(t, got.Cohorts, 101)
	var tooLarge *report.TooLargeError
	for _, days := range []int{300, 3000} {
		_, err = ask(report.Day, "", days)
		require.ErrorAs(t, err, &tooLarge)
		require.Equal(t, "from", tooLarge.Field)
	}
	for _, by := range []report.Interval{report.Week, report.Month} {
		_, err = ask(by, "", 300)
		require.NoError(t, err)
	}
	got, err = ask(report.Day, start.AddDate(0, 0, 250).Format(time.DateOnly), 300)
	require.NoError(t, err)
	require.Len(t, got.Cohorts, 50)
	got, err = ask(report.Week, start.AddDate(1, 0, 0).Format(time.DateOnly), 300)
	require.NoError(t, err)
	require.Empty(t, got.Cohorts)

	for field, q := range map[string]report.RetentionQuestion{
		"timezone": {Timezone: "Mars/Phobos"}, "from": {From: "2026-03-02", To: "2026-03-02"}, "to": {To: "tomorrow"},
	} {
		_, err := r.Retention(t.Context(), s.account, q)
		require.True(t, problem.Is(err, problem.InvalidParameter))
		require.ErrorContains(t, err, field)
	}
}

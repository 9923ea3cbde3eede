package dashboard

import (
	"encoding/json"
	"net/http"
	"net/url"
	"time"

	"golang.org/x/sync/errgroup"

	"lodestone/crud/dashboard/frame"
	"lodestone/pkg/client"
)

const (
	livePath = "/dashboard/live"
	// nowWindow is how long someone reads now after the last visit to a page; that of the API.
	nowWindow = 5 * time.Minute
	// maxBots is the number of bots that are listed.
	maxBots = 12
)

// live is the screen of who reads now. Its script goes on from there by the stream of events.
// Without scripts it is the list as it was when the page was opened.
func (d *Dashboard) live(v *frame.Visit) error {
	var (
		report  nowReport
		magnets client.Page[client.LeadMagnet]
		group   errgroup.Group
	)
	group.Go(func() (err error) {
		magnets, err = listMagnets(v)
		return err
	})
	group.Go(func() (err error) {
		report, err = frame.Get[nowReport](v, nowPath, nil)
		return err
	})
	if err := group.Wait(); err != nil {
		return err
	}
	known := byID(magnets.Data)
	now := readingNow(v, report, known, maxNow)
	var bots []nowPerson
	group.Go(func() error { return fillCells(v, &now, report) })
	group.Go(func() (err error) {
		bots, err = readingBots(v, report, known)
		return err
	})
	if err := group.Wait(); err != nil {
		return err
	}
	now.People = append(now.People, bots...)
	return v.Show(d.screens["live"], frame.Screen{Title: v.Say("frame.nav.live"), Nav: frame.Live, AsOf: report.AsOf,
		Bots: report.ExcludedBots, Data: now})
}

// fillCells marks the pages that those who read now have read since their sessions began.
func fillCells(v *frame.Visit, now *nowReading, report nowReport) error {
	if len(now.People) == 0 {
		return nil
	}
	first := report.AsOf
	var links []any
	people := map[string]*nowPerson{}
	for i := range now.People {
		p := &now.People[i]
		people[p.ID] = p
		links = append(links, p.ID)
		if p.Since.Before(first) {
			first = p.Since
		}
	}
	question := frame.Query{
		ID: "cells", Metrics: []string{"page_views"}, Dimensions: []string{"access_link_id", "page"},
		Filters: map[string][]any{"access_link_id": links}, Limit: 1000,
	}
	rows, err := since(v, question, first, report.AsOf)
	for _, r := range rows {
		if p := people[r.Text("access_link_id")]; p != nil {
			p.read(int(r.Number("page")))
		}
	}
	return err
}

// since asks a question about the time from first until now.
func since(v *frame.Visit, question frame.Query, first, asOf time.Time) ([]frame.Row, error) {
	question.From, question.To = first.Truncate(time.Second).Format(time.RFC3339),
		asOf.Add(time.Minute).Truncate(time.Second).Format(time.RFC3339)
	question.Timezone = v.Period.Zone.String()
	got, err := frame.Send[frame.Answers](v, http.MethodPost, "/api/v1/analytics/query", question, nil)
	if err != nil || len(got.Data) == 0 {
		return nil, err
	}
	return got.Data[0].Rows, nil
}

// readingBots returns the visits of bots in the same time: all of their pages, beside those of
// people.
func readingBots(v *frame.Visit, report nowReport, magnets map[string]client.LeadMagnet) (bots []nowPerson, err error) {
	if report.ExcludedBots == 0 {
		return nil, nil
	}
	first := report.AsOf.Add(-nowWindow)
	events, err := frame.Get[client.Page[client.Event]](v, "/api/v1/analytics", url.Values{
		"bot": {"true"}, "event_type": {"page_viewed"}, "from": {first.Format(time.RFC3339)}, "per_page": {"100"},
	})
	if err != nil {
		return nil, err
	}
	rows, err := since(v, frame.Query{
		ID: "bots", Metrics: []string{"events"}, Dimensions: []string{"access_link_id", "lead_magnet_id"},
		Filters: map[string][]any{"bot": {true}}, IncludeBots: true, Limit: 100,
	}, first, report.AsOf)
	if err != nil {
		return nil, err
	}
	reads := map[string]string{}
	for _, r := range rows {
		reads[r.Text("access_link_id")] = r.Text("lead_magnet_id")
	}
	at := map[string]int{}
	for _, e := range events.Data { // the newest first
		i, listed := at[e.AccessLinkID]
		if !listed {
			if len(bots) == maxBots {
				continue
			}
			i = len(bots)
			at[e.AccessLinkID] = i
			p := nowPerson{
				ID: e.AccessLinkID, Bot: true, Name: v.Say("live.bot"), URL: v.Link("/dashboard/readers/" + e.AccessLinkID),
				Page: pageOf(e), Since: e.CreatedAt, At: e.CreatedAt, Seen: ago(v, report.AsOf.Sub(e.CreatedAt)),
			}
			p.of(v, magnets[reads[e.AccessLinkID]])
			bots = append(bots, p)
		}
		bots[i].read(pageOf(e))
		bots[i].Since = e.CreatedAt
	}
	return bots, nil
}

// pageOf returns the page of an event; 0: it names none.
func pageOf(e client.Event) int {
	var data struct {
		Page int `json:"page"`
	}
	if json.Unmarshal(e.EventData, &data) != nil {
		return 0
	}
	return data.Page
}

package dashboard

import (
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"

	"lodestone/crud/dashboard/frame"
	"lodestone/pkg/client"
)

// liveData is the screen of who reads now. Its script follows the stream of events, and replaces the list. Without scripts it is the list
// as it was when the page was opened.
type liveData struct {
	nowReading
	Stream, Self string
}

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
		return err //nolint:wrapcheck // the frame shows it
	}
	now := readingNow(v, report, magnets.Data)
	if err := fillCells(v, &now, report); err != nil {
		return err
	}
	data := liveData{now, v.Path("/api/v1/analytics/live"), v.Path("/dashboard/live")}
	return v.Show(d.screens["live"], frame.Screen{Title: v.Say("frame.nav.live"), Nav: frame.Live, AsOf: report.AsOf, Bots: report.ExcludedBots, Data: data})
}

// fillCells marks the pages that those who read now have read since their sessions began.
func fillCells(v *frame.Visit, now *nowReading, report nowReport) error {
	if len(report.Data) == 0 {
		return nil
	}
	const most = 100 // links of one question
	first := report.AsOf
	var links []any
	for _, r := range report.Data[:min(len(report.Data), most)] {
		links = append(links, r.AccessLinkID)
		if r.Since.Before(first) {
			first = r.Since
		}
	}
	question := frame.Query{
		ID: "cells", Metrics: []string{"page_views"}, Dimensions: []string{"access_link_id", "page"}, Filters: map[string][]any{"access_link_id": links},
		From: first.Truncate(time.Second).Format(time.RFC3339), To: report.AsOf.Add(time.Minute).Truncate(time.Second).Format(time.RFC3339), Timezone: v.Period.Zone.String(), Limit: 1000,
	}
	got, err := frame.Send[frame.Answers](v, http.MethodPost, "/api/v1/analytics/query", question, nil)
	if err != nil || len(got.Data) == 0 {
		return err
	}
	people := map[string]*nowPerson{}
	for i := range now.People {
		people[now.People[i].ID] = &now.People[i]
	}
	for _, r := range got.Data[0].Rows {
		p := people[r.Text("access_link_id")]
		if page := int(r.Number("page")); p != nil && page >= 1 && page <= len(p.Cells) {
			p.Cells[page-1] = true
		}
	}
	return nil
}

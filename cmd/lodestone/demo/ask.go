package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"lodestone/pkg/client"
	"lodestone/pkg/problem"
)

// askedEmails is how many addresses' summaries are asked for: the limit is 60 a minute.
const askedEmails = 20

// answer is the API's answer about the campaign.
type answer struct {
	*tally
	linkViews int // sum of the access links' view_count
	emails    map[string]client.EmailSummary
	waited    time.Duration // until the API showed everything
}

// ask waits until the API shows as many events as were acknowledged, and reads all of them.
func (d *Demo) ask(ctx context.Context) (*answer, error) {
	begin := time.Now()
	got := &answer{tally: newTally(), emails: map[string]client.EmailSummary{}}
	want := int64(d.sent.total())
	err := poll(ctx, func() (bool, error) {
		page, err := d.events(ctx, client.EventFilter{Paging: client.Paging{PerPage: 1}})
		return err == nil && page.Pagination.Total >= want, err
	})
	if err != nil {
		return nil, err
	}
	got.waited = time.Since(begin)
	for _, bot := range []bool{false, true} {
		if err := d.readEvents(ctx, got, bot); err != nil {
			return nil, err
		}
	}
	if err := d.readPages(ctx, got); err != nil {
		return nil, err
	}
	// The counters of links follow within two seconds.
	err = poll(ctx, func() (bool, error) {
		var err error
		got.linkViews, err = d.readLinkViews(ctx)
		return got.linkViews >= d.sent.views, err
	})
	if err != nil {
		return nil, err
	}
	return got, d.readEmails(ctx, got)
}

// limitedPause is the time between two tries of a request that a rate limit refused, on top of what
// the client waits by itself.
const limitedPause = 2 * time.Second

// poll calls done until it is, or the time for that is over, which is no error: what there is then
// is reported. The pauses grow, so that a slow machine does not use up the rate limit.
func poll(ctx context.Context, done func() (bool, error)) error {
	limit := time.NewTimer(answerTimeout)
	defer limit.Stop()
	pause := 200 * time.Millisecond
	for {
		if ok, err := done(); ok || err != nil {
			return err
		}
		select {
		case <-time.After(pause):
		case <-limit.C:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
		pause = min(pause*3/2, 2*time.Second)
	}
}

// whileLimited calls fn again as long as its answer is that a rate limit is exceeded: a window ends
// within a minute, and a demo that is played several times in it only takes longer.
func whileLimited(ctx context.Context, fn func() error) error {
	for {
		err := fn()
		if !problem.Is(err, problem.RateLimited) {
			return err
		}
		select {
		case <-time.After(limitedPause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (d *Demo) events(ctx context.Context, f client.EventFilter) (page client.Page[client.Event], err error) {
	f.LeadMagnetID = d.magnet.ID
	err = whileLimited(ctx, func() (err error) {
		page, err = d.api.Events(ctx, f)
		return err
	})
	if err != nil {
		return page, fmt.Errorf("ask for events: %w", err)
	}
	return page, nil
}

// readEvents counts all events of people, or of bots, cursor by cursor.
func (d *Demo) readEvents(ctx context.Context, got *answer, bot bool) error {
	sessions := map[string]bool{}
	for f := (client.EventFilter{Bot: &bot, Paging: client.Paging{PerPage: 100}}); ; {
		page, err := d.events(ctx, f)
		if err != nil {
			return err
		}
		for _, e := range page.Data {
			var data struct {
				Page     int   `json:"page"`
				Duration int64 `json:"duration_ms"`
			}
			if err := json.Unmarshal(e.EventData, &data); err != nil {
				return fmt.Errorf("read event %s: %w", e.ID, err)
			}
			got.add(e.EventType, data.Page, data.Duration, bot)
			if !bot && e.EventType == pageViewed {
				sessions[e.AccessLinkID] = true // a reader has one link and one session here
			}
		}
		if page.Pagination.NextCursor == nil {
			got.views += len(sessions)
			return nil
		}
		f.Cursor = *page.Pagination.NextCursor
	}
}

// readPages reads the views and the submissions of the landing pages.
func (d *Demo) readPages(ctx context.Context, got *answer) error {
	err := poll(ctx, func() (bool, error) {
		got.looks, got.forms = 0, 0
		for i := range d.pages {
			err := whileLimited(ctx, func() (err error) {
				d.pages[i], err = d.api.GenericLink(ctx, d.pages[i].ID)
				return err
			})
			if err != nil {
				return false, fmt.Errorf("ask for a generic link: %w", err)
			}
			got.looks += int(d.pages[i].ViewCount)
			got.forms += int(d.pages[i].SubmissionCount)
		}
		return got.looks >= d.sent.looks, nil
	})
	if err != nil {
		return err
	}
	for _, link := range d.pages {
		for f := (client.SubmissionFilter{Paging: client.Paging{PerPage: 100}}); ; {
			var page client.Page[client.Submission]
			err := whileLimited(ctx, func() (err error) {
				page, err = d.api.Submissions(ctx, link.ID, f)
				return err
			})
			if err != nil {
				return fmt.Errorf("ask for submissions: %w", err)
			}
			for _, s := range page.Data {
				got.bySource[s.UTM["utm_source"]]++
			}
			if page.Pagination.NextCursor == nil {
				break
			}
			f.Cursor = *page.Pagination.NextCursor
		}
	}
	return nil
}

func (d *Demo) readLinkViews(ctx context.Context) (views int, err error) {
	for number := 1; ; number++ {
		var page client.Page[client.AccessLink]
		err := whileLimited(ctx, func() (err error) {
			page, err = d.api.AccessLinks(ctx, client.AccessLinkFilter{
				LeadMagnetID: d.magnet.ID, Paging: client.Paging{Page: number, PerPage: 100},
			})
			return err
		})
		if err != nil {
			return 0, fmt.Errorf("ask for access links: %w", err)
		}
		for _, l := range page.Data {
			views += int(l.ViewCount)
		}
		if int64(number) >= page.Pagination.TotalPages {
			return views, nil
		}
	}
}

// readEmails asks for the summaries of some addresses: those with several links first.
func (d *Demo) readEmails(ctx context.Context, got *answer) error {
	emails := make([]string, 0, len(d.emails))
	for email := range d.emails {
		emails = append(emails, email)
	}
	slices.SortFunc(emails, func(a, b string) int {
		if byLinks := d.emails[b].links - d.emails[a].links; byLinks != 0 {
			return int(byLinks)
		}
		if a < b {
			return -1
		}
		return 1
	})
	for _, email := range emails[:min(askedEmails, len(emails))] {
		var summary client.EmailSummary
		err := whileLimited(ctx, func() (err error) {
			summary, err = d.api.EmailSummary(ctx, email, d.magnet.ID)
			return err
		})
		if err != nil {
			return fmt.Errorf("ask for an email summary: %w", err)
		}
		got.emails[email] = summary
	}
	return nil
}

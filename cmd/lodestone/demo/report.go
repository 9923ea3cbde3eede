package demo

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// report prints the sent events beside the API's answers.
func (d *Demo) report(got *answer, took time.Duration) error {
	agree := true
	fmt.Fprintf(d.out, "\n%d visitors, and %d events in %d requests, within %.1f s; the API showed them all %.1f s later.\n\n",
		len(d.visits)+len(d.looks), d.sent.total()+d.sent.repeated, d.sent.requests, took.Seconds(), got.waited.Seconds())
	row := func(name string, sent, answered int) {
		mark := "✓"
		if sent != answered {
			mark, agree = "✗", false
		}
		fmt.Fprintf(d.out, "%-38s %8d  %8d  %s\n", name, sent, answered, mark)
	}
	fmt.Fprintf(d.out, "%-38s %8s  %8s\n", "", "sent", "answered")
	row("views of the landing pages", d.sent.looks, got.looks)
	row("forms", d.sent.forms, got.forms)
	for _, c := range campaigns {
		name := "  from " + c.source
		if c.source == "" {
			name = "  without a campaign"
		}
		row(name, d.sent.bySource[c.source], got.bySource[c.source])
	}
	row("events", d.sent.total(), got.total())
	for _, kind := range []string{pageViewed, downloadStarted, downloadCompleted} {
		row("  "+kind, d.sent.byType[kind], got.byType[kind])
	}
	row("  of bots", d.sent.bots, got.bots)
	row(fmt.Sprintf("counted twice, of %d sent again", d.sent.repeated), 0, max(0, got.total()-d.sent.total()))
	row("readers who saw a page", d.sent.views, got.views)
	row("view_count of all access links", d.sent.views, got.linkViews)
	wantLinks, wantViews, gotLinks, gotViews := 0, 0, 0, 0
	for email, summary := range got.emails {
		wantLinks += int(d.emails[email].links)
		wantViews += int(d.emails[email].views)
		gotLinks += int(summary.TotalLinks)
		gotViews += int(summary.TotalViews)
		if summary.TotalLinks != d.emails[email].links || summary.TotalViews != d.emails[email].views {
			agree = false
		}
	}
	addresses := fmt.Sprintf("%d email summaries: ", len(got.emails))
	row(addresses+"links", wantLinks, gotLinks)
	row(addresses+"views", wantViews, gotViews)
	if d.sent.invited > 0 {
		fmt.Fprintf(d.out, "\n%d readers got their link by the API: one address may send only so many forms (--capture-forms-per-hour).\n", d.sent.invited)
	}
	d.drawPages(got)
	if !agree || !sameCounts(d.sent.byPage, got.byPage) {
		return ErrDisagree
	}
	fmt.Fprintln(d.out, "\nWhat was sent and what the API answers agree.")
	return nil
}

// drawPages draws which pages were read, and for how long, as the API answers.
func (d *Demo) drawPages(got *answer) {
	numbers := make([]int, 0, len(got.byPage))
	highest := 1
	for page, n := range got.byPage {
		numbers = append(numbers, page)
		highest = max(highest, n)
	}
	slices.Sort(numbers)
	fmt.Fprint(d.out, "\nPage    views   time on it\n")
	for _, page := range numbers {
		n := got.byPage[page]
		mark := ""
		if d.sent.byPage[page] != n {
			mark = fmt.Sprintf("  ✗ %d sent", d.sent.byPage[page])
		}
		mean := time.Duration(got.durations[page]/int64(n)) * time.Millisecond
		fmt.Fprintf(d.out, "%4d   %6d   %7.1f s   %s%s\n", page, n, mean.Seconds(), strings.Repeat("▇", max(1, n*40/highest)), mark)
	}
}

func sameCounts(a, b map[int]int) bool {
	if len(a) != len(b) {
		return false
	}
	for k, n := range a {
		if b[k] != n {
			return false
		}
	}
	return true
}

// progress shows how far something is until the function that it returns is called: on a terminal
// as a bar, else as lines.
func (d *Demo) progress(name string, total int64, done *atomic.Int64) (stop func()) {
	terminal := false
	if f, ok := d.out.(*os.File); ok {
		info, err := f.Stat()
		terminal = err == nil && info.Mode()&os.ModeCharDevice != 0
	}
	show := func(end string) {
		n := done.Load()
		if terminal {
			fmt.Fprintf(d.out, "\r%s  %s %d of %d%s", name, bar(n, total), n, total, end)
		} else {
			fmt.Fprintf(d.out, "%s  %d of %d\n", name, n, total)
		}
	}
	interval := time.Second
	if terminal {
		interval = 50 * time.Millisecond
	}
	quit := make(chan struct{})
	var wait sync.WaitGroup
	wait.Go(func() {
		ticker := time.NewTicker(interval)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				show("")
			case <-quit:
				return
			}
		}
	})
	return func() {
		close(quit)
		wait.Wait()
		show("\n")
	}
}

func bar(n, total int64) string {
	const width = 30
	full := int(n * width / max(total, 1))
	return strings.Repeat("█", full) + strings.Repeat("░", width-full)
}

package report

import (
	"context"
	_ "embed" // for the statement
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"lodestone/query/scope"
)

//go:embed pages.sql
var pagesSQL string

// PagesQuestion asks how the pages of a lead magnet are read. Nil times do not bound.
type PagesQuestion struct {
	LeadMagnetID uuid.UUID
	Version      *int // nil: the newest one that was read in the time
	From, To     *time.Time
	Narrowed
}

// Pages tells how the pages of one version were read, by people.
type Pages struct {
	Version      *int // nil: none was read
	Pages        []Page
	ExcludedBots int64 // page views of bots that were left out
}

// Page is one page of a document. Of the first 10,000 there is every page of the version, and every
// page up to the last one viewed; then those viewed.
type Page struct {
	Number  int
	Reached int64 // readers whose furthest page is this one or a later one
	Stopped int64 // readers whose furthest page is this one
	// The same of people: all access links of an address are one.
	PeopleReached, PeopleStopped int64

	Views   int64
	Readers int64
	Reread  int64 // readers who viewed it more than once
	// Of the visible times of its views, in milliseconds, of those that have one; nil: none has one.
	Median, P90 *float64
}

// Pages reads the report.
func (r *Reporter) Pages(ctx context.Context, account uuid.UUID, q PagesQuestion) (Pages, error) {
	from, to := bounds(q.From, q.To)
	params := map[string]string{
		"lead_magnet": q.LeadMagnetID.String(), "version": `\N`,
		"from": strconv.FormatInt(from, 10), "to": strconv.FormatInt(to, 10),
	}
	if q.Version != nil {
		params["version"] = strconv.Itoa(*q.Version)
	}
	var answer Pages
	count := 0
	byNumber := map[int]Page{}
	visitTime := "created_at"
	if from%quarter.Milliseconds() == 0 && to%quarter.Milliseconds() == 0 {
		visitTime = quarterOf
	}
	sql := strings.NewReplacer("VISIT_TIME", visitTime, "/* conditions */", q.conditions(params)).Replace(pagesSQL)
	err := r.ch.Query(ctx, account, scope.Statement{Name: "pages of a lead magnet", SQL: sql, Params: params, Threads: 2,
		OneSnapshot: true}, func(row scope.Row) error {
		var number, version uint32
		var known bool
		var views, readers, stopped, people, reread uint64
		var times []float64
		if err := row.Scan(&number, &version, &known, &views, &readers, &stopped, &people, &reread, &times); err != nil {
			return fmt.Errorf("read page: %w", err)
		}
		if number == 0 {
			answer.ExcludedBots, count = int64(views), int(readers)
			if known {
				answer.Version = new(int(version))
			}
			return nil
		}
		page := Page{Number: int(number), Views: int64(views), Readers: int64(readers), Stopped: int64(stopped),
			PeopleStopped: int64(people), Reread: int64(reread)}
		if len(times) == 2 {
			page.Median, page.P90 = &times[0], &times[1]
		}
		byNumber[page.Number] = page
		return nil
	})
	if err != nil {
		return Pages{}, err
	}
	answer.Pages = inOrder(byNumber, count)
	return answer, nil
}

// maxGap bounds the pages that are listed although no one viewed them: a client can send any page
// up to a million.
const maxGap = 10_000

// inOrder returns the pages of a version in the order of their numbers, with how many readers
// reached each. A count of 0 is not known.
func inOrder(byNumber map[int]Page, count int) []Page {
	for number := range min(maxGap, slices.Max(append(slices.Collect(maps.Keys(byNumber)), count))) {
		if _, viewed := byNumber[number+1]; !viewed {
			byNumber[number+1] = Page{}
		}
	}
	pages := make([]Page, 0, len(byNumber))
	reached, people := int64(0), int64(0)
	for _, number := range slices.Backward(slices.Sorted(maps.Keys(byNumber))) {
		page := byNumber[number]
		reached, people = reached+page.Stopped, people+page.PeopleStopped
		page.Number, page.Reached, page.PeopleReached = number, reached, people
		pages = append(pages, page)
	}
	slices.Reverse(pages)
	return pages
}

// bounds returns the milliseconds since 1970 from which and before which events happened, which
// ClickHouse's times can have. Times are whole milliseconds in the table, so a bound between two of
// them moves to the later one.
func bounds(from, to *time.Time) (first, end int64) {
	first, end = 0, latest
	if from != nil {
		first = milliseconds(*from)
	}
	if to != nil {
		end = milliseconds(*to)
	}
	return first, end
}

// latest is a time after every event, in milliseconds since 1970: beyond it ClickHouse's days wrap.
var latest = time.Date(2149, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli()

func milliseconds(t time.Time) int64 {
	ms := t.UnixMilli()
	if t.After(time.UnixMilli(ms)) {
		ms++
	}
	return min(max(ms, 0), latest)
}

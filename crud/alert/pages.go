package alert

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"lodestone/crud/dashboard/frame"
	"lodestone/crud/web"
	"lodestone/pkg/timezone"
)

const (
	// maxNamed is how many pages an alert names, and pagesRead how many are asked for: some are
	// landing pages.
	maxNamed  = 3
	pagesRead = 10
	// byPage is the dimension of the pages from which visits come.
	byPage = "page_url"
)

// namePages says of the links that fell silent on which pages they were in the weeks before.
func (c *check) namePages(ctx context.Context) error {
	isOpen := map[key]bool{}
	for _, o := range c.open {
		isOpen[keyOf(o.RuleID, o.GenericLinkID, o.Direction)] = true
	}
	var begun []*fact
	for i, f := range c.facts {
		if f.direction == kindSilent && !isOpen[keyOf(f.rule.ID, f.link, f.direction)] {
			begun = append(begun, &c.facts[i])
		}
	}
	for some := range slices.Chunk(begun, pagesAsked) {
		queries := make([]frame.Query, len(some))
		for i, f := range some {
			last := timezone.AddDays(f.since.In(c.zone), 0)
			queries[i] = frame.Query{ID: strconv.Itoa(i), Metrics: []string{visitors}, Timezone: c.zone.String(),
				From:       timezone.AddDays(last, -7*weeks).Format(time.DateOnly),
				To:         timezone.AddDays(last, 1).Format(time.DateOnly),
				Dimensions: []string{byPage}, Filters: map[string][]any{byLink: {*f.link}}, Limit: pagesRead}
		}
		answers, err := c.deps.Numbers.Ask(ctx, c.account, queries)
		if err != nil {
			return err
		}
		for i, f := range some {
			f.pages = named(answers.Of(strconv.Itoa(i)).Rows)
		}
	}
	return nil
}

// named returns the pages to name, those with the most visitors first. Landing pages of Lodestone
// are among them only if there is nothing else: the link's name says where they are.
func named(rows []frame.Row) []string {
	pages := []string{}
	for _, row := range rows {
		if page := row.Text(byPage); page != "" && !row.Is("other") {
			pages = append(pages, page)
		}
	}
	isLanding := func(page string) bool {
		_, path, _ := strings.Cut(page, "/")
		return strings.HasPrefix("/"+path, web.LandingPath(""))
	}
	if own := slices.DeleteFunc(slices.Clone(pages), isLanding); len(own) > 0 {
		pages = own
	}
	return pages[:min(len(pages), maxNamed)]
}

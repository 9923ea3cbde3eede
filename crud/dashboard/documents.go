package dashboard

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"
	"time"

	"lodestone/crud/dashboard/frame"
	"lodestone/pkg/client"
)

// overviewFilters are those of the overview.
var overviewFilters = append([]string{frame.ByDocument, frame.ByLandings, frame.ByUTMSource, frame.ByCampaign,
	frame.ByDevice, frame.ByCountry}, frame.PeopleFilters()...)

// numberedMagnet is a lead magnet with its numbers of the period.
type numberedMagnet struct {
	client.LeadMagnet
	numbers frame.Row
}

// numbered returns the lead magnets with their numbers: all, or those that the filters leave.
func numbered(v *frame.Visit, magnets []client.LeadMagnet, a frame.Answer) (list []numberedMagnet) {
	byID := map[string]frame.Row{}
	for _, r := range a.Rows {
		byID[r.Text("lead_magnet_id")] = r
	}
	for _, m := range magnets {
		r, found := byID[m.ID]
		switch {
		case !found && v.Filters.Any():
			continue
		case !found:
			r = frame.Row{"people": 0.0, "visitors": 0.0, "submissions": 0.0, "verified": 0.0,
				"people_finished": 0.0, "people_downloaded": 0.0}
		}
		list = append(list, numberedMagnet{m, r})
	}
	return list
}

// magnetOrder is the metric that the address orders lead magnets by; "" if by none.
func magnetOrder(v *frame.Visit) string {
	if sort := v.R.URL.Query().Get("sort"); slices.Contains(magnetMetrics, sort) && v.Counts(sort) {
		return sort
	}
	return ""
}

// ordered returns lead magnets in the order that the address asks for. Numbers that are not there
// come last.
func ordered(v *frame.Visit, list []numberedMagnet) []numberedMagnet {
	order := cmp.Or(magnetOrder(v), "people")
	slices.SortStableFunc(list, func(a, b numberedMagnet) int {
		return cmp.Compare(b.numbers.Number(order), a.numbers.Number(order))
	})
	return list
}

// magnetRecord is a lead magnet in the file of the overview's list.
type magnetRecord struct {
	Title       string    `parquet:"title"`
	Active      bool      `parquet:"is_active"`
	CreatedAt   time.Time `parquet:"created_at"`
	Visitors    *float64  `parquet:"visitors"`
	Submissions *float64  `parquet:"submissions"`
	People      *float64  `parquet:"people"`
	Finished    *float64  `parquet:"people_finished"`
	FinishRate  *float64  `parquet:"people_finish_rate"`
	Downloaded  *float64  `parquet:"people_downloaded"`
}

// exportMagnets answers with the file of the overview's list: of all lead magnets, also those that
// are not listed for their age.
func exportMagnets(v *frame.Visit) error {
	v.ReadFilters(overviewFilters...)
	return frame.File(v, "documents", func(add func(magnetRecord) error) error {
		list, err := allMagnets(v)
		if err != nil {
			return err
		}
		for _, m := range ordered(v, list) {
			r := m.numbers
			err := add(magnetRecord{Title: m.Title, Active: m.IsActive, CreatedAt: m.CreatedAt,
				Visitors: r.Known("visitors"), Submissions: r.Known("submissions"), People: r.Known("people"),
				Finished: r.Known("people_finished"), FinishRate: r.Known("people_finish_rate"),
				Downloaded: r.Known("people_downloaded")})
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// allMagnets returns all lead magnets that the filters leave, with their numbers.
func allMagnets(v *frame.Visit) (list []numberedMagnet, err error) {
	one := v.Filters.Get(frame.ByDocument)
	for page := 1; ; page++ {
		found, err := frame.Get[client.Page[client.LeadMagnet]](v, magnetsPath,
			url.Values{"per_page": {"100"}, "page": {strconv.Itoa(page)}})
		if err != nil {
			return nil, err
		}
		magnets := slices.DeleteFunc(found.Data, func(m client.LeadMagnet) bool { return one != "" && m.ID != one })
		if len(magnets) > 0 {
			var ids []any
			for _, m := range magnets {
				ids = append(ids, m.ID)
			}
			b, err := v.Ask(frame.Query{ID: byMagnet, Metrics: frame.FunnelMetrics(), Dimensions: []string{"lead_magnet_id"},
				Filters: map[string][]any{"lead_magnet_id": ids}, Limit: len(ids), Alone: true})
			if err != nil {
				return nil, err
			}
			list = append(list, numbered(v, magnets, b.Of(byMagnet))...)
		}
		if int64(page) >= found.Pagination.TotalPages {
			return list, nil
		}
	}
}

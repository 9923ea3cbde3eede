package link

import (
	"net/url"
	"strconv"

	"golang.org/x/sync/errgroup"

	"lodestone/crud/dashboard/frame"
	"lodestone/pkg/chart"
	"lodestone/pkg/client"
)

// perPage is how many links a page of the list has.
const perPage = 50

// columns are the numbers of each link in the list.
var columns = []string{"visitors", "submissions", "submission_rate", "people", "people_finish_rate"}

type listData struct {
	Links     []listRow
	Magnet    string // title of the one that the list is of
	New       string
	Everyone  string // address of the list of all links
	Total     int64
	Previous  string
	Next      string
	Oldest    bool   // they are listed first
	Turned    string // address of the list in the other order
	NoMagnets bool
	Away      bool // there are no numbers for now
}

type listRow struct {
	Name, Slug, URL, Screen, Magnet string
	Active                          bool
	Numbers                         []frame.Figure
}

// showList lists the generic links, of one lead magnet or of all.
func (s *Screens) showList(v *frame.Visit) error {
	asked := v.R.URL.Query()
	query := url.Values{"per_page": {strconv.Itoa(perPage)}}
	if id := asked.Get("magnet"); id != "" {
		query.Set("lead_magnet_id", id)
	}
	oldest := asked.Get("sort") == "created_at"
	if oldest {
		query.Set("sort", "created_at")
	}
	page := 1
	if n, err := strconv.Atoi(asked.Get("page")); err == nil && n > 1 {
		page = n
		query.Set("page", strconv.Itoa(n))
	}
	var (
		group   errgroup.Group
		links   client.Page[genericLink]
		magnets []client.LeadMagnet
	)
	group.Go(func() (err error) {
		links, err = frame.Get[client.Page[genericLink]](v, linksPath, query)
		return err
	})
	group.Go(func() (err error) {
		magnets, err = listMagnets(v)
		return err
	})
	if err := group.Wait(); err != nil {
		return err
	}
	titles := map[string]string{}
	for _, m := range magnets {
		titles[m.ID] = m.Title
	}
	data := listData{
		Magnet: titles[asked.Get("magnet")], New: v.Path(screenPath + "/new"), Everyone: v.Link(screenPath),
		Total: links.Pagination.Total, NoMagnets: len(magnets) == 0,
		Oldest: oldest, Turned: turned(v, screenPath, oldest, "created_at"),
	}
	if id := asked.Get("magnet"); id != "" {
		data.New += "?" + url.Values{"magnet": {id}}.Encode()
	}
	if page > 1 {
		data.Previous = pageOf(v, page-1)
	}
	if int64(page) < links.Pagination.TotalPages {
		data.Next = pageOf(v, page+1)
	}
	screen := frame.Screen{Title: v.Say("frame.nav.links"), Nav: frame.Links, Periods: len(links.Data) > 0}
	if len(links.Data) > 0 {
		answers, err := v.Ask(frame.Query{ID: "links", Metrics: columns, Dimensions: []string{"generic_link_id"},
			Filters: map[string][]any{"generic_link_id": ids(links.Data)}})
		data.Away = frame.IsAway(err) // the links themselves are in another store
		if err != nil && !data.Away {
			return err
		}
		data.Links = listRows(v, links.Data, titles, answers.Of("links"), data.Away)
		screen.AsOf, screen.Bots = answers.AsOf, answers.Bots
	}
	screen.Data = data
	return v.Show(s.list, screen)
}

// listMagnets returns the newest lead magnets.
func listMagnets(v *frame.Visit) ([]client.LeadMagnet, error) {
	found, err := frame.Get[client.Page[client.LeadMagnet]](v, magnetsPath, url.Values{"per_page": {"100"}})
	return found.Data, err
}

func ids(links []genericLink) (list []any) {
	for i := range links {
		list = append(list, links[i].ID)
	}
	return list
}

func pageOf(v *frame.Visit, page int) string {
	q := v.R.URL.Query()
	q.Set("page", strconv.Itoa(page))
	return v.Path(screenPath) + "?" + q.Encode()
}

func listRows(v *frame.Visit, links []genericLink, titles map[string]string, a frame.Answer,
	away bool) (list []listRow) {
	byID := map[string]frame.Row{}
	for _, r := range a.Rows {
		byID[r.Text("generic_link_id")] = r
	}
	for i := range links {
		l := &links[i]
		row := listRow{Slug: l.Slug, URL: l.URL, Screen: v.Link(screenPath + "/" + l.ID),
			Magnet: titles[l.LeadMagnetID], Active: l.Active}
		row.Name = row.Magnet
		if l.Title != nil {
			row.Name = *l.Title
		}
		if row.Name == "" {
			row.Name = l.Slug
		}
		numbers, found := byID[l.ID]
		if !found && !away {
			numbers = frame.Row{"visitors": 0.0, "submissions": 0.0, "people": 0.0}
		}
		for _, metric := range columns {
			f := v.Figure(numbers, metric)
			f.Before = chart.Gap()
			row.Numbers = append(row.Numbers, f)
		}
		list = append(list, row)
	}
	return list
}

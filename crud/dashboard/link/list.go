package link

import (
	"cmp"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"

	"lodestone/crud/dashboard/frame"
	"lodestone/crud/view"
	"lodestone/pkg/chart"
	"lodestone/pkg/client"
)

// perPage is how many links a page of the list has.
const perPage = 50

// maxRanked is how many links are compared by a number of the period: as many as a question takes.
const maxRanked = 1000

// columns are the numbers of each link in the list.
var columns = []string{"visitors", "submissions", "submission_rate", "people", "people_finished", "people_finish_rate"}

// sorts are the orders of the list, by their names in its address. One that is a metric compares
// the numbers of the period.
var (
	sorts = []frame.Option{{Value: "", Words: "link.sort.newest"}, {Value: "created_at", Words: "link.sort.oldest"},
		{Value: "visitors", Words: "link.sort.visitors"}, {Value: "submissions", Words: "link.sort.submissions"},
		{Value: "people_finished", Words: "link.sort.finished"}}
)

type listData struct {
	Links     []listRow
	Q         string
	Keep      url.Values // of the address, what the form does not have
	Sorts     []frame.Option
	Narrowed  bool
	New       string
	Everyone  string // address of the list of all links
	Archived  string
	Total     int64
	Previous  string
	Next      string
	NoMagnets bool
	Away      bool // there are no numbers for now
}

type listRow struct {
	Name, Slug, Screen, Magnet, Tag, Day string
	Numbers                              []frame.Figure
}

// listed are the links of a page, with their numbers.
type listed struct {
	links   []genericLink
	total   int64
	answers frame.Batch
	away    error // why there are no numbers for now; nil: there are
}

// showList lists the generic links that match, with their numbers.
func (s *Screens) showList(v *frame.Visit) error {
	asked := v.R.URL.Query()
	if magnet := asked.Get("magnet"); magnet != "" { // the name that the parameter had
		return v.Redirect(screenPath + "?" + frame.Renamed(asked, "magnet", frame.ByDocument).Encode())
	}
	if err := v.Narrow(view.Links, listFilters...); err != nil {
		return err
	}
	query := listQuery(v)
	file := view.Beginning(asked)
	file.Del("list")
	v.Bar.CSV = v.Path(screenPath+".csv") + "?" + file.Encode()
	page := 1
	if n, err := strconv.Atoi(asked.Get("page")); err == nil && n > 1 {
		page = n
	}
	var (
		group   errgroup.Group
		found   listed
		magnets []client.LeadMagnet
	)
	group.Go(func() (err error) {
		if metric := ranking(v); metric != "" {
			found, err = rank(v, query, metric)
			first := min((page-1)*perPage, len(found.links))
			found.links = found.links[first:min(first+perPage, len(found.links))]
			return err
		}
		found, err = readList(v, query, page, perPage)
		return err
	})
	group.Go(func() (err error) {
		magnets, err = listMagnets(v)
		return err
	})
	if err := group.Wait(); err != nil {
		return err
	}
	data := newList(v, &found, magnets, page)
	data.Narrowed = query.Has(frame.ByDocument) || query.Has("status") || query.Has("q")
	return v.Show(s.list, frame.Screen{Title: v.Say("frame.nav.links"), Nav: frame.Links, Periods: len(found.links) > 0,
		AsOf: found.answers.AsOf, Bots: found.answers.Bots, Data: data})
}

// listFilters are those of the list.
var listFilters = []string{frame.ByDocument, frame.ByPage, frame.ByUTMSource, frame.ByCampaign, frame.ByDevice,
	frame.ByCountry}

// listQuery returns the question for the links that the address asks for.
func listQuery(v *frame.Visit) url.Values {
	query, asked := v.Filters.Query(frame.ByDocument, frame.ByPage), v.R.URL.Query()
	if q := strings.TrimSpace(asked.Get("q")); q != "" {
		query.Set("q", q)
	}
	if asked.Get("sort") == "created_at" {
		query.Set("sort", "created_at")
	}
	return query
}

// ranking is the number of the period by which the address orders the list; "" if by none.
func ranking(v *frame.Visit) string {
	if metric := v.R.URL.Query().Get("sort"); slices.Contains(columns, metric) && v.Counts(metric) {
		return metric
	}
	return ""
}

// readList returns a page of the links with their numbers.
func readList(v *frame.Visit, query url.Values, page, size int) (l listed, err error) {
	query.Set("page", strconv.Itoa(page))
	query.Set("per_page", strconv.Itoa(size))
	found, err := frame.Get[client.Page[genericLink]](v, linksPath, query)
	if err != nil {
		return l, err
	}
	l = listed{links: found.Data, total: found.Pagination.Total}
	return l, l.ask(v)
}

// ask adds the numbers of the links.
func (l *listed) ask(v *frame.Visit) error {
	if len(l.links) == 0 {
		return nil
	}
	var err error
	l.answers, err = v.Ask(frame.Query{ID: "links", Metrics: columns, Dimensions: []string{"generic_link_id"},
		Filters: map[string][]any{"generic_link_id": ids(l.links)}, Limit: maxRanked})
	if frame.IsAway(err) { // the links themselves are in another store
		l.away = err
		return nil
	}
	return err
}

// rank returns the links that match in the order of a number of the period, the highest first. Of
// more than maxRanked links, it compares the newest.
func rank(v *frame.Visit, query url.Values, metric string) (l listed, err error) {
	query.Set("per_page", "100")
	for n, more := 1, true; more && len(l.links) < maxRanked; n++ {
		query.Set("page", strconv.Itoa(n))
		found, err := frame.Get[client.Page[genericLink]](v, linksPath, query)
		if err != nil {
			return l, err
		}
		l.links, l.total = append(l.links, found.Data...), found.Pagination.Total
		more = int64(n) < found.Pagination.TotalPages
	}
	l.total = min(l.total, maxRanked)
	if err := l.ask(v); err != nil {
		return l, err
	}
	numbers := map[string]float64{}
	for _, r := range l.answers.Of("links").Rows {
		numbers[r.Text("generic_link_id")] = r.Number(metric)
	}
	slices.SortStableFunc(l.links, func(a, b genericLink) int { return cmp.Compare(numbers[b.ID], numbers[a.ID]) })
	return l, nil
}

func newList(v *frame.Visit, found *listed, magnets []client.LeadMagnet, page int) listData {
	asked := v.R.URL.Query()
	titles := map[string]string{}
	for _, m := range magnets {
		titles[m.ID] = m.Title
	}
	data := listData{
		Q: asked.Get("q"), Keep: v.Period.Query(),
		Sorts: chosen(worded(v, sorts), asked.Get("sort")),
		New:   v.Path(screenPath + "/new"), Everyone: v.Link(screenPath), Total: found.total, NoMagnets: len(magnets) == 0,
		Archived: v.Path(screenPath) + "?status=archived", Away: found.away != nil,
		Links: listRows(v, found.links, titles, found.answers.Of("links"), found.away != nil),
	}
	maps.Copy(data.Keep, v.Filters.Query())
	if id := v.Filters.Get(frame.ByDocument); id != "" {
		data.New += "?" + url.Values{"magnet": {id}}.Encode()
	}
	if page > 1 {
		data.Previous = pageOf(v, page-1)
	}
	if int64(page*perPage) < found.total {
		data.Next = pageOf(v, page+1)
	}
	return data
}

// worded returns the options that the filters leave, with the texts of which their words are the
// keys.
func worded(v *frame.Visit, options []frame.Option) (list []frame.Option) {
	for _, o := range options {
		if v.Counts(o.Value) {
			list = append(list, frame.Option{Value: o.Value, Words: v.Say(o.Words)})
		}
	}
	return list
}

// chosen marks the option that has a value.
func chosen(options []frame.Option, value string) []frame.Option {
	for i := range options {
		options[i].Chosen = options[i].Value == value
	}
	return options
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
	q := view.Beginning(v.R.URL.Query())
	q.Set("page", strconv.Itoa(page))
	return v.Path(screenPath) + "?" + q.Encode()
}

// zeros are the numbers of a link that no one saw.
func zeros(v *frame.Visit) frame.Row {
	numbers := frame.Row{}
	for _, metric := range []string{"visitors", "submissions", "people", "people_finished"} {
		if v.Counts(metric) { // else no link has it
			numbers[metric] = 0.0
		}
	}
	return numbers
}

func listRows(v *frame.Visit, links []genericLink, titles map[string]string, a frame.Answer,
	away bool) (list []listRow) {
	byID := map[string]frame.Row{}
	for _, r := range a.Rows {
		byID[r.Text("generic_link_id")] = r
	}
	for i := range links {
		l := &links[i]
		row := listRow{Slug: l.Slug, Screen: v.Item(screenPath + "/" + l.ID), Tag: l.tag(v),
			Day: v.Date(l.CreatedAt.In(v.Period.Zone))}
		if row.Name = l.Name(); l.Label() == nil && titles[l.LeadMagnetID] != "" {
			row.Name = titles[l.LeadMagnetID]
		} else {
			row.Magnet = titles[l.LeadMagnetID]
		}
		numbers := byID[l.ID]
		if numbers == nil && !away {
			numbers = zeros(v)
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

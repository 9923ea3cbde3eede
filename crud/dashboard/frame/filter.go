package frame

import (
	"errors"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"lodestone/crud/view"
)

// Filters that lists and reports can be narrowed by. Each is a parameter of a screen's address, as
// the API calls it.
const (
	ByDocument  = "lead_magnet_id"
	ByLandings  = "generic_link_id"
	ByUTMSource = "utm_source"
	ByCampaign  = "utm_campaign"
	ByReferrer  = "referrer_host"
	ByDevice    = "device"
	ByCountry   = "country"
	ByVersion   = "magnet_version"
	ByAnswer    = "field"
	ByStatus    = "status" // of a person
	ByState     = "state"  // of a submission
	ByPage      = "page_status"
	ByInvited   = "invited" // state of a recipient

	// without is the parameter that names the sources which people do not have.
	without = "without"
)

// sourced are the filters that people may have no value of.
var sourced = []string{ByUTMSource, ByCampaign, ByReferrer}

// ofEvents are the filters of events, which every report takes.
var ofEvents = []string{ByDocument, ByLandings, ByUTMSource, ByCampaign, ByReferrer, ByDevice, ByCountry, ByVersion}

// ofPeople are the filters of people: what these did is counted.
var ofPeople = []string{"finished", "downloaded", "reached", "stopped_at", "min_pages", "from_form", ByStatus, ByAnswer}

// ofReaders are the filters of the list of readers.
var ofReaders = slices.Concat(ofEvents, ofPeople, []string{"opened"})

// PeopleFilters are the filters of people that reports take.
func PeopleFilters() []string { return slices.Clone(ofPeople) }

// ReaderFilters are the filters of the list of readers.
func ReaderFilters() []string { return slices.Clone(ofReaders) }

// formMetrics are the metrics that know no device and no country, and viewMetrics those of
// visitors. Neither know what people did later.
var (
	formMetrics = []string{"submissions", "verified", "confirmations", "submission_rate", "open_rate"}
	viewMetrics = []string{"link_views", "visitors", "submission_rate"}
)

// Filters are those of a screen: which it can have, and which its address asks for.
type Filters struct {
	names []string
	asked url.Values // as the address has them
}

// parameter is the name that a filter has in addresses.
func parameter(filter string) string {
	switch filter {
	case ByPage:
		return "status"
	case ByInvited:
		return "state"
	default:
		return filter
	}
}

// newFilters reads the filters that a screen has from an address.
func newFilters(q url.Values, names []string) Filters {
	f := Filters{names, url.Values{}}
	for _, name := range names {
		name = parameter(name)
		if list := slices.DeleteFunc(slices.Clone(q[name]), func(s string) bool { return s == "" }); len(list) > 0 {
			if name != ByAnswer {
				list = list[:1]
			}
			f.asked[name] = list
		}
	}
	for _, name := range sourced {
		if slices.Contains(names, name) && slices.Contains(q[without], name) {
			f.asked.Add(without, name)
			f.asked.Del(name)
		}
	}
	return f
}

// Any reports whether the address asks for a filter.
func (f Filters) Any() bool { return len(f.asked) > 0 }

// Get returns what the address asks of a filter; "" if nothing.
func (f Filters) Get(filter string) string { return f.asked.Get(parameter(filter)) }

// Query returns the filters as parameters: those of the names, or all without names.
func (f Filters) Query(names ...string) url.Values {
	q := url.Values{}
	for name, list := range f.asked {
		if name == without && len(names) > 0 {
			list = slices.DeleteFunc(slices.Clone(list), func(one string) bool { return !slices.Contains(names, one) })
		}
		wanted := func(filter string) bool { return parameter(filter) == name && slices.Contains(names, filter) }
		if len(list) > 0 && (len(names) == 0 || name == without || slices.ContainsFunc(f.names, wanted)) {
			q[name] = list
		}
	}
	return q
}

// ReportQuery returns the filters that numbers of readers take, as parameters, and EventQuery those
// of events alone.
func (f Filters) ReportQuery() url.Values { return f.Query(slices.Concat(ofEvents, ofPeople)...) }

// EventQuery is explained at ReportQuery.
func (f Filters) EventQuery() url.Values { return f.Query(ofEvents...) }

// people returns the filters of people as a question has them; nil for none.
func (f Filters) people() map[string]any {
	people := map[string]any{}
	for name, list := range f.Query(ofPeople...) {
		n, err := strconv.Atoi(list[0])
		switch {
		case isYesOrNo(name):
			people[name] = list[0] != "false"
		case name == ByAnswer:
			people[name] = list
		case name == ByStatus || err != nil: // a number that is none is refused by the API
			people[name] = list[0]
		default:
			people[name] = n
		}
	}
	if len(people) == 0 {
		return nil
	}
	return people
}

// narrow adds the filters to a question. Those that it has itself stay. It loses the metrics that
// the filters leave out.
func (f Filters) narrow(q *Query) {
	filters := map[string][]any{}
	for name, list := range f.EventQuery() {
		switch name {
		case without:
			for _, none := range list {
				filters[none] = []any{nil}
			}
		case ByVersion:
			continue // which only screens of people have
		default:
			filters[name] = []any{list[0]}
		}
	}
	maps.Copy(filters, q.Filters)
	q.Filters, q.People = filters, f.people()
	q.Metrics = slices.DeleteFunc(slices.Clone(q.Metrics), f.leaveOut)
}

// leaveOut reports whether the filters leave out a metric.
func (f Filters) leaveOut(metric string) bool {
	people := f.people() != nil
	return slices.Contains(formMetrics, metric) && (people || f.formless()) ||
		slices.Contains(viewMetrics, metric) && people
}

// formless reports whether numbers of forms are left out: forms know no device and no country.
func (f Filters) formless() bool { return f.Get(ByDevice) != "" || f.Get(ByCountry) != "" }

// Counts reports whether questions of the visit have a metric: filters leave some out.
func (v *Visit) Counts(metric string) bool {
	return !v.Filters.leaveOut(metric)
}

// FilterNames are what the filters that are on are called; "" without any.
func (v *Visit) FilterNames() string { return v.NamesOf(v.Filters.names...) }

// PeopleFilterNames are what those are called that are of people.
func (v *Visit) PeopleFilterNames() string { return v.NamesOf(ofPeople...) }

// NamesOf returns what those of some filters are called that are on.
func (v *Visit) NamesOf(filters ...string) string {
	var names []string
	for _, name := range filters {
		value := v.Filters.Get(name)
		switch {
		case value != "" && isYesOrNo(name):
			names = append(names, v.yesOrNo(name, value))
		case value != "" || slices.Contains(v.Filters.asked[without], name):
			names = append(names, v.Say("filter."+name))
		}
	}
	return strings.Join(names, ", ")
}

// errPlace is the error of an address that is none of the dashboard.
var errPlace = errors.New("is no address of the dashboard")

// Place reads the address of a screen, which a form has.
func placeOf(text string) (path string, q url.Values, err error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "" || u.Host != "" || u.Opaque != "" ||
		u.Path != "/dashboard" && !strings.HasPrefix(u.Path, "/dashboard/") {
		return "", nil, errPlace
	}
	return u.EscapedPath(), u.Query(), nil
}

// AddFilter returns the address of a screen with one more filter. chosen is a part of an address.
func AddFilter(place, chosen string) (string, error) {
	path, q, err := placeOf(place)
	if err != nil {
		return "", err
	}
	more, err := url.ParseQuery(chosen)
	if err != nil {
		return "", errPlace
	}
	return path + suffix(withFilter(q, more)), nil
}

// withFilter returns the parameters of an address with another filter, from the beginning of its
// list.
func withFilter(q, more url.Values) url.Values {
	q = view.Beginning(q)
	for name, list := range more {
		value := strings.TrimSpace(list[0])
		switch {
		case value == "":
		case name == ByAnswer || name == without:
			if !slices.Contains(q[name], value) {
				q.Add(name, value)
			}
		default:
			q.Set(name, value)
		}
		if name == without {
			q.Del(value)
		} else if value != "" {
			drop(q, without, name)
		}
	}
	return q
}

// drop removes a value of a parameter from an address.
func drop(q url.Values, name, value string) {
	q[name] = slices.DeleteFunc(slices.Clone(q[name]), func(one string) bool { return one == value })
	if len(q[name]) == 0 {
		q.Del(name)
	}
}

func suffix(q url.Values) string {
	if len(q) == 0 {
		return ""
	}
	return "?" + q.Encode()
}

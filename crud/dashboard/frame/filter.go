package frame

import (
	"errors"
	"maps"
	"net/url"
	"slices"
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

// inReports are the filters that questions of metrics take.
var inReports = []string{ByDocument, ByLandings, ByUTMSource, ByCampaign, ByReferrer, ByDevice, ByCountry, ByVersion}

// ofReaders are the filters of the list of readers.
var ofReaders = slices.Concat(inReports, []string{"finished", "downloaded", "opened", "reached", "stopped_at",
	"min_pages", "from_form", ByStatus, ByAnswer})

// ReaderFilters are the filters of the list of readers.
func ReaderFilters() []string { return slices.Clone(ofReaders) }

// formMetrics are the metrics that know no device and no country.
var formMetrics = []string{"submissions", "verified", "confirmations", "submission_rate", "open_rate"}

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
		if len(list) > 0 && (len(names) == 0 || name == without || slices.Contains(names, name)) {
			q[name] = list
		}
	}
	return q
}

// ReportQuery returns the filters that reports take, as parameters.
func (f Filters) ReportQuery() url.Values { return f.Query(inReports...) }

// narrow adds the filters to a question. Those that it has itself stay. Forms know no device and no
// country: a question that is narrowed by these is not about them.
func (f Filters) narrow(q *Query) {
	filters := map[string][]any{}
	for name, list := range f.ReportQuery() {
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
	if q.Filters = filters; f.formless() {
		q.Metrics = slices.DeleteFunc(slices.Clone(q.Metrics), func(m string) bool { return slices.Contains(formMetrics, m) })
	}
}

// formless reports whether numbers of forms are left out.
func (f Filters) formless() bool { return f.Get(ByDevice) != "" || f.Get(ByCountry) != "" }

// Counts reports whether questions of the visit have a metric: filters leave some out.
func (v *Visit) Counts(metric string) bool {
	return !v.Filters.formless() || !slices.Contains(formMetrics, metric)
}

// FilterNames are what the filters that are on are called; "" without any.
func (v *Visit) FilterNames() string {
	var names []string
	for _, name := range v.Filters.names {
		if v.Filters.Get(name) != "" || slices.Contains(v.Filters.asked[without], name) {
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

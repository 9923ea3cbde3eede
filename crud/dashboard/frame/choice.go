package frame

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"lodestone/crud/field"
	"lodestone/crud/recipient"
	"lodestone/crud/view"
	entity "lodestone/pkg/client"
)

// fixed returns the values of a filter that the account or the product lays down.
func (v *Visit) fixed(name string) (list []Option) {
	named := func(values ...string) (list []Option) {
		for _, value := range values {
			list = append(list, Option{Value: value, Words: v.Say("filter." + name + "." + value)})
		}
		return list
	}
	switch name {
	case ByDevice:
		return named("desktop", "mobile", "tablet", "other", "unknown")
	case ByState:
		return named("awaiting_verification", "ready", "viewed")
	case ByPage:
		return named("open", "closed", "archived", "all")
	case ByInvited:
		for _, state := range recipient.State("").EnumValues() {
			list = append(list, Option{Value: state, Words: v.Say("recipient.state." + state)})
		}
	case ByStatus:
		for _, status := range v.Statuses() {
			list = append(list, Option{Value: status, Words: status})
		}
	}
	return list
}

// maxChoices is how many values a filter offers.
const maxChoices = 100

// ask adds the form of the filter that the address wants to add.
func (v *Visit) ask(name string) (err error) {
	if name == "" || !slices.Contains(v.Filters.names, name) || yesOrNo[name] != nil {
		return nil
	}
	a := adding{Label: v.Say("filter." + name), Kind: "choice", Name: parameter(name),
		Cancel: v.at(view.Beginning(v.R.URL.Query()))}
	switch name {
	case "stopped_at", "reached", "min_pages", ByVersion:
		a.Kind = "number"
	case ByAnswer:
		a.Kind = "answer"
		if a.Options, err = v.answerKeys(); err == nil {
			a.search(v, v.Bar.links.Pagination.Total)
		}
	case ByDocument:
		a.Options, a.Total, err = v.documents(v.R.URL.Query().Get("find"))
		a.search(v, a.Total)
	case ByLandings:
		if a.Options, err = v.landings(); err == nil {
			a.search(v, v.Bar.links.Pagination.Total)
		}
	case ByUTMSource, ByCampaign, ByReferrer, ByCountry:
		var more bool
		if a.Options, more, err = v.seen(name); more {
			a.Kind = "text"
			if slices.Contains(sourced, name) {
				a.None = v.at(withFilter(v.R.URL.Query(), url.Values{without: {name}}))
			}
		}
	default:
		a.Options = v.fixed(name)
	}
	for i, o := range a.Options {
		switch {
		case a.Kind != "choice":
		case o.Value == "" && slices.Contains(sourced, name):
			a.Options[i].Value = without + "=" + name
		default:
			a.Options[i].Value = url.Values{a.Name: {o.Value}}.Encode()
		}
	}
	v.Bar.Adding = &a
	return err
}

// search offers a search if there are more values than options, or one was made.
func (a *adding) search(v *Visit, total int64) {
	a.Total, a.Find = 0, v.R.URL.Query().Get("find")
	if total > maxChoices || a.Find != "" {
		a.Total, a.Keep = total, view.Beginning(v.R.URL.Query())
		a.Keep.Set("add", v.R.URL.Query().Get("add"))
	}
}

// Documents returns the newest lead magnets, to choose from: their ids and titles.
func (v *Visit) Documents() ([]Option, error) {
	list, _, err := v.documents("")
	return list, err
}

// documents returns the newest lead magnets whose title contains a text, and how many there are in
// all.
func (v *Visit) documents(text string) (list []Option, total int64, err error) {
	for page := 1; len(list) < maxChoices; page++ {
		found, err := Get[entity.Page[entity.LeadMagnet]](v, "/api/v1/lead-magnets",
			url.Values{"per_page": {fmt.Sprint(maxChoices)}, "page": {fmt.Sprint(page)}})
		if err != nil {
			return nil, 0, err
		}
		for _, m := range found.Data {
			if strings.Contains(strings.ToLower(m.Title), strings.ToLower(text)) {
				list = append(list, Option{Value: m.ID, Words: m.Title})
			}
		}
		if total = found.Pagination.Total; text == "" || int64(page) >= found.Pagination.TotalPages {
			break
		}
	}
	return list[:min(len(list), maxChoices)], total, nil
}

// links are the landing pages that the screen can be about, or those that are searched.
func (v *Visit) links() ([]linkChoice, error) {
	if v.Bar.links != nil {
		return v.Bar.links.Data, nil
	}
	if strings.HasPrefix(v.R.URL.Path, "/dashboard/links/") {
		one, err := Get[linkChoice](v, "/api/v1/generic-links/"+url.PathEscape(v.R.PathValue("id")), nil)
		v.Bar.links = &entity.Page[linkChoice]{Data: []linkChoice{one}}
		return v.Bar.links.Data, err
	}
	q := url.Values{"per_page": {fmt.Sprint(maxChoices)}, "status": {"all"}}
	find := strings.TrimSpace(v.R.URL.Query().Get("find"))
	if find != "" && v.R.URL.Query().Get("add") != ByDocument { // documents are searched, not these
		q.Set("q", find)
	}
	if id := v.Filters.Get(ByDocument); id != "" {
		q.Set(ByDocument, id)
	} else if strings.HasPrefix(v.R.URL.Path, "/dashboard/magnets/") {
		q.Set(ByDocument, v.R.PathValue("id"))
	}
	found, err := Get[entity.Page[linkChoice]](v, "/api/v1/generic-links", q)
	v.Bar.links = &found
	return found.Data, err
}

type linkChoice struct {
	entity.GenericLink
	Fields field.List `json:"fields"`
}

func (v *Visit) landings() (list []Option, err error) {
	found, err := v.links()
	for i := range found {
		list = append(list, Option{Value: found[i].ID, Words: nameOf(&found[i].GenericLink) + " (/l/" + found[i].Slug + ")"})
	}
	return list, err
}

// answerKeys are the fields of forms, each once.
func (v *Visit) answerKeys() (list []Option, err error) {
	found, err := v.links()
	for i := range found {
		for _, f := range found[i].Fields {
			if !slices.ContainsFunc(list, func(o Option) bool { return o.Value == f.Key }) {
				list = append(list, Option{Value: f.Key, Words: f.Label})
			}
		}
	}
	return list, err
}

// seen are the values of a dimension in the period, those of most people first, and whether there
// are more.
func (v *Visit) seen(dimension string) (list []Option, more bool, err error) {
	q := Query{ID: dimension, Metrics: []string{"people", "visitors"}, Dimensions: []string{dimension},
		Limit: maxChoices, Alone: true}
	// Whatever else the screen is narrowed by, all values can be chosen.
	narrowed := v.Filters
	v.Filters = Filters{}
	answers, err := v.Ask(q)
	v.Filters = narrowed
	for _, r := range answers.Of(dimension).Rows {
		switch value := r.Text(dimension); {
		case r.Is("other"):
			more = true
		case value == "" && dimension == ByCountry:
		case value == "":
			list = append(list, Option{Words: v.Say("filter.none")})
		default:
			list = append(list, Option{Value: value, Words: value})
		}
	}
	return list, more, err
}

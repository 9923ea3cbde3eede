package link

import (
	"net/http"
	"net/url"

	"golang.org/x/sync/errgroup"

	"lodestone/crud/dashboard/frame"
	"lodestone/crud/link"
	"lodestone/pkg/client"
)

const templatesPath = "/api/v1/utm-templates"

// parameters are those of a campaign, with their names in a template of the API.
var parameters = []struct{ query, field string }{
	{"utm_source", "source"}, {"utm_medium", "medium"}, {"utm_campaign", "campaign"},
	{"utm_content", "content"}, {"utm_term", "term"},
}

// campaignData is the screen that makes addresses for campaigns. What is in its own address is in
// the one that it makes.
type campaignData struct {
	Link      *genericLink
	Self      string
	Form      frame.Form
	Query     url.Values // the parameters that are given
	Address   string     // "": none is
	QR        string
	Save      frame.Form
	Chosen    *savedCampaign // template that the form may replace; nil: none
	Templates []savedCampaign
}

// savedCampaign is a template with the address of this link.
type savedCampaign struct {
	ID, Name, URL string
	Template      string // id of the API
	Use           string // address of the screen with its parameters
	Change        string
	Remove        string
}

// queryOf returns the parameters of a template.
func queryOf(t *link.Template) url.Values {
	q := url.Values{}
	for i, value := range []*string{t.Source, t.Medium, t.Campaign, t.Content, t.Term} {
		if value != nil {
			q.Set(parameters[i].query, *value)
		}
	}
	return q
}

// campaigns shows the form, and the address that it makes.
func (s *Screens) campaigns(v *frame.Visit) error {
	return s.drawCampaigns(v, http.StatusOK, given(v.R.URL.Query()), frame.Form{})
}

// given returns the parameters of a campaign that have a value.
func given(from url.Values) url.Values {
	q := url.Values{}
	for _, p := range parameters {
		if value := from.Get(p.query); value != "" {
			q.Set(p.query, value)
		}
	}
	return q
}

func (s *Screens) drawCampaigns(v *frame.Visit, status int, query url.Values, save frame.Form) error {
	var (
		group errgroup.Group
		l     genericLink
		saved client.Page[link.Template]
	)
	group.Go(func() (err error) {
		l, err = frame.Get[genericLink](v, path(v), nil)
		return err
	})
	group.Go(func() (err error) {
		saved, err = frame.Get[client.Page[link.Template]](v, templatesPath,
			url.Values{"generic_link_id": {v.R.PathValue("id")}, "per_page": {"100"}})
		return err
	})
	if err := group.Wait(); err != nil {
		return missing(err)
	}
	screen := v.Path(self(v) + "/campaigns")
	d := campaignData{Link: &l, Self: self(v), Form: frame.Form{Values: query}, Query: query, Save: save}
	if len(query) > 0 {
		d.Address = campaignOf(query).Add(l.URL)
		d.QR = v.Path(self(v)+"/qr") + "?" + query.Encode()
	}
	for i := range saved.Data {
		one := &saved.Data[i]
		id := one.ID.String()
		row := savedCampaign{ID: "t" + id, Template: id, Name: one.Name,
			Use: screen + "?" + url.Values{"template": {id}}.Encode() + "&" + queryOf(one).Encode(), Change: screen + "/" + id,
			Remove: screen + "/" + id + "/delete"}
		if one.URL != nil {
			row.URL = *one.URL
		}
		d.Templates = append(d.Templates, row)
		if id == v.R.URL.Query().Get("template") {
			d.Chosen = &row
		}
	}
	return v.ShowStatus(s.campaign, status,
		frame.Screen{Title: v.Say("link.campaigns") + " – " + l.Name(), Nav: frame.Links, Data: d})
}

func campaignOf(q url.Values) link.Campaign {
	value := func(name string) *string {
		if text := q.Get(name); text != "" {
			return &text
		}
		return nil
	}
	return link.Campaign{Source: value("utm_source"), Medium: value("utm_medium"), Name: value("utm_campaign"),
		Content: value("utm_content"), Term: value("utm_term")}
}

// changeCampaign gives a template other parameters. Addresses that carry the old ones keep working.
func (s *Screens) changeCampaign(v *frame.Visit) error {
	typed, err := read(v)
	if err != nil {
		return err
	}
	body := map[string]any{}
	for _, p := range parameters {
		body[p.field] = frame.Optional(typed.Get(p.query))
	}
	_, err = frame.Send[link.Template](v, http.MethodPatch, templatesPath+"/"+url.PathEscape(v.R.PathValue("template")),
		body, nil)
	if f, ok := frame.Rejected(typed, err); ok {
		f.Detail = f.Any()
		return s.drawCampaigns(v, http.StatusUnprocessableEntity, given(typed), f)
	}
	if err != nil {
		return err
	}
	return v.Redirect(self(v) + "/campaigns?" + given(typed).Encode())
}

// saveCampaign keeps the parameters under a name, for every link of the account.
func (s *Screens) saveCampaign(v *frame.Visit) error {
	typed, err := read(v)
	if err != nil {
		return err
	}
	body := map[string]any{"name": typed.Get("name")}
	for _, p := range parameters {
		if value := typed.Get(p.query); value != "" {
			body[p.field] = value
		}
	}
	_, err = frame.Send[link.Template](v, http.MethodPost, templatesPath, body, nil)
	if f, ok := frame.Rejected(typed, err); ok {
		if f.Detail == "" && f.Message("name") == "" { // about a parameter
			f.Detail = f.Any()
		}
		return s.drawCampaigns(v, http.StatusUnprocessableEntity, given(typed), f)
	}
	if err != nil {
		return err
	}
	return v.Redirect(self(v) + "/campaigns?" + given(typed).Encode())
}

// removeCampaign deletes a template. Addresses that carry its parameters keep working.
func (s *Screens) removeCampaign(v *frame.Visit) error {
	if _, err := frame.Send[frame.Nothing](v, http.MethodDelete,
		templatesPath+"/"+url.PathEscape(v.R.PathValue("template")), nil, nil); err != nil {
		return err
	}
	return v.Redirect(self(v) + "/campaigns")
}

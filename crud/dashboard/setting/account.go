package setting

import (
	"errors"
	"maps"
	"net/http"
	"net/url"
	"strings"

	"golang.org/x/sync/errgroup"

	"lodestone/crud/account"
	"lodestone/crud/dashboard/frame"
	"lodestone/crud/picture"
	"lodestone/crud/web"
	"lodestone/pkg/problem"
)

const (
	accountPath = "/api/v1/account"
	logoPath    = accountPath + "/logo"
)

type accountData struct {
	frame.Form
	Done      string
	Logo      *picture.Logo
	LogoForm  frame.Form
	Upload    string
	Preview   preview
	Languages []frame.Option
	Fonts     []frame.Option
	Zones     []string
}

// showAccount shows the account. Its address may hold a name and a colour to preview: the page's
// script asks for them while they are typed.
func (s *Screens) showAccount(v *frame.Visit) error {
	return s.drawAccount(v, http.StatusOK, frame.Form{}, frame.Form{})
}

// tried returns what is to be previewed.
func tried(v *frame.Visit, typed frame.Form) frame.Form {
	asked := v.R.URL.Query()
	if v.R.Method != http.MethodGet || !asked.Has("preview") {
		return typed
	}
	return frame.Form{Values: asked}
}

// drawAccount shows the account, or what was typed about it and refused.
func (s *Screens) drawAccount(v *frame.Visit, status int, typed, logo frame.Form) error {
	var (
		group errgroup.Group
		own   account.Account
		image *picture.Logo
	)
	group.Go(func() (err error) {
		own, err = frame.Get[account.Account](v, accountPath, nil)
		return err
	})
	group.Go(func() error {
		found, err := frame.Get[picture.Logo](v, logoPath, nil)
		if problem.Is(err, problem.NotFound) {
			return nil
		}
		image = &found
		return err
	})
	if err := group.Wait(); err != nil {
		return err
	}
	if typed.Values == nil {
		typed.Values = accountValues(&own)
	}
	logo.ID = "logo"
	d := accountData{
		Form: typed, Done: done(v), Logo: image, LogoForm: logo, Upload: v.UploadTo(screenPath + "/logo"),
		Preview: previewOf(&own, tried(v, typed), image), Zones: zones,
		Fonts: []frame.Option{{Value: "system", Words: v.Say("setting.account.font.system")},
			{Value: "inter", Words: "Inter"}},
		Languages: frame.Languages(v.Say("setting.account.language.visitor")),
	}
	return s.show(v, "account", "setting.account", status, d)
}

// zones are time zones to choose from. Every other one of the IANA database can be typed.
var zones = []string{
	"UTC", "Europe/London", "Europe/Berlin", "Europe/Paris", "Europe/Madrid", "Europe/Rome", "Europe/Amsterdam",
	"Europe/Warsaw", "Europe/Zurich", "Europe/Vienna",
	"Europe/Lisbon", "Europe/Stockholm", "Europe/Helsinki", "Europe/Athens", "Europe/Istanbul", "America/New_York",
	"America/Chicago", "America/Denver",
	"America/Los_Angeles", "America/Toronto", "America/Sao_Paulo", "America/Mexico_City", "Africa/Lagos",
	"Africa/Johannesburg", "Asia/Dubai", "Asia/Kolkata",
	"Asia/Singapore", "Asia/Shanghai", "Asia/Tokyo", "Australia/Sydney", "Pacific/Auckland",
}

// accountFields are the fields of the form.
var accountFields = []string{"name", "brand_font", "timezone", "brand_color", "language", "open_statuses",
	"closed_statuses"}

func accountValues(a *account.Account) url.Values {
	q := url.Values{"name": {a.Name}, "brand_font": {string(a.BrandFont)}, "timezone": {a.Timezone},
		"open_statuses": {strings.Join(a.OpenStatuses, ", ")}, "closed_statuses": {strings.Join(a.ClosedStatuses, ", ")}}
	if a.BrandColor != nil {
		q.Set("brand_color", *a.BrandColor)
	}
	if a.Language != nil {
		q.Set("language", string(*a.Language))
	}
	return frame.Remember(q, accountFields...)
}

// changeAccount saves how the account looks.
func (s *Screens) changeAccount(v *frame.Visit) error {
	typed, err := form(v)
	if err != nil {
		return err
	}
	body := map[string]any{
		"name": typed.Get("name"), "brand_font": typed.Get("brand_font"),
		"timezone":    strings.TrimSpace(typed.Get("timezone")),
		"brand_color": frame.Optional(typed.Get("brand_color")), "language": frame.Optional(typed.Get("language")),
	}
	for _, name := range []string{"open_statuses", "closed_statuses"} {
		if typed.Has(name) {
			body[name] = listed(typed.Get(name))
		}
	}
	maps.DeleteFunc(body, func(name string, _ any) bool { return !frame.Changed(typed, name) })
	_, err = frame.Send[account.Account](v, http.MethodPatch, accountPath, body, nil)
	if f, ok := frame.Rejected(typed, err); ok {
		return s.drawAccount(v, http.StatusUnprocessableEntity, f, frame.Form{})
	}
	if err != nil {
		return err
	}
	return s.redirect(v, "", "saved")
}

// listed are the words of a list with commas.
func listed(list string) []string {
	all := []string{}
	for word := range strings.SplitSeq(list, ",") {
		if word = strings.TrimSpace(word); word != "" {
			all = append(all, word)
		}
	}
	return all
}

// uploadLogo replaces the logo.
func (s *Screens) uploadLogo(v *frame.Visit) error {
	_, found, err := frame.PassUpload[picture.Logo](v, http.MethodPut, logoPath)
	f, rejected := frame.Rejected(nil, err)
	switch {
	case err == nil && !found:
		f.Detail = v.Say("setting.account.logo.choose")
	case !rejected && err != nil:
		return err
	case !rejected:
		return s.redirect(v, "", "logo")
	}
	return s.drawAccount(v, http.StatusUnprocessableEntity, frame.Form{},
		frame.Form{Wrong: map[string]string{"file": f.Any()}})
}

// removeLogo removes the logo. One that is gone is as good as removed.
func (s *Screens) removeLogo(v *frame.Visit) error {
	_, err := frame.Send[frame.Nothing](v, http.MethodDelete, logoPath, nil, nil)
	if err != nil && !problem.Is(err, problem.NotFound) {
		return err
	}
	return s.redirect(v, "", "saved")
}

// form returns what was typed.
func form(v *frame.Visit) (url.Values, error) {
	if err := v.R.ParseForm(); err != nil {
		return nil, web.BadForm(err)
	}
	return v.R.PostForm, nil
}

// conflict returns the form of an action without fields that the API refused, such as removing the
// last owner.
func conflict(err error) (frame.Form, bool) {
	p, ok := errors.AsType[*problem.Problem](err)
	if !ok || p.Code != problem.Conflict && p.Code != problem.RateLimited {
		return frame.Form{}, false
	}
	return frame.Form{Detail: p.Detail}, true
}

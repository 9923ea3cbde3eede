package setting

import (
	"cmp"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"lodestone/crud/account"
	"lodestone/crud/alert"
	"lodestone/crud/dashboard/frame"
	"lodestone/pkg/client"
	"lodestone/pkg/problem"
)

const (
	alertRulesPath = "/api/v1/alert-rules"
	alertsPath     = "/api/v1/alerts"
)

type alertsData struct {
	frame.Form
	Done    string
	Open    int
	Alerts  list[alertRow]
	Rules   list[ruleRow]
	Starts  []frame.Option // rules that serve most accounts and are not there yet, by their kinds
	Kinds   []frame.Option
	Metrics []frame.Option
	Abouts  []frame.Option
	Sending frame.Form // whether mails are sent, and the quiet hours
}

type alertRow struct {
	alert.Alert
	About, Words string
	Began, Ended frame.Instant
}

type ruleRow struct {
	alert.Rule
	About, Words, Number string
}

func (s *Screens) showAlerts(v *frame.Visit) error {
	return s.drawAlerts(v, http.StatusOK, frame.Form{}, frame.Form{})
}

func (s *Screens) drawAlerts(v *frame.Visit, status int, typed, sending frame.Form) error {
	own, err := frame.Get[account.Account](v, accountPath, nil)
	if err != nil {
		return err
	}
	d := alertsData{Form: typed, Done: done(v), Sending: sending}
	d.Sending.ID = "sending"
	if d.Sending.Values == nil {
		d.Sending.Values = url.Values{"alert_notices": {strconv.FormatBool(own.Alerts)}}
		for name, at := range map[string]*string{"quiet_from": own.QuietFrom, "quiet_until": own.QuietUntil} {
			if at != nil {
				d.Sending.Values.Set(name, *at)
			}
		}
	}
	if d.Alerts, err = read(v, alertsPath, nil, func(a alert.Alert) alertRow {
		if a.EndedAt == nil {
			d.Open++
		}
		return alertRow{a, about(v, a.Subject), alertWords(v, a), v.WhenOf(&a.CreatedAt), v.WhenOf(a.EndedAt)}
	}); err != nil {
		return err
	}
	has := map[alert.Kind]bool{}
	if d.Rules, err = read(v, alertRulesPath, nil, func(r alert.Rule) ruleRow {
		has[r.Kind] = true
		return ruleRow{r, about(v, r.Subject), ruleWords(v, r.Subject), v.Label(string(r.Metric))}
	}); err != nil {
		return err
	}
	for i, kind := range alert.Kinds() {
		d.Kinds = append(d.Kinds, frame.Option{Value: string(kind), Words: v.Say("setting.alerts.kind." + string(kind))})
		if i < 2 && !has[kind] {
			d.Starts = append(d.Starts, frame.Option{Value: string(kind), Words: v.Say("setting.alerts.start." + string(kind))})
		}
	}
	for _, metric := range alert.Metrics() {
		d.Metrics = append(d.Metrics, frame.Option{Value: string(metric), Words: v.Label(string(metric))})
	}
	if v.MayWrite() {
		if d.Abouts, err = abouts(v); err != nil {
			return err
		}
	}
	return s.show(v, "alerts", "setting.alerts", status, d)
}

// abouts are what a rule can watch: everything, or one of the newest documents and links.
func abouts(v *frame.Visit) ([]frame.Option, error) {
	options := []frame.Option{{Words: v.Say("setting.alerts.all")}}
	magnets, err := v.Documents()
	if err != nil {
		return nil, err
	}
	for _, m := range magnets {
		options = append(options, frame.Option{Value: frame.ByDocument + ":" + m.Value, Words: m.Words})
	}
	links, err := frame.Get[client.Page[client.GenericLink]](v, "/api/v1/generic-links", url.Values{"per_page": {"100"}})
	if err != nil {
		return nil, err
	}
	for _, l := range links.Data {
		options = append(options, frame.Option{Value: frame.ByLandings + ":" + l.ID, Words: "/" + l.Slug})
	}
	return options, nil
}

func about(v *frame.Visit, s alert.Subject) string {
	if s.Name == nil {
		return v.Say("setting.alerts.all")
	}
	return *s.Name
}

func ruleWords(v *frame.Visit, s alert.Subject) string {
	words := v.Say("setting.alerts.kind." + string(s.Kind))
	if s.Threshold != nil {
		words += " " + strconv.FormatInt(*s.Threshold, 10)
	}
	return words
}

func alertWords(v *frame.Visit, a alert.Alert) string {
	args := []any{"metric", v.Label(string(a.Metric)), "value", a.Value, "day", v.Date(a.Since.In(v.Period.Zone))}
	switch {
	case a.Direction == "silent" && len(a.Pages) > 0:
		return v.Say("setting.alerts.is.silent_pages",
			append(args, "pages", strings.Join(a.Pages, ", "), "time", v.WhenOf(&a.Since).Text)...)
	case a.Direction == "silent":
		return v.Say("setting.alerts.is.silent", append(args, "time", v.WhenOf(&a.Since).Text)...)
	case a.UsualLow != nil && a.UsualHigh != nil:
		return v.Say("setting.alerts.is.unusual", append(args, "low", *a.UsualLow, "high", *a.UsualHigh)...)
	case a.Threshold != nil:
		return v.Say("setting.alerts.is."+string(a.Direction), append(args, "threshold", *a.Threshold)...)
	}
	return ""
}

// createRule adds a rule. Errors about what it watches stand at the field that chooses it.
func (s *Screens) createRule(v *frame.Visit) error {
	typed, err := form(v)
	if err != nil {
		return err
	}
	body := map[string]any{"kind": typed.Get("kind"), "metric": cmp.Or(typed.Get("metric"), string(alert.Metrics()[0])),
		"utm_campaign": frame.Optional(typed.Get("utm_campaign"))}
	if field, id, found := strings.Cut(typed.Get("about"), ":"); found {
		body[field] = id
	}
	if text := strings.TrimSpace(typed.Get("threshold")); text != "" {
		body["threshold"] = text
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			body["threshold"] = n
		}
	}
	_, err = frame.Send[alert.Rule](v, http.MethodPost, alertRulesPath, body, nil)
	if f, ok := frame.Rejected(typed, err); ok {
		if message := cmp.Or(f.Wrong["lead_magnet_id"], f.Wrong["generic_link_id"]); message != "" {
			f.Wrong["about"] = message
		}
		return s.drawAlerts(v, http.StatusUnprocessableEntity, f, frame.Form{})
	}
	if err != nil {
		return err
	}
	return s.redirect(v, "/alerts", "saved")
}

func (s *Screens) deleteRule(v *frame.Visit) error {
	path := alertRulesPath + "/" + url.PathEscape(v.R.PathValue("id"))
	_, err := frame.Send[frame.Nothing](v, http.MethodDelete, path, nil, nil)
	if err != nil && !problem.Is(err, problem.NotFound) {
		return err
	}
	return s.redirect(v, "/alerts", "deleted")
}

// changeSending saves whether alerts are mailed, and the quiet hours.
func (s *Screens) changeSending(v *frame.Visit) error {
	typed, err := form(v)
	if err != nil {
		return err
	}
	_, err = frame.Send[account.Account](v, http.MethodPatch, accountPath, map[string]any{
		"alert_notices": typed.Get("alert_notices") != "",
		"quiet_from":    frame.Optional(typed.Get("quiet_from")), "quiet_until": frame.Optional(typed.Get("quiet_until")),
	}, nil)
	if f, ok := frame.Rejected(typed, err); ok {
		return s.drawAlerts(v, http.StatusUnprocessableEntity, frame.Form{}, f)
	}
	if err != nil {
		return err
	}
	return s.redirect(v, "/alerts", "saved")
}

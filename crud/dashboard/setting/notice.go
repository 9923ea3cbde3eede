package setting

import (
	"maps"
	"net/http"
	"net/url"
	"strconv"

	"github.com/google/uuid"

	"lodestone/crud/account"
	"lodestone/crud/dashboard/frame"
	"lodestone/crud/user"
	"lodestone/pkg/auth"
)

type noticesData struct {
	frame.Form
	Done      string
	Address   string
	Confirmed bool
	MayAsk    bool // the session may change the address
	When      []frame.Option
	Readers   []frame.Option // when mails about readers come
	Report    *frame.Form    // of the person's own weekly report; nil: an API key signed in
	ReportTo  string
}

func (s *Screens) showNotices(v *frame.Visit) error {
	return s.drawNotices(v, http.StatusOK, frame.Form{})
}

func (s *Screens) drawNotices(v *frame.Visit, status int, typed frame.Form) error {
	own, err := frame.Get[account.Account](v, accountPath, nil)
	if err != nil {
		return err
	}
	d := noticesData{Form: typed, Done: done(v), Confirmed: own.Confirmed, MayAsk: v.MaySeePeople()}
	for _, when := range []string{"each", "daily", "none"} {
		d.When = append(d.When, frame.Option{Value: when, Words: v.Say("setting.notices.when." + when)})
		d.Readers = append(d.Readers, frame.Option{Value: when, Words: v.Say("setting.notices.readers." + when)})
	}
	if person := v.Session.UserID; person != uuid.Nil {
		report, err := frame.Get[user.WeeklyReport](v, reportPath(person), nil)
		if err != nil {
			return err
		}
		d.ReportTo, d.Report = report.Email, &frame.Form{Values: url.Values{"enabled": {strconv.FormatBool(report.Enabled)}}}
	}
	if own.NotifyEmail != nil {
		d.Address = *own.NotifyEmail
	}
	if d.Values == nil {
		d.Values = url.Values{"notify": {string(own.Notify)}, "reading_notices": {string(own.Readings)},
			"notify_email": {d.Address}, "weekly_report": {strconv.FormatBool(own.Weekly)}}
		frame.Remember(d.Values, "notify", "reading_notices", "notify_email", "weekly_report")
	}
	return s.show(v, "notices", "setting.notices", status, d)
}

func reportPath(person uuid.UUID) string { return usersPath + "/" + person.String() + "/weekly-report" }

// changeReport saves whether the person gets the weekly report.
func (s *Screens) changeReport(v *frame.Visit) error {
	typed, err := form(v)
	if err != nil {
		return err
	}
	_, err = frame.Send[user.WeeklyReport](v, http.MethodPut, reportPath(v.Session.UserID),
		map[string]any{"enabled": typed.Get("enabled") != ""}, nil)
	if err != nil {
		return err
	}
	return s.redirect(v, "/notices", "saved")
}

// changeNotices saves where notices go, and when. An address that was not confirmed is asked once
// more.
func (s *Screens) changeNotices(v *frame.Visit) error {
	typed, err := form(v)
	if err != nil {
		return err
	}
	own, err := frame.Get[account.Account](v, accountPath, nil)
	if err != nil {
		return err
	}
	// browsers leave a box out that is not ticked
	typed.Set("weekly_report", strconv.FormatBool(typed.Get("weekly_report") != ""))
	body := map[string]any{"notify": typed.Get("notify"), "weekly_report": typed.Get("weekly_report") == "true"}
	if readers := typed.Get("reading_notices"); readers != "" {
		body["reading_notices"] = readers
	}
	address := frame.Optional(typed.Get("notify_email"))
	same := address == nil && own.NotifyEmail == nil || address != nil && own.NotifyEmail != nil &&
		*address == *own.NotifyEmail
	maps.DeleteFunc(body, func(name string, _ any) bool { return !frame.Changed(typed, name) })
	if (!same && frame.Changed(typed, "notify_email") || same && !own.Confirmed && address != nil) && v.May(auth.Leads) {
		body["notify_email"] = address
	}
	changed, err := frame.Send[account.Account](v, http.MethodPatch, accountPath, body, nil)
	if f, ok := frame.Rejected(typed, err); ok {
		return s.drawNotices(v, http.StatusUnprocessableEntity, f)
	}
	if err != nil {
		return err
	}
	if changed.NotifyEmail != nil && !changed.Confirmed {
		return s.redirect(v, "/notices", "asked")
	}
	return s.redirect(v, "/notices", "saved")
}

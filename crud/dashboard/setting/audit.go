package setting

import (
	"net/http"
	"net/url"
	"strings"

	"lodestone/crud/dashboard/frame"
	"lodestone/crud/user"
)

const auditPath = "/api/v1/audit-log"

type auditData struct {
	Entries list[entryRow]
	Action  string // the one that the list is of
	All     string // address of the whole log
}

type entryRow struct {
	user.Entry
	When frame.When
	What string
	With string
	Only string // address of the entries with the same action
}

// showAudit lists who did what.
func (s *Screens) showAudit(v *frame.Visit) error {
	query := url.Values{}
	action := v.R.URL.Query().Get("action")
	if action != "" {
		query.Set("action", action)
	}
	found, err := read[user.Entry](v, auditPath, query)
	if err != nil {
		return err
	}
	d := auditData{Action: words(action), All: v.Path(screenPath + "/audit"), Entries: list[entryRow]{Total: found.Total, Newer: found.Newer, Older: found.Older}}
	for _, e := range found.Rows {
		row := entryRow{Entry: e, When: v.WhenOf(&e.At), What: words(e.Action), With: v.Say("setting.a_key"), Only: d.All + "?" + url.Values{"action": {e.Action}}.Encode()}
		if e.SessionID != nil {
			row.With = v.Say("setting.audit.dashboard")
		}
		d.Entries.Rows = append(d.Entries.Rows, row)
	}
	return s.show(v, "audit", "setting.audit", http.StatusOK, d)
}

// words writes an action, which is a word of the API, as a sentence begins.
func words(action string) string {
	text := strings.ReplaceAll(action, "-", " ")
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

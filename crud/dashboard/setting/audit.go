package setting

import (
	"net/http"
	"net/url"

	"github.com/google/uuid"

	"lodestone/crud/dashboard/frame"
	"lodestone/crud/user"
)

const auditPath = "/api/v1/audit-log"

type auditData struct {
	Entries list[entryRow]
	Action  string // what the entries of the list did; "": the list is the whole log
	All     string // address of the whole log
}

type entryRow struct {
	user.Entry
	When   frame.Instant
	What   string
	With   string
	Only   string // address of the entries with the same action
	Name   string // of the object; "": it is gone, or has none
	Screen string // address of the object's screen; "": it has none
}

// showAudit lists who did what.
func (s *Screens) showAudit(v *frame.Visit) error {
	query := url.Values{}
	action := v.R.URL.Query().Get("action")
	if action != "" {
		query.Set("action", action)
	}
	d := auditData{All: v.Path(screenPath + "/audit")}
	if action != "" {
		d.Action = did(v, action)
	}
	var err error
	d.Entries, err = read(v, auditPath, query, func(e user.Entry) entryRow {
		row := entryRow{Entry: e, When: v.WhenOf(&e.At), What: did(v, e.Action), With: v.Say("setting.a_key"),
			Only: d.All + "?" + url.Values{"action": {e.Action}}.Encode()}
		if e.SessionID != nil {
			row.With = v.Say("setting.audit.dashboard")
		}
		if e.Object == nil {
			return row
		}
		if path := screenOf(e.ObjectID, e.Object); path != "" {
			row.Screen = v.Path(path)
		}
		if e.Object.Name != nil {
			row.Name = *e.Object.Name
		}
		return row
	})
	if err != nil {
		return err
	}
	return s.show(v, "audit", "setting.audit", http.StatusOK, d)
}

// did returns the words for an action. One that no operation has any more keeps its name in the
// API.
func did(v *frame.Visit, action string) string {
	key := "setting.audit.did." + action
	if text := v.Say(key); text != key {
		return text
	}
	return action
}

// screenOf returns the path of the screen that shows an object, or the list that has it.
func screenOf(id *uuid.UUID, o *user.Object) string {
	parent := ""
	if o.ParentID != nil {
		parent = o.ParentID.String()
	}
	return map[string]string{
		"lead_magnet": "/dashboard/magnets/" + id.String(), "generic_link": "/dashboard/links/" + id.String(),
		"access_link": "/dashboard/readers/" + id.String(),
		"submission":  "/dashboard/links/" + parent, "share": "/dashboard/magnets/" + parent + "/shares",
		"webhook": screenPath + "/webhooks/" + id.String(), "key": screenPath + "/keys",
		"alert_rule": screenPath + "/alerts",
		"user":       screenPath + "/people", "invitation": screenPath + "/people", "session": screenPath + "/sessions",
	}[string(o.Type)]
}

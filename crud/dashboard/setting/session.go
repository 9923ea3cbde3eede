package setting

import (
	"net/http"
	"strings"

	"github.com/google/uuid"

	"lodestone/crud/dashboard/frame"
	"lodestone/crud/user"
)

const sessionsPath = "/api/v1/sessions"

type sessionsData struct {
	Done     string
	Sessions list[sessionRow]
	Person   bool // signed in, and not an API key
}

type sessionRow struct {
	user.Session
	Who, How, Browser     string
	Started, Active, Ends frame.Instant
}

func (s *Screens) showSessions(v *frame.Visit) error {
	sessions, err := read(v, sessionsPath, nil, func(one user.Session) sessionRow {
		row := sessionRow{
			Session: one, Who: v.Say("setting.a_key"), How: v.Say("setting.sessions.by." + string(one.Method)),
			Browser: browser(v, one.UserAgent),
			Started: v.WhenOf(&one.StartedAt), Active: v.WhenOf(&one.LastActiveAt), Ends: v.WhenOf(&one.EndsAt),
		}
		if one.Email != nil {
			row.Who = *one.Email
		}
		return row
	})
	if err != nil {
		return err
	}
	return s.show(v, "sessions", "setting.sessions", http.StatusOK,
		sessionsData{done(v), sessions, v.Session.UserID != uuid.Nil})
}

// browser shortens the name that a browser gave itself.
func browser(v *frame.Visit, agent string) string {
	name, system := "", ""
	for _, known := range [][2]string{{"Edg/", "Edge"}, {"OPR/", "Opera"}, {"Firefox/", "Firefox"},
		{"Chrome/", "Chrome"}, {"Safari/", "Safari"}} {
		if strings.Contains(agent, known[0]) {
			name = known[1]
			break
		}
	}
	for _, known := range [][2]string{{"Android", "Android"}, {"iPhone", "iPhone"}, {"iPad", "iPad"},
		{"Windows", "Windows"}, {"Mac OS X", "macOS"}, {"Linux", "Linux"}} {
		if strings.Contains(agent, known[0]) {
			system = known[1]
			break
		}
	}
	switch {
	case name == "":
		return agent
	case system == "":
		return name
	default:
		return v.Say("setting.sessions.browser_on", "name", name, "system", system)
	}
}

// endSession signs a browser out: also this one.
func (s *Screens) endSession(v *frame.Visit) error {
	if _, err := frame.Send[frame.Nothing](v, http.MethodDelete, sessionsPath+"/"+id(v), nil, nil); err != nil {
		return err
	}
	return s.redirect(v, "/sessions", "ended")
}

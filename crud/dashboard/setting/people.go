package setting

import (
	"net/http"
	"net/url"

	"golang.org/x/sync/errgroup"

	"lodestone/crud/dashboard/frame"
	"lodestone/crud/user"
	"lodestone/pkg/auth"
)

const (
	usersPath       = "/api/v1/users"
	invitationsPath = "/api/v1/invitations"
)

type peopleData struct {
	Form        frame.Form
	Refused     string // why an action without fields failed
	Done        string
	People      list[personRow]
	Invitations []invitationRow
	Roles       []frame.Option
}

type personRow struct {
	user.User
	Self  bool
	Seen  frame.Instant
	Roles []frame.Option
}

type invitationRow struct {
	user.Invitation
	Until frame.Instant
}

func (s *Screens) showPeople(v *frame.Visit) error {
	return s.drawPeople(v, http.StatusOK, frame.Form{Values: url.Values{"role": {string(auth.Editor)}}}, "")
}

func (s *Screens) drawPeople(v *frame.Visit, status int, typed frame.Form, refused string) error {
	var (
		group   errgroup.Group
		d       = peopleData{Form: typed, Refused: refused, Done: done(v)}
		invited list[invitationRow]
	)
	group.Go(func() (err error) {
		d.People, err = read(v, usersPath, nil, func(p user.User) personRow {
			row := personRow{User: p, Self: p.ID == v.Session.UserID, Seen: v.WhenOf(p.LastSeenAt)}
			for _, r := range auth.Roles() {
				row.Roles = append(row.Roles,
					frame.Option{Value: string(r), Words: v.Say("setting.role." + string(r)), Chosen: r == p.Role})
			}
			return row
		})
		return err
	})
	group.Go(func() (err error) {
		invited, err = read(v, invitationsPath, nil,
			func(i user.Invitation) invitationRow { return invitationRow{i, v.WhenOf(&i.ExpiresAt)} })
		return err
	})
	if err := group.Wait(); err != nil {
		return err
	}
	for _, r := range auth.Roles() {
		d.Roles = append(d.Roles, frame.Option{Value: string(r), Words: v.Say("setting.may." + string(r))})
	}
	d.Invitations = invited.Rows
	return s.show(v, "people", "setting.people", status, d)
}

// invite mails an invitation.
func (s *Screens) invite(v *frame.Visit) error {
	typed, err := form(v)
	if err != nil {
		return err
	}
	_, err = frame.Send[user.Invitation](v, http.MethodPost, invitationsPath, map[string]any{"email": typed.Get("email"),
		"role": typed.Get("role")}, nil)
	if f, ok := frame.Rejected(typed, err); ok {
		return s.drawPeople(v, http.StatusUnprocessableEntity, f, "")
	}
	if err != nil {
		return err
	}
	return s.redirect(v, "/people", "invited")
}

// changeRole changes what a person may do.
func (s *Screens) changeRole(v *frame.Visit) error {
	_, err := frame.Send[user.User](v, http.MethodPatch, usersPath+"/"+id(v),
		map[string]any{"role": v.R.PostFormValue("role")}, nil)
	return s.afterPerson(v, err, "role")
}

// removePerson takes a person out of the account.
func (s *Screens) removePerson(v *frame.Visit) error {
	_, err := frame.Send[frame.Nothing](v, http.MethodDelete, usersPath+"/"+id(v), nil, nil)
	return s.afterPerson(v, err, "removed")
}

// removeInvitation takes an invitation back.
func (s *Screens) removeInvitation(v *frame.Visit) error {
	_, err := frame.Send[frame.Nothing](v, http.MethodDelete, invitationsPath+"/"+id(v), nil, nil)
	return s.afterPerson(v, err, "removed")
}

func (s *Screens) afterPerson(v *frame.Visit, err error, done string) error {
	if f, ok := conflict(err); ok {
		return s.drawPeople(v, http.StatusConflict, frame.Form{}, f.Detail)
	}
	if err != nil {
		return err
	}
	return s.redirect(v, "/people", done)
}

// id returns the id in the address of a screen, for a path of the API.
func id(v *frame.Visit) string { return url.PathEscape(v.R.PathValue("id")) }

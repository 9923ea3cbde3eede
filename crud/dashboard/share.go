package dashboard

import (
	"net/http"
	"net/url"
	"time"

	"golang.org/x/sync/errgroup"

	"lodestone/crud/dashboard/frame"
	"lodestone/crud/share"
	"lodestone/crud/web"
	"lodestone/pkg/chart"
	"lodestone/pkg/client"
)

// sharesData is the screen of the links that show a lead magnet's statistics.
type sharesData struct {
	Title, Self string
	Rows        []shareRow
	Form        frame.Form
	Made        string // address of the link that was just made, which is shown once
}

type shareRow struct {
	ID, Name, Created, Views string
	Last, Until              frame.Instant
	HasPassword, Expired     bool
}

// shares lists the links, with the form that makes one.
func (d *Dashboard) shares(v *frame.Visit) error {
	return d.showShares(v, http.StatusOK, frame.Form{}, "")
}

func (d *Dashboard) showShares(v *frame.Visit, status int, f frame.Form, made string) error {
	var (
		magnet client.LeadMagnet
		found  client.Page[share.Share]
		group  errgroup.Group
	)
	group.Go(func() (err error) {
		magnet, err = frame.Get[client.LeadMagnet](v, magnetPath(v), nil)
		return err
	})
	group.Go(func() (err error) {
		found, err = frame.Get[client.Page[share.Share]](v, magnetPath(v)+"/shares", url.Values{"per_page": {"100"}})
		return err
	})
	if err := group.Wait(); err != nil {
		return err
	}
	data := sharesData{Title: magnet.Title, Self: magnetSelf(v), Form: f, Made: made}
	for i := range found.Data {
		one := &found.Data[i]
		row := shareRow{
			ID: one.ID.String(), Created: v.Date(one.CreatedAt.In(v.Period.Zone)), Views: chart.Count(float64(one.ViewCount)),
			Last: v.WhenOf(one.LastViewedAt), Until: v.WhenOf(one.ExpiresAt),
			HasPassword: one.HasPassword, Expired: one.ExpiresAt != nil && one.ExpiresAt.Before(time.Now()),
		}
		if one.Name != nil {
			row.Name = *one.Name
		}
		data.Rows = append(data.Rows, row)
	}
	return v.ShowStatus(d.screens["shares"], status, frame.Screen{Title: v.Say("magnet.shares") + " – " + magnet.Title,
		Nav: frame.Overview, Data: data})
}

// newShare makes a link, and shows its address once.
func (d *Dashboard) newShare(v *frame.Visit) error {
	if err := v.R.ParseForm(); err != nil {
		return web.BadForm(err)
	}
	typed := v.R.PostForm
	body := map[string]any{"name": frame.Optional(typed.Get("name")), "password": nil, "expires_at": nil}
	if password := typed.Get("password"); password != "" {
		body["password"] = password
	}
	if text := typed.Get("expires_at"); text != "" {
		at, ok := v.EndOfDay(text)
		if !ok {
			typed.Del("password")
			return d.showShares(v, http.StatusUnprocessableEntity,
				frame.Form{Values: typed, Wrong: map[string]string{"expires_at": v.Say("magnet.shares.day")}}, "")
		}
		body["expires_at"] = at
	}
	made, err := frame.Send[share.NewShare](v, http.MethodPost, magnetPath(v)+"/shares", body, nil)
	if f, ok := frame.Rejected(typed, err); ok {
		return d.showShares(v, http.StatusUnprocessableEntity, f, "")
	}
	if err != nil {
		return err
	}
	return d.showShares(v, http.StatusCreated, frame.Form{}, made.URL)
}

// revokeShare ends a link at once.
func (d *Dashboard) revokeShare(v *frame.Visit) error {
	path := magnetPath(v) + "/shares/" + url.PathEscape(v.R.PathValue("share"))
	if _, err := frame.Send[frame.Nothing](v, http.MethodDelete, path, nil, nil); err != nil {
		return err
	}
	return v.Redirect(magnetSelf(v) + "/shares")
}

package link

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"lodestone/crud/dashboard/frame"
	"lodestone/crud/embed"
)

// light shows whether the tag works.
type light struct{ Tone, Short, Words string }

// siteData is the screen with the tag for an owner's own site.
type siteData struct {
	Link           *genericLink
	Self           string
	Saved          bool
	Light          light
	Refused        string // origin that is missing among those that are allowed; "": none
	Script, Policy string
	Origins        []string
	Form           frame.Form
}

// refused reports whether the last page that asked for the form was not allowed, and still is not.
func refused(e *embed.State) bool {
	return e.LastRefusedAt != nil && e.LastRefusedOrigin != nil &&
		(e.LastSeenAt == nil || e.LastRefusedAt.After(e.LastSeenAt.Time)) &&
		!slices.Contains(e.AllowedOrigins, *e.LastRefusedOrigin)
}

func lightOf(v *frame.Visit, e *embed.State) light {
	switch {
	case refused(e):
		return light{"bad", v.Say("link.site.refused.short"), v.Say("link.site.refused", "origin", *e.LastRefusedOrigin,
			"time", v.WhenOf(e.LastRefusedAt).Text)}
	case e.LastSeenAt != nil && e.LastSeenOrigin != nil:
		return light{"good", v.Say("link.site.works.short", "origin", *e.LastSeenOrigin),
			v.Say("link.site.works", "origin", *e.LastSeenOrigin, "time", v.WhenOf(e.LastSeenAt).Text)}
	case len(e.AllowedOrigins) == 0:
		return light{"", v.Say("link.site.none.short"), v.Say("link.site.none")}
	default:
		return light{"", v.Say("link.site.waiting.short"), v.Say("link.site.waiting")}
	}
}

func readEmbed(v *frame.Visit) (embed.State, error) {
	return frame.Get[embed.State](v, path(v)+"/embed", nil)
}

// site shows the tag, and whether it works.
func (s *Screens) site(v *frame.Visit) error { return s.drawSite(v, http.StatusOK, nil) }

func (s *Screens) drawSite(v *frame.Visit, status int, sent *frame.Form) error {
	var (
		group errgroup.Group
		l     genericLink
		e     embed.State
	)
	group.Go(func() (err error) {
		l, err = frame.Get[genericLink](v, path(v), nil)
		return err
	})
	group.Go(func() (err error) {
		e, err = readEmbed(v)
		return err
	})
	if err := group.Wait(); err != nil {
		return missing(err)
	}
	d := siteData{
		Link: &l, Self: self(v), Saved: v.R.URL.Query().Has("saved"), Light: lightOf(v, &e), Script: e.Script,
		Policy: e.ContentPolicy, Origins: e.AllowedOrigins,
		Form: frame.Form{Values: url.Values{"allowed_origins": {strings.Join(e.AllowedOrigins, "\n")}}},
	}
	if refused(&e) {
		d.Refused = *e.LastRefusedOrigin
	}
	if sent != nil {
		d.Form = *sent
	}
	return v.ShowStatus(s.embed, status,
		frame.Screen{Title: v.Say("link.site") + " – " + l.Name(), Nav: frame.Links, Data: d})
}

// allow changes the origins whose pages may show the form: to those of the list, or by one more.
func (s *Screens) allow(v *frame.Visit) error {
	typed, err := read(v)
	if err != nil {
		return err
	}
	origins := strings.Fields(typed.Get("allowed_origins"))
	if one := typed.Get("add"); one != "" {
		e, err := readEmbed(v)
		if err != nil {
			return err
		}
		if origins = e.AllowedOrigins; !slices.Contains(origins, one) {
			origins = append(origins, one)
		}
		typed.Set("allowed_origins", strings.Join(origins, "\n"))
	}
	_, err = frame.Send[genericLink](v, http.MethodPatch, path(v),
		map[string]any{"allowed_origins": append([]string{}, origins...)}, nil)
	if f, ok := frame.Rejected(typed, err); ok {
		return s.drawSite(v, http.StatusUnprocessableEntity, &f)
	}
	if err != nil {
		return err
	}
	return v.Redirect(self(v) + "/site?saved=1")
}

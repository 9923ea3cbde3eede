package setting

import (
	"strings"

	"lodestone/crud/account"
	"lodestone/crud/dashboard/frame"
	"lodestone/crud/picture"
	"lodestone/crud/web"
)

// preview is how a landing page and a mail look, drawn small, in the light and in the dark scheme.
type preview struct {
	Name    string
	Logo    string // URL; "": none
	Worded  bool   // the logo says the name
	Width   int    // of the logo, in the drawing
	NameAt  int    // where the name stands
	Font    string // typefaces; "": that of this page
	Schemes []scheme
}

// System is the typefaces of pages without one of their own.
func (preview) System() string { return "ui-sans-serif, system-ui, sans-serif" }

// scheme are the colours of a drawing.
type scheme struct {
	Ground, Raised, Ink, Soft, Line, Accent, OnAccent string
	Dark                                              bool
}

// maxNameShown is how much of a name fits into the drawing. web/src/preview.ts of the scripts draws
// the same as this file.
const maxNameShown = 26

// Places of the drawing.
const (
	edge       = 24 // of the page's column
	logoHeight = 16
	maxLogo    = 100
)

func previewOf(a *account.Account, typed frame.Form, image *picture.Logo) preview {
	p := preview{Name: typed.Value("name")}
	if strings.TrimSpace(p.Name) == "" {
		p.Name = a.Name
	}
	if name := []rune(p.Name); len(name) > maxNameShown {
		p.Name = string(name[:maxNameShown-1]) + "…"
	}
	p.NameAt = edge
	if image != nil && image.Height > 0 {
		p.Logo, p.Width = image.URL, min(image.Width*logoHeight/image.Height, maxLogo)
		p.Worded = image.Width >= 2*image.Height
		p.NameAt = edge + p.Width + 6
	}
	if typed.Value("brand_font") == "system" {
		p.Font = p.System()
	}
	accent := web.Accent(typed.Value("brand_color"))
	light := scheme{Accent: accent.Light}
	dark := scheme{Accent: accent.Dark, Dark: true}
	for name, to := range map[string][2]*string{
		"ground": {&light.Ground, &dark.Ground}, "raised": {&light.Raised, &dark.Raised}, "ink": {&light.Ink, &dark.Ink},
		"soft": {&light.Soft, &dark.Soft}, "line": {&light.Line, &dark.Line}, "on-accent": {&light.OnAccent, &dark.OnAccent},
	} {
		value := web.Token(name)
		*to[0], *to[1] = value.Light, value.Dark
	}
	p.Schemes = []scheme{light, dark}
	return p
}

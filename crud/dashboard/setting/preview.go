package setting

import (
	"strings"

	"lodestone/crud/dashboard/frame"
	"lodestone/crud/page"
)

// preview is how a landing page and a mail look, drawn small, in the light and in the dark scheme.
type preview struct {
	Name    string
	Logo    string // URL; "": none
	Worded  bool   // the logo says the name
	Width   int    // of the logo, in the drawing
	Schemes []scheme
}

// scheme are the colours of a drawing.
type scheme struct {
	Ground, Raised, Ink, Soft, Line, Accent, OnAccent string
	Dark                                              bool
}

// maxNameShown is how much of a name the drawing has room for.
const maxNameShown = 26

func previewOf(a *account, typed frame.Form, image *logo) preview {
	p := preview{Name: typed.Value("name")}
	if strings.TrimSpace(p.Name) == "" {
		p.Name = a.Name
	}
	if name := []rune(p.Name); len(name) > maxNameShown {
		p.Name = string(name[:maxNameShown-1]) + "…"
	}
	if image != nil && image.Height > 0 {
		const height = 16
		p.Logo, p.Width = image.URL, min(image.Width*height/image.Height, 100)
		p.Worded = image.Width >= 2*image.Height
	}
	accent := page.Accent(typed.Value("brand_color"))
	light := scheme{Accent: accent.Light}
	dark := scheme{Accent: accent.Dark, Dark: true}
	for name, to := range map[string][2]*string{
		"ground": {&light.Ground, &dark.Ground}, "raised": {&light.Raised, &dark.Raised}, "ink": {&light.Ink, &dark.Ink},
		"soft": {&light.Soft, &dark.Soft}, "line": {&light.Line, &dark.Line}, "on-accent": {&light.OnAccent, &dark.OnAccent},
	} {
		value := page.Token(name)
		*to[0], *to[1] = value.Light, value.Dark
	}
	p.Schemes = []scheme{light, dark}
	return p
}

package crud

import (
	"lodestone/crud/page"
	"lodestone/crud/utm"
	"lodestone/pkg/api"
)

// promotion is how links and their numbers get around.
type promotion struct {
	templates *utm.Templates
}

func newPromotion(d Deps, pages *page.Site) promotion {
	return promotion{utm.New(d.Postgres, pages.URL(""))}
}

func (p promotion) register(a *api.API) {
	p.templates.Register(a)
}

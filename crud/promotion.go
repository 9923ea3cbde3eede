package crud

import (
	"lodestone/crud/page"
	"lodestone/crud/share"
	"lodestone/crud/utm"
	"lodestone/pkg/api"
	"lodestone/pkg/ratelimit"
)

// promotion is how links and their numbers get around.
type promotion struct {
	templates *utm.Templates
	shares    *share.Shares
}

func newPromotion(c Config, d Deps, pages *page.Site) (promotion, error) {
	addresses, err := c.Addresses.Finder()
	if err != nil {
		return promotion{}, err
	}
	shares, err := share.New(share.Deps{Postgres: d.Postgres, Tokens: d.Tokens, Pages: pages, Limiter: ratelimit.NewVisitors(d.Postgres, d.Tokens), Addresses: addresses})
	if err != nil {
		return promotion{}, err
	}
	return promotion{utm.New(d.Postgres, pages.URL("")), shares}, nil
}

func (p promotion) register(a *api.API) {
	p.templates.Register(a)
	p.shares.Register(a)
}

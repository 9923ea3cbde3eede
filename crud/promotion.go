package crud

import (
	"strings"

	"lodestone/crud/embed"
	"lodestone/crud/link"
	"lodestone/crud/share"
	"lodestone/crud/web"
	"lodestone/pkg/api"
)

// promotion is how links and their numbers get around: templates of campaign parameters, shared
// statistics, and forms on other sites.
type promotion struct {
	templates *link.Templates
	shares    *share.Shares
	forms     *embed.Forms
}

func newPromotion(c Config, d Deps, pages *web.Site, shared visitor) (promotion, error) {
	site := pages.URL("")
	shares, err := share.New(share.Deps{Postgres: d.Postgres, Tokens: d.Tokens, Pages: pages, Limiter: shared.limiter,
		Addresses: shared.addresses})
	if err != nil {
		return promotion{}, err
	}
	forms, err := embed.New(embed.Deps{
		Postgres: d.Postgres, Capture: shared.capture, Tokens: d.Tokens, Addresses: shared.addresses, Bots: shared.bots,
		Log: d.Log, Site: site, Collector: strings.TrimRight(c.CollectorURL, "/"),
	})
	if err != nil {
		return promotion{}, err
	}
	return promotion{link.NewTemplates(d.Postgres, site), shares, forms}, nil
}

func (p promotion) register(a *api.API) {
	p.templates.Register(a)
	p.shares.Register(a)
	p.forms.Register(a)
}

package crud

import (
	"strings"

	"lodestone/crud/capture"
	"lodestone/crud/embed"
	"lodestone/crud/mail"
	"lodestone/crud/notice"
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
	forms     *embed.Forms
}

func newPromotion(c Config, d Deps, pages *page.Site, mails *mail.Queue, notices *notice.Notices) (promotion, error) {
	addresses, err := c.Addresses.Finder()
	if err != nil {
		return promotion{}, err
	}
	limiter, site := ratelimit.NewVisitors(d.Postgres, d.Tokens), pages.URL("")
	shares, err := share.New(share.Deps{Postgres: d.Postgres, Tokens: d.Tokens, Pages: pages, Limiter: limiter, Addresses: addresses})
	if err != nil {
		return promotion{}, err
	}
	taking := capture.New(c.Capture, capture.Deps{Postgres: d.Postgres, Limiter: limiter, Mail: mails, Notices: notices, Tokens: d.Tokens, Site: site})
	forms, err := embed.New(embed.Deps{
		Postgres: d.Postgres, Capture: taking, Tokens: d.Tokens, Addresses: addresses, Log: d.Log, Site: site, Collector: strings.TrimRight(c.CollectorURL, "/"),
	})
	if err != nil {
		return promotion{}, err
	}
	return promotion{utm.New(d.Postgres, site), shares, forms}, nil
}

func (p promotion) register(a *api.API) {
	p.templates.Register(a)
	p.shares.Register(a)
	p.forms.Register(a)
}

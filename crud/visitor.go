package crud

import (
	"strings"

	"lodestone/crud/capture"
	"lodestone/crud/landing"
	"lodestone/crud/web"
	"lodestone/pkg/bot"
	"lodestone/pkg/clientaddr"
	"lodestone/pkg/ratelimit"
	"lodestone/pkg/suspect"
)

// visitor holds the shared dependencies of all pages for visitors.
type visitor struct {
	addresses *clientaddr.Finder
	limiter   *ratelimit.Visitors
	bots      *bot.Rules
	networks  *suspect.Networks
	capture   *capture.Capture
}

func newVisitor(c Config, d Deps, b base) (visitor, error) {
	addresses, err := c.Addresses.Finder()
	if err != nil {
		return visitor{}, err
	}
	networks, err := c.Suspects.Open()
	if err != nil {
		return visitor{}, err
	}
	limiter := ratelimit.NewVisitors(d.Postgres, d.Tokens)
	if err := capture.Forget(b.jobs, d.Postgres, limiter); err != nil {
		return visitor{}, err
	}
	return visitor{addresses, limiter, b.bots, networks, capture.New(c.Capture, capture.Deps{
		Postgres: d.Postgres, Limiter: limiter, Mail: b.mails, Notices: b.notices, Tokens: d.Tokens, Site: b.pages.URL(""),
		Networks: networks,
	})}, nil
}

// newLanding puts together what visitors of landing pages meet.
func newLanding(c Config, d Deps, pages *web.Site, v visitor) (*landing.Landing, error) {
	return landing.New(landing.Deps{
		Postgres: d.Postgres, Pages: pages, Capture: v.capture, Tokens: d.Tokens, Addresses: v.addresses, Bots: v.bots,
		Site: pages.URL(""), Collector: strings.TrimRight(c.CollectorURL, "/"),
	})
}

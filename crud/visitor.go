package crud

import (
	"strings"

	"lodestone/crud/capture"
	"lodestone/crud/landing"
	"lodestone/crud/mail"
	"lodestone/crud/notice"
	"lodestone/crud/queue"
	"lodestone/crud/web"
	"lodestone/pkg/bot"
	"lodestone/pkg/clientaddr"
	"lodestone/pkg/ratelimit"
)

// visitor holds the shared dependencies of all pages for visitors.
type visitor struct {
	addresses *clientaddr.Finder
	limiter   *ratelimit.Visitors
	bots      *bot.Rules
	capture   *capture.Capture
}

func newVisitor(c Config, d Deps, pages *web.Site, jobs *queue.Queue, mails *mail.Queue, notices *notice.Notices,
	bots *bot.Rules) (visitor, error) {
	addresses, err := c.Addresses.Finder()
	if err != nil {
		return visitor{}, err
	}
	limiter := ratelimit.NewVisitors(d.Postgres, d.Tokens)
	if err := capture.Forget(jobs, d.Postgres, limiter); err != nil {
		return visitor{}, err
	}
	return visitor{addresses, limiter, bots, capture.New(c.Capture, capture.Deps{
		Postgres: d.Postgres, Limiter: limiter, Mail: mails, Notices: notices, Tokens: d.Tokens, Site: pages.URL(""),
	})}, nil
}

// newLanding puts together what visitors of landing pages meet.
func newLanding(c Config, d Deps, pages *web.Site, v visitor) (*landing.Landing, error) {
	return landing.New(landing.Deps{
		Postgres: d.Postgres, Pages: pages, Capture: v.capture, Tokens: d.Tokens, Addresses: v.addresses, Bots: v.bots,
		Site: pages.URL(""), Collector: strings.TrimRight(c.CollectorURL, "/"),
	})
}

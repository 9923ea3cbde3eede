package crud

import (
	"strings"

	"lodestone/crud/capture"
	"lodestone/crud/landing"
	"lodestone/crud/mail"
	"lodestone/crud/notice"
	"lodestone/crud/page"
	"lodestone/crud/queue"
	"lodestone/pkg/ratelimit"
)

// newLanding puts together what visitors of landing pages meet.
func newLanding(c Config, d Deps, pages *page.Site, jobs *queue.Queue, mails *mail.Queue, notices *notice.Notices) (*landing.Landing, error) {
	addresses, err := c.Addresses.Finder()
	if err != nil {
		return nil, err
	}
	limiter := ratelimit.NewVisitors(d.Postgres, d.Tokens)
	if err := capture.Forget(jobs, d.Postgres, limiter); err != nil {
		return nil, err
	}
	site := pages.URL("")
	taking := capture.New(c.Capture, capture.Deps{Postgres: d.Postgres, Limiter: limiter, Mail: mails, Notices: notices, Tokens: d.Tokens, Site: site})
	return landing.New(landing.Deps{
		Postgres: d.Postgres, Pages: pages, Capture: taking, Tokens: d.Tokens, Addresses: addresses,
		Site: site, Collector: strings.TrimRight(c.CollectorURL, "/"),
	})
}

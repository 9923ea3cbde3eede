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
func newLanding(c Config, p Parts, pages *page.Site, jobs *queue.Queue, mails *mail.Queue, notices *notice.Notices) (*landing.Landing, error) {
	addresses, err := c.Addresses.Finder()
	if err != nil {
		return nil, err
	}
	limiter := ratelimit.NewVisitors(p.Postgres, p.Tokens)
	if err := capture.Forget(jobs, p.Postgres, limiter); err != nil {
		return nil, err
	}
	site := pages.URL("")
	taking := capture.New(c.Capture, capture.Parts{DB: p.Postgres, Limiter: limiter, Mail: mails, Notices: notices, Tokens: p.Tokens, Site: site})
	return landing.New(landing.Parts{
		DB: p.Postgres, Pages: pages, Capture: taking, Tokens: p.Tokens, Addresses: addresses,
		Site: site, Collector: strings.TrimRight(c.CollectorURL, "/"),
	})
}

package crud

import (
	"cmp"
	"strings"

	"lodestone/crud/page"
	"lodestone/crud/queue"
	"lodestone/crud/session"
	"lodestone/crud/viewer"
	"lodestone/pkg/ratelimit"
)

// newReading returns the pages on which documents are read, and what reports their downloads.
func newReading(c Config, p Parts, pages *page.Site, jobs *queue.Queue) (*viewer.Viewer, *session.Reporter, error) {
	finder, err := c.Addresses.Finder()
	if err != nil {
		return nil, nil, err
	}
	collector := strings.TrimRight(c.CollectorURL, "/")
	internal := strings.TrimRight(cmp.Or(c.CollectorInternalURL, c.CollectorURL), "/")
	if collector == "" {
		p.Log.Warn("there is no --collector-url: pages send no events, and finished downloads wait to be reported")
	}
	reporter, err := session.Report(jobs, internal, p.Tokens)
	if err != nil {
		return nil, nil, err
	}
	v, err := viewer.New(viewer.Parts{
		Pages: pages, Sessions: session.New(p.Postgres, strings.TrimRight(c.PublicURL, "/"), p.Tokens, jobs), Postgres: p.Postgres,
		Tokens: p.Tokens, Addresses: finder, Limiter: ratelimit.NewVisitors(p.Postgres, p.Tokens), Config: c.Viewer, Collector: collector, Log: p.Log,
	})
	return v, reporter, err
}

package crud

import (
	"cmp"
	"strings"

	"lodestone/crud/file"
	"lodestone/crud/session"
	"lodestone/crud/viewer"
	"lodestone/crud/watermark"
	"lodestone/pkg/certificate"
)

// newReading returns the pages on which documents are read, and what reports their downloads.
func newReading(c Config, d Deps, b base, files *file.Files, marks *watermark.Marks, shared visitor) (
	*viewer.Viewer, *session.Reporter, error) {
	countries, err := c.Country.Open()
	if err != nil {
		return nil, nil, err
	}
	collector := strings.TrimRight(c.CollectorURL, "/")
	internal := strings.TrimRight(cmp.Or(c.CollectorInternalURL, c.CollectorURL), "/")
	if collector == "" {
		d.Log.Warn("--collector-url is not set: pages send no events, and finished downloads wait to be reported")
	}
	secure := d.Collector
	if secure == nil {
		secure = &certificate.Dialer{}
	}
	reporter, err := session.Report(b.jobs, internal, session.ReportDeps{Tokens: d.Tokens, Dialer: secure})
	if err != nil {
		return nil, nil, err
	}
	v, err := viewer.New(c.Viewer, viewer.Deps{
		Pages: b.pages, Sessions: session.New(session.Deps{Postgres: d.Postgres, Site: b.pages.URL(""), Tokens: d.Tokens,
			Queue: b.jobs}), Postgres: d.Postgres, Files: files, Marks: marks,
		Tokens: d.Tokens, Addresses: shared.addresses, Countries: countries, Limiter: shared.limiter, Bots: shared.bots,
		Networks: shared.networks, Collector: collector, Log: d.Log,
	})
	return v, reporter, err
}

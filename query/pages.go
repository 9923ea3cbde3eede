package query

import (
	"context"
	"time"

	"github.com/google/uuid"

	"lodestone/pkg/api"
	"lodestone/pkg/auth"
	"lodestone/pkg/problem"
	"lodestone/query/report"
)

// narrowInput says which page views a report is about.
type narrowInput struct {
	GenericLinkID *uuid.UUID `query:"generic_link_id" doc:"Only page views of access links that came from this generic link."`
	UTMSource     *string    `query:"utm_source" maxLength:"2048" doc:"Only page views of access links with this utm_source."`
	UTMCampaign   *string    `query:"utm_campaign" maxLength:"2048" doc:"Likewise, by utm_campaign."`
	Without       []string   `query:"without" maxItems:"2" enum:"utm_source,utm_campaign" doc:"Only page views of access links that have no such source. Repeat it for both."`
	Device        *string    `query:"device" maxLength:"64" doc:"Only page views on such a device: desktop, mobile, tablet, other or unknown."`
	Country       *string    `query:"country" maxLength:"64" doc:"Only page views from this country, such as DE."`
}

func (in narrowInput) narrowed() report.Narrowed {
	return report.Narrowed{GenericLinkID: in.GenericLinkID, UTMSource: in.UTMSource, UTMCampaign: in.UTMCampaign,
		Without: in.Without, Device: in.Device, Country: in.Country}
}

type pagesInput struct {
	LeadMagnetID  uuid.UUID `query:"lead_magnet_id" required:"true" doc:"Lead magnet whose pages are reported. An unknown one has no pages."`
	MagnetVersion *int      `query:"magnet_version" minimum:"0" maximum:"2147483647" doc:"Version of the document. Default: the newest version that was read in the period."`
	narrowInput
	PeopleFilter
	From *time.Time `query:"from" doc:"Only page views at or after this time (ISO 8601)."`
	To   *time.Time `query:"to" doc:"Only page views before this time (ISO 8601)."`
}

// Page is a page of a document in the report.
type Page struct {
	Page          int      `json:"page" minimum:"1" doc:"Number of the page, from 1."`
	Reached       int64    `json:"reached" doc:"Readers whose furthest page is at least this one."`
	Stopped       int64    `json:"stopped" doc:"Readers whose furthest page is this one."`
	PeopleReached int64    `json:"people_reached" doc:"People whose furthest page is at least this one: all access links of an address are one."`
	PeopleStopped int64    `json:"people_stopped" doc:"People whose furthest page is this one."`
	Views         int64    `json:"views" doc:"Views of the page."`
	Readers       int64    `json:"readers" doc:"Access links with at least one view of the page."`
	MedianMS      *float64 `json:"median_ms" doc:"Median visible time of views that have one, in milliseconds; each view counts at most 10 minutes."`
	P90MS         *float64 `json:"p90_ms" doc:"90th percentile of the same times."`
	Reread        int64    `json:"reread" doc:"Readers with more than one view of the page."`
}

// PageReport is the answer about the pages of a lead magnet.
type PageReport struct {
	Data          []Page   `json:"data" nullable:"false" doc:"Every page of the version, even if no one viewed it. If the number of pages is not known, up to the last page viewed. Beyond page 10,000, only pages that were viewed."`
	MagnetVersion *int     `json:"magnet_version" doc:"Version that is reported; null if no one read the lead magnet in the period."`
	ExcludedBots  int64    `json:"excluded_bots" doc:"Page views of bots, which are excluded; of all versions if magnet_version is null."`
	AsOf          api.Time `json:"as_of" doc:"Everything stored before this time is included. Newer events may be."`
}

// Timeless implements api.TimelessBody.
func (p PageReport) Timeless() any {
	p.AsOf = api.Time{}
	return p
}

func (q *Query) pageReport(ctx context.Context, in *pagesInput) (*api.Answer[PageReport], error) {
	if in.From != nil && in.To != nil && in.From.After(*in.To) {
		return nil, problem.Parameter(problem.Field{Field: "from", Message: "must not be after to"})
	}
	asOf, err := q.settled.AsOf(ctx)
	if err != nil {
		return nil, err
	}
	narrowed := in.narrowed()
	if !in.isEmpty() {
		f, err := in.people()
		if err != nil {
			return nil, err
		}
		f.LeadMagnetID, f.MagnetVersion, f.From, f.To = &in.LeadMagnetID, in.MagnetVersion, in.From, in.To
		f.GenericLinkID, f.UTMSource, f.UTMCampaign = in.GenericLinkID, in.UTMSource, in.UTMCampaign
		f.Without, f.Device, f.Country = in.Without, in.Device, in.Country
		if narrowed.Links, err = q.linksOf(ctx, f, ""); err != nil {
			return nil, err
		}
	}
	found, err := q.reports.Pages(ctx, auth.From(ctx).AccountID, report.PagesQuestion{
		LeadMagnetID: in.LeadMagnetID, Version: in.MagnetVersion, From: in.From, To: in.To,
		Narrowed: narrowed,
	})
	if err != nil {
		return nil, err
	}
	answer := PageReport{Data: make([]Page, len(found.Pages)), MagnetVersion: found.Version,
		ExcludedBots: found.ExcludedBots, AsOf: api.TimeOf(asOf)}
	for i, p := range found.Pages {
		answer.Data[i] = Page{
			Page: p.Number, Reached: p.Reached, Stopped: p.Stopped, PeopleReached: p.PeopleReached,
			PeopleStopped: p.PeopleStopped, Views: p.Views, Readers: p.Readers,
			MedianMS: p.Median, P90MS: p.P90, Reread: p.Reread,
		}
	}
	return api.OK(answer), nil
}

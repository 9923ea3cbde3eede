package query

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/google/uuid"

	"lodestone/pkg/api"
	"lodestone/pkg/auth"
	"lodestone/pkg/problem"
	"lodestone/query/reader"
)

func (q *Query) registerReaders(a *api.API) {
	api.Register(a, api.Operation{
		ID: "list-readers", Method: http.MethodGet, Path: "/api/v1/analytics/readers",
		Scope: auth.Leads, Tag: tag, Report: true,
		Summary: "List the people who read",
		Description: "One row per person with at least one page view, or without one if opened is false: an address with all its access links. Numbers count the events that match the " +
			"filters. Bots are excluded; excluded_bots counts their events. Follow pagination.next_cursor with the same filters and sort: all pages show the state at the first page, so that each person is listed once. The ETag stays the same as long as the list does.",
		PerPage: api.PageSize{Default: 20, Max: 100},
		Timeout: q.config.Timeout, Errors: []problem.Code{problem.ValidationError},
	}, budgeted(q, fewerReaders, q.listReaders))
	api.Register(a, api.Operation{
		ID: "get-call-list", Method: http.MethodGet, Path: "/api/v1/analytics/call-list",
		Scope: auth.Leads, Tag: tag, Report: true,
		Summary: "List the people to call",
		Description: "People who read since the beginning of yesterday, in the account's time zone, and by it finished a document, came back on another day, " +
			"or passed a score; the highest score first. People with one of the account's closed_statuses are omitted, as are bots. Of more than 1,000 people who read, " +
			"those who read longest are considered.",
		Timeout: q.config.Timeout, Errors: []problem.Code{problem.ValidationError},
	}, budgeted(q, problem.Field{Field: "min_score",
		Message: "does not help: more was read than a report may count"}, q.callList))
	api.Register(a, api.Operation{
		ID: "get-reader", Method: http.MethodGet, Path: "/api/v1/analytics/readers/{access_link_id}",
		Scope: auth.Leads, Tag: tag, Report: true,
		Summary: "Get the story of a reader",
		Description: "Everything known about the person behind an access link: totals and score, access links, submissions with consent, and each session with its page " +
			"visits and downloads. For a deleted access link, its events form the story. Bots are excluded; excluded_bots counts their events.",
		Timeout: q.config.Timeout, Errors: []problem.Code{problem.ValidationError},
	}, budgeted(q, problem.Field{
		Field:   "access_link_id",
		Message: "has more events than a report may count: list them with GET /api/v1/analytics?access_link_id=…",
	}, q.readerStory))
}

// fewerReaders says how to ask for fewer people.
var fewerReaders = askFor("from", "less time, or for one lead magnet")

// readerOrder is the sort key of a list of readers.
type readerOrder string

// EnumValues implements jsonschema.Enum.
func (readerOrder) EnumValues() []string { return reader.Orders() }

// ReaderFilter says which people are listed or exported, and in which order.
type ReaderFilter struct {
	Q             string     `query:"q" maxLength:"254" doc:"Only people whose address, name or note contains this text, case-insensitive and, in names and notes, without regard to accents."`
	LeadMagnetID  *uuid.UUID `query:"lead_magnet_id" doc:"Count only events of this lead magnet, and list only people with such page views."`
	GenericLinkID *uuid.UUID `query:"generic_link_id" doc:"Count only events of access links that came from this generic link, and list only people with such page views."`
	UTMSource     *string    `query:"utm_source" maxLength:"2048" doc:"Count only events of access links with this utm_source, and list only people with such page views."`
	UTMCampaign   *string    `query:"utm_campaign" maxLength:"2048" doc:"Likewise, by utm_campaign."`
	ReferrerHost  *string    `query:"referrer_host" maxLength:"2048" doc:"Likewise, by the host of the landing page's referrer."`
	Without       []string   `query:"without" maxItems:"3" enum:"utm_source,utm_campaign,referrer_host" doc:"Count only events of access links that have no such source. Repeat it for several: they have none of them."`
	Device        *string    `query:"device" maxLength:"64" doc:"Count only events of such a device: desktop, mobile, tablet, other or unknown."`
	Country       *string    `query:"country" maxLength:"64" doc:"Count only events from this country, such as DE."`
	MagnetVersion *int       `query:"magnet_version" minimum:"0" maximum:"1000000" doc:"Count only events of this version of a document. 0: not known."`
	PeopleFilter
	Opened *bool       `query:"opened" doc:"false: only people who got an access link in the period, and have viewed no page since it began. true, as without it: only people with a page view."`
	From   *time.Time  `query:"from" doc:"Count only events at or after this time (ISO 8601)."`
	To     *time.Time  `query:"to" doc:"Count only events before this time (ISO 8601)."`
	Sort   readerOrder `query:"sort" default:"-last_seen_at" doc:"What to order by; - before it puts the highest first. Ties by person_id."`
}

type readersInput struct {
	api.CursorPaging
	ReaderFilter
}

func (in *ReaderFilter) filter() (reader.Filter, error) {
	if in.From != nil && in.To != nil && in.From.After(*in.To) {
		return reader.Filter{}, problem.Parameter(problem.Field{Field: "from", Message: "must not be after to"})
	}
	unopened := in.Opened != nil && !*in.Opened
	for name, given := range map[string]bool{"device": in.Device != nil, "country": in.Country != nil,
		"magnet_version": in.MagnetVersion != nil} {
		if unopened && given {
			return reader.Filter{}, problem.Parameter(problem.Field{Field: name,
				Message: "must not be combined with opened=false: who opened nothing has none"})
		}
	}
	f, err := in.people()
	f.Text, f.Unopened = in.Q, unopened
	f.LeadMagnetID, f.GenericLinkID, f.From, f.To = in.LeadMagnetID, in.GenericLinkID, in.From, in.To
	f.UTMSource, f.UTMCampaign, f.ReferrerHost, f.Without = in.UTMSource, in.UTMCampaign, in.ReferrerHost, in.Without
	f.Device, f.Country, f.MagnetVersion = in.Device, in.Country, in.MagnetVersion
	f.Order = reader.Order(in.Sort)
	return f, err
}

// Reader is a person who read.
type Reader struct {
	PersonID    uuid.UUID    `json:"person_id" format:"uuid" doc:"The person behind an address, the same for all its access links. A deleted access link counts as a separate person."`
	Email       *string      `json:"email" doc:"Address, as typed for the newest of the access links; null if they were deleted."`
	Name        *string      `json:"name" doc:"Name that was set for the person, else that of the newest submission; null if there is none."`
	Status      *string      `json:"status" doc:"Status of the person, in the account's words; null if the access links were deleted."`
	AccessLinks []uuid.UUID  `json:"access_links" nullable:"false" doc:"Access links with events that count, and those that were not opened if opened is false."`
	Source      ReaderSource `json:"source" doc:"Where the person came from first: the source of their first submission."`
	ReaderTotals
}

// ReaderSource is where a person came from.
type ReaderSource struct {
	UTMSource    *string `json:"utm_source"`
	UTMMedium    *string `json:"utm_medium"`
	UTMCampaign  *string `json:"utm_campaign"`
	UTMContent   *string `json:"utm_content"`
	UTMTerm      *string `json:"utm_term"`
	ReferrerHost *string `json:"referrer_host" doc:"Host of the landing page's referrer."`
}

// ReaderTotals are the totals of a person's activity.
type ReaderTotals struct {
	Magnets     []uuid.UUID `json:"magnets" nullable:"false" doc:"Lead magnets of the events, or of the access links if opened is false; labels has their titles."`
	Sessions    int64       `json:"sessions" doc:"Openings with a page view."`
	Pages       int64       `json:"pages" doc:"Distinct pages viewed, in all versions of all lead magnets."`
	PageViews   int64       `json:"page_views" doc:"Views of pages."`
	ReadingMS   int64       `json:"reading_ms" doc:"Sum of the visible times of these views, in milliseconds."`
	Finished    bool        `json:"finished" doc:"Whether the last page of any version of a document was viewed."`
	Downloads   int64       `json:"downloads" doc:"Completed downloads."`
	FirstSeenAt *api.Time   `json:"first_seen_at" doc:"First event; null if there is none."`
	LastSeenAt  *api.Time   `json:"last_seen_at" doc:"Last event; null if there is none."`
	Score       int64       `json:"score" minimum:"0" maximum:"100" doc:"Estimated interest of the person: the sum of score_parts."`
	ScoreParts  ReaderScore `json:"score_parts"`
}

// ReaderScore has the parts that a score is the sum of.
type ReaderScore struct {
	Finished  int64 `json:"finished" doc:"40 if the last page of a document was viewed."`
	Attention int64 `json:"attention" doc:"1 for each 24 seconds of reading, at most 25. At most a minute of each view counts."`
	Returns   int64 `json:"returns" doc:"5 for each session after the first, at most 15."`
	Downloads int64 `json:"downloads" doc:"10 if a download was completed."`
	Recency   int64 `json:"recency" doc:"10 if the last event is less than 7 days before as_of, 5 if less than 30 days."`
}

// ReaderPage is one page of a list of readers.
type ReaderPage struct {
	Data         []Reader             `json:"data" nullable:"false"`
	Pagination   api.CursorPagination `json:"pagination"`
	ExcludedBots int64                `json:"excluded_bots" doc:"Events of bots that match the filters on events, which are excluded. min_pages, reached, stopped_at, finished, downloaded, opened and from_form filter people, not events."`
	AsOf         api.Time             `json:"as_of" doc:"Everything stored before this time is included. Newer events may be. Pages requested by cursor have the time of the first page."`
	Labels       map[string]string    `json:"labels" doc:"Titles of the lead magnets."`
}

// Timeless implements api.TimelessBody. A cursor has the time in it as well.
func (p ReaderPage) Timeless() any {
	p.AsOf = api.Time{}
	if p.Pagination.NextCursor != nil {
		p.Pagination.NextCursor = new("")
	}
	return p
}

func (q *Query) listReaders(ctx context.Context, in *readersInput) (*api.Answer[ReaderPage], error) {
	filter, err := in.filter()
	if err != nil {
		return nil, err
	}
	account := auth.From(ctx).AccountID
	found, err := q.readPeople(ctx, account, filter, in.CursorPaging)
	if err != nil {
		return nil, err
	}
	next := ""
	if found.Next != nil {
		if next, err = api.EncodeCursor(*found.Next); err != nil {
			return nil, err
		}
	}
	var magnets []uuid.UUID
	people := make([]Reader, len(found.People))
	for i := range found.People {
		people[i] = presentPerson(&found.People[i])
		magnets = append(magnets, people[i].Magnets...)
	}
	labels, err := q.readers.Titles(ctx, account, magnets)
	if err != nil {
		return nil, err
	}
	page := api.ListCursor(ctx, in.CursorPaging, people, found.Total, next)
	return &api.Answer[ReaderPage]{Header: page.Header, Body: ReaderPage{
		page.Body.Data, page.Body.Pagination, found.ExcludedBots, api.TimeOf(found.AsOf), labels,
	}}, nil
}

func (q *Query) readPeople(ctx context.Context, account uuid.UUID, f reader.Filter,
	p api.CursorPaging) (page reader.Page, err error) {
	if p.Cursor == "" {
		page, err = q.readers.Page(ctx, account, f, p.Offset(), p.Limit())
	} else {
		var c reader.Cursor
		if err := api.DecodeCursor(p.Cursor, &c); err != nil {
			return page, err
		}
		if err := f.Check(account, c); err != nil {
			return page, problem.Parameter(problem.Field{Field: "cursor", Message: err.Error()})
		}
		page, err = q.readers.After(ctx, account, f, c, p.Limit())
	}
	if many, ok := errors.AsType[reader.TooManyError](err); ok {
		return page, problem.Parameter(problem.Field{Field: many.Parameter, Message: many.Error()})
	}
	return page, err
}

func presentPerson(p *reader.Person) Reader {
	return Reader{
		PersonID: p.ID, Email: p.Email, Name: p.Name, Status: p.Status, AccessLinks: p.AccessLinks,
		Source: presentSource(p.Source), ReaderTotals: presentTotals(&p.Activity),
	}
}

package mcp

import (
	"net/http"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Arguments of tools. Their tags describe them to agents; the API checks them.
type (
	period struct {
		From string `json:"from,omitempty" jsonschema:"Only what happened at or after this time (RFC 3339)."`
		To   string `json:"to,omitempty" jsonschema:"Only what happened before this time (RFC 3339)."`
	}
	paging struct {
		Page    int `json:"page,omitempty" jsonschema:"Page to return, from 1."`
		PerPage int `json:"per_page,omitempty" jsonschema:"Elements per page, at most 100."`
	}
	walk struct {
		paging

		Cursor string `json:"cursor,omitempty" jsonschema:"Where to continue: left_out.next.cursor of the previous answer, with the same filters and without page."`
	}
	sources struct {
		UTMSource   string `json:"utm_source,omitempty" jsonschema:"Only what came with this utm_source."`
		UTMMedium   string `json:"utm_medium,omitempty" jsonschema:"Likewise."`
		UTMCampaign string `json:"utm_campaign,omitempty" jsonschema:"Likewise."`
		UTMContent  string `json:"utm_content,omitempty" jsonschema:"Likewise."`
		UTMTerm     string `json:"utm_term,omitempty" jsonschema:"Likewise."`
	}
	magnet struct {
		LeadMagnetID string `json:"lead_magnet_id,omitempty" jsonschema:"Only this lead magnet."`
	}
	ofMagnet struct {
		LeadMagnetID string `json:"lead_magnet_id" jsonschema:"Id of the lead magnet."`
	}

	none     struct{}
	question struct {
		Metrics     []string         `json:"metrics" jsonschema:"What to count. get-analytics-schema lists all."`
		Dimensions  []string         `json:"dimensions,omitempty" jsonschema:"Group by the values of at most two dimensions."`
		Interval    string           `json:"interval,omitempty" jsonschema:"Divide the range by hour, day, week or month."`
		From        string           `json:"from,omitempty" jsonschema:"Start of the range: a date of the time zone, or an RFC 3339 time. Default: 30 days before its end."`
		To          string           `json:"to,omitempty" jsonschema:"End of the range, exclusive. Default: the end of today."`
		Timezone    string           `json:"timezone,omitempty" jsonschema:"IANA time zone of dates and intervals. Default: UTC."`
		Compare     string           `json:"compare,omitempty" jsonschema:"previous: add the numbers of as many calendar units before."`
		Filters     map[string][]any `json:"filters,omitempty" jsonschema:"Count only what has one of the given values in each dimension."`
		People      *people          `json:"people,omitempty" jsonschema:"Count only what these people did. With metrics of reading and downloading only."`
		Exclude     map[string][]any `json:"exclude,omitempty" jsonschema:"Exclude everything with one of the values in any dimension."`
		IncludeBots bool             `json:"include_bots,omitempty" jsonschema:"Count bots as well."`
		OrderBy     string           `json:"order_by,omitempty" jsonschema:"One of the metrics; - before it puts the highest first."`
		Limit       int              `json:"limit,omitempty" jsonschema:"Values that get a row of their own; all others are one more row. At most 1000, by default 100."`
	}
	funnel struct {
		magnet
		sources
		period

		GenericLinkID string `json:"generic_link_id,omitempty" jsonschema:"Only this generic link."`
	}
	narrowing struct {
		GenericLinkID string `json:"generic_link_id,omitempty" jsonschema:"Only readers who came from this generic link."`
		UTMSource     string `json:"utm_source,omitempty" jsonschema:"Only readers who came with this utm_source."`
		UTMCampaign   string `json:"utm_campaign,omitempty" jsonschema:"Likewise."`
		Device        string `json:"device,omitempty" jsonschema:"Only events of desktop, mobile, tablet, other or unknown."`
		Country       string `json:"country,omitempty" jsonschema:"Only events from this country, such as DE."`
	}
	people struct {
		MinPages   int      `json:"min_pages,omitempty" jsonschema:"Only people who viewed at least this many distinct pages."`
		Reached    int      `json:"reached,omitempty" jsonschema:"Only people whose furthest page is this one or a later one."`
		StoppedAt  int      `json:"stopped_at,omitempty" jsonschema:"Only people whose furthest page is this one."`
		Finished   *bool    `json:"finished,omitempty" jsonschema:"Only people who viewed the last page, or only others."`
		Downloaded *bool    `json:"downloaded,omitempty" jsonschema:"Only people who completed a download, or only others."`
		FromForm   *bool    `json:"from_form,omitempty" jsonschema:"Only people with a link of a form, or only those of the API."`
		Status     string   `json:"status,omitempty" jsonschema:"Only people with this status, in the account's words."`
		Field      []string `json:"field,omitempty" jsonschema:"Only people who sent a form with these answers, each as its key, a colon and the answer."`
	}
	pageReport struct {
		ofMagnet
		narrowing
		people
		period

		MagnetVersion int `json:"magnet_version,omitempty" jsonschema:"Version of the document. Default: the newest that was read."`
	}
	retention struct {
		ofMagnet
		narrowing
		period

		By       string `json:"by,omitempty" jsonschema:"Interval of the cohorts and of the returns: day, week or month."`
		Timezone string `json:"timezone,omitempty" jsonschema:"IANA time zone of dates and intervals. Default: UTC."`
	}
	readers struct {
		walk
		magnet
		narrowing
		people
		period

		ReferrerHost  string `json:"referrer_host,omitempty" jsonschema:"Only readers who came from a page of this host."`
		MagnetVersion int    `json:"magnet_version,omitempty" jsonschema:"Only events of this version of a document."`
		Q             string `json:"q,omitempty" jsonschema:"Only people whose address has this text in it."`
		Sort          string `json:"sort,omitempty" jsonschema:"last_seen_at, score, reading_ms or downloads; - before it puts the highest first."`
	}
	reader struct {
		AccessLinkID string `json:"access_link_id" jsonschema:"Id of an access link of the person."`
	}
	events struct {
		walk
		magnet
		period

		AccessLinkID  string `json:"access_link_id,omitempty" jsonschema:"Only events of this access link."`
		EventType     string `json:"event_type,omitempty" jsonschema:"page_viewed, download_started or download_completed."`
		ReceivedAfter string `json:"received_after,omitempty" jsonschema:"Only events that entered the list after this time."`
		Bot           *bool  `json:"bot,omitempty" jsonschema:"Only events of bots, or none of them."`
	}
	links struct {
		paging
		magnet

		Sort string `json:"sort,omitempty" jsonschema:"-created_at: newest first; created_at: oldest first."`
	}
	submissions struct {
		walk

		ID    string `json:"id" jsonschema:"Id of the generic link."`
		Since string `json:"since,omitempty" jsonschema:"Only submissions after this time (RFC 3339)."`
		Until string `json:"until,omitempty" jsonschema:"Only submissions before this time (RFC 3339)."`
		Q     string `json:"q,omitempty" jsonschema:"Only submissions whose address or name contains this text."`
		State string `json:"state,omitempty" jsonschema:"Only submissions in this state: awaiting_verification, ready or viewed."`

		UTMSource   string   `json:"utm_source,omitempty" jsonschema:"Only submissions with this utm_source."`
		UTMCampaign string   `json:"utm_campaign,omitempty" jsonschema:"Likewise."`
		Field       []string `json:"field,omitempty" jsonschema:"Only submissions with these answers, each as its key, a colon and the answer."`
	}
	address struct {
		magnet

		Email string `json:"email" jsonschema:"Email address, case-insensitive."`
	}

	newMagnet struct {
		Title       string `json:"title" jsonschema:"Title of the document."`
		Description string `json:"description,omitempty" jsonschema:"What it is about."`
	}
	newLink struct {
		ofMagnet

		Title               string `json:"title,omitempty" jsonschema:"Headline of the page."`
		Slug                string `json:"slug,omitempty" jsonschema:"Last part of the URL; derived from the title if omitted."`
		RequireVerification bool   `json:"require_verification,omitempty" jsonschema:"Whether the email address must be verified."`
	}
	newAccess struct {
		ofMagnet

		Email string `json:"email" jsonschema:"Address of the reader."`
	}
)

// addTools adds the tools, which have the names of the API's operations.
func (s *Server) addTools() {
	const analytics = "/api/v1/analytics"
	add[none](s, http.MethodGet, analytics+"/schema", tool("get-analytics-schema", "Describe metrics and dimensions",
		"What query-analytics can be asked, and what can be combined."))
	add[question](s, http.MethodPost, analytics+"/query", tool("query-analytics", "Query metrics",
		"Exact counts and rates over a range, by calendar intervals and by up to two dimensions."))
	add[funnel](s, http.MethodGet, analytics+"/funnel", tool("get-funnel", "Report how many people reach each step",
		"From views of landing pages to the end of the document. Bots are excluded."))
	add[pageReport](s, http.MethodGet, analytics+"/pages", tool("get-page-report", "Report how each page is read",
		"How far readers get in one version of a document, and how long they stay on each page. Bots are excluded."))
	add[retention](s, http.MethodGet, analytics+"/retention", tool("get-retention", "Report which readers return",
		"Readers of a lead magnet by when they first read, and how many read again in each interval after. Bots are excluded."))
	add[readers](s, http.MethodGet, analytics+"/readers", tool("list-readers", "List the people who read",
		"One row a person with at least one page view. Numbers count the events that match the filters. Needs the scope leads."))
	add[reader](s, http.MethodGet, analytics+"/readers/{access_link_id}", tool("get-reader", "Get the story of a reader",
		"Totals, access links, submissions, and each session with its page visits and downloads. Needs the scope leads."))
	add[address](s, http.MethodGet, analytics+"/email", tool("get-email-summary", "Summarise one email address",
		"Numbers of all access links of an address. Needs the scope leads."))
	add[events](s, http.MethodGet, analytics, tool("list-analytics-events", "List analytics events", "Newest first."))
	add[paging](s, http.MethodGet, "/api/v1/lead-magnets", tool("list-lead-magnets", "List lead magnets", "Newest first."))
	add[links](s, http.MethodGet, "/api/v1/generic-links",
		tool("list-generic-links", "List landing pages", "Newest first."))
	add[submissions](s, http.MethodGet, "/api/v1/generic-links/{id}/submissions", tool("list-submissions",
		"List the submissions of a landing page", "Newest first. Needs the scope leads."))
	if !s.config.Write {
		return
	}
	add[newMagnet](s, http.MethodPost, "/api/v1/lead-magnets", change("create-lead-magnet", "Create a lead magnet",
		"It has no file yet: a person uploads that."))
	add[newLink](s, http.MethodPost, "/api/v1/generic-links", change("create-generic-link", "Create a landing page",
		"It is open to everyone immediately. The lead magnet must be active."))
	add[newAccess](s, http.MethodPost, "/api/v1/access-links", change("create-access-link", "Create an access link",
		"The link opens the document for one reader immediately. No mail is sent."))
}

// tool describes a tool that reads.
func tool(name, title, text string) *sdk.Tool {
	closed := false
	return &sdk.Tool{
		Name: name, Title: title, Description: title + ". " + text,
		Annotations: &sdk.ToolAnnotations{Title: title, ReadOnlyHint: true, OpenWorldHint: &closed},
	}
}

// change describes a tool that changes something.
func change(name, title, text string) *sdk.Tool {
	destroys := false
	return &sdk.Tool{
		Name: name, Title: title, Description: "Changes data. " + title + ". " + text + " Needs the scope write.",
		Annotations: &sdk.ToolAnnotations{Title: title, DestructiveHint: &destroys},
	}
}

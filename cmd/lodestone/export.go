package main

import (
	"context"
	"io"
	"net/url"
	"os"

	"golang.org/x/term"

	"lodestone/pkg/client"
	"lodestone/pkg/config"
	"lodestone/pkg/durable"
)

type exportCommand struct {
	Events      exportEventsCommand      `cmd:"" help:"Write events to a file: all of the account, or those that match all given filters."`
	Submissions exportSubmissionsCommand `cmd:"" help:"Write the submissions of a generic link to a file."`
	Readers     exportReadersCommand     `cmd:"" help:"Write the people who read to a file, one row a person."`
	Daily       exportDailyCommand       `cmd:"" help:"Write the events of every account to a directory or a bucket, as a Parquet file for each day."`
}

// exportFile is the setting of a file that the API sends.
type exportFile struct {
	API    apiConfig `embed:""`
	Format string    `name:"format" default:"csv" enum:"csv,ndjson,parquet" help:"Format of the file: csv, ndjson (one object per line) or parquet."`
	Output string    `name:"output" short:"o" placeholder:"FILE" help:"File to write. It has the name FILE.part until it is complete. Default: standard output."`
}

type exportEventsCommand struct {
	File          exportFile `embed:""`
	AccessLinkID  string     `name:"access-link-id" placeholder:"ID" help:"Only events of this access link."`
	LeadMagnetID  string     `name:"lead-magnet-id" placeholder:"ID" help:"Only events of this lead magnet."`
	EventType     string     `name:"event-type" placeholder:"TYPE" help:"Only events of this type."`
	From          string     `name:"from" placeholder:"TIME" help:"Only events created at or after this time (ISO 8601)."`
	To            string     `name:"to" placeholder:"TIME" help:"Only events created before this time (ISO 8601)."`
	ReceivedAfter string     `name:"received-after" placeholder:"TIME" help:"Only events that were stored after this time (ISO 8601)."`
	Bot           string     `name:"bot" default:"" enum:",true,false" help:"true: only events of bots; false: no events of bots."`
}

// Run writes events.
func (c *exportEventsCommand) Run(ctx context.Context) error {
	query := url.Values{}
	for name, value := range map[string]string{
		"access_link_id": c.AccessLinkID, "lead_magnet_id": c.LeadMagnetID, "event_type": c.EventType,
		"from": c.From, "to": c.To, "received_after": c.ReceivedAfter, "bot": c.Bot,
	} {
		if value != "" {
			query.Set(name, value)
		}
	}
	return c.File.write(ctx, query, (*client.Client).ExportEvents)
}

type exportSubmissionsCommand struct {
	File  exportFile `embed:""`
	Since string     `name:"since" placeholder:"TIME" help:"Only submissions after this time (ISO 8601)."`
	Until string     `name:"until" placeholder:"TIME" help:"Only submissions before this time (ISO 8601)."`
	Link  string     `arg:"" name:"generic-link-id" help:"Generic link of the submissions."`
}

// Run writes submissions.
func (c *exportSubmissionsCommand) Run(ctx context.Context) error {
	query := url.Values{}
	for name, value := range map[string]string{"since": c.Since, "until": c.Until} {
		if value != "" {
			query.Set(name, value)
		}
	}
	return c.File.write(ctx, query, func(api *client.Client, ctx context.Context, query url.Values, to io.Writer) error {
		return api.ExportSubmissions(ctx, c.Link, query, to)
	})
}

type exportReadersCommand struct {
	File          exportFile `embed:""`
	LeadMagnetID  string     `name:"lead-magnet-id" placeholder:"ID" help:"Count only events of this lead magnet."`
	GenericLinkID string     `name:"generic-link-id" placeholder:"ID" help:"Count only events of access links that came from this generic link."`
	From          string     `name:"from" placeholder:"TIME" help:"Count only events created at or after this time (ISO 8601)."`
	To            string     `name:"to" placeholder:"TIME" help:"Count only events created before this time (ISO 8601)."`
	Sort          string     `name:"sort" default:"-last_seen_at" help:"Order: last_seen_at, score, reading_ms or downloads; - before it puts the highest first."`
}

// Run writes people.
func (c *exportReadersCommand) Run(ctx context.Context) error {
	query := url.Values{}
	for name, value := range map[string]string{
		"lead_magnet_id": c.LeadMagnetID, "generic_link_id": c.GenericLinkID, "from": c.From, "to": c.To, "sort": c.Sort,
	} {
		if value != "" {
			query.Set(name, value)
		}
	}
	return c.File.write(ctx, query, (*client.Client).ExportReaders)
}

// write asks for the file, and writes it where it is wanted, completely or not at all. What is
// written to standard output before an error cannot be taken back; the exit code tells.
func (c *exportFile) write(ctx context.Context, query url.Values, download func(*client.Client, context.Context, url.Values, io.Writer) error) error {
	api, err := c.API.client()
	if err != nil {
		return err
	}
	if c.Format == "parquet" && c.Output == "" && term.IsTerminal(int(os.Stdout.Fd())) {
		return config.Invalid("--format", "is not for a terminal", "name a file with --output")
	}
	query.Set("format", c.Format)
	if c.Output == "" {
		return download(api, ctx, query, os.Stdout)
	}
	return durable.Write(c.Output, func(w io.Writer) error { return download(api, ctx, query, w) })
}

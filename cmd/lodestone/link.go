package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/google/uuid"

	"lodestone/pkg/client"
)

// listPage is the number of elements that lists are fetched by, the most that the API gives.
const listPage = 100

type linkCommand struct {
	List   linkListCommand   `cmd:"" help:"List generic links, newest first."`
	Create linkCreateCommand `cmd:"" help:"Create a generic link to a lead magnet, and print its address."`
}

type linkListCommand struct {
	API          apiConfig `embed:""`
	LeadMagnetID string    `name:"lead-magnet-id" placeholder:"ID" help:"Only links to this lead magnet."`
	JSON         bool      `name:"json" help:"Print JSON, one object per line."`
}

// Run lists links.
func (c *linkListCommand) Run(ctx context.Context) error {
	api, err := c.API.client()
	if err != nil {
		return err
	}
	links, err := allLinks(ctx, api, c.LeadMagnetID)
	if err != nil {
		return err
	}
	if c.JSON {
		return printLines(os.Stdout, links)
	}
	rows := [][]string{{"ID", "CREATED", "VIEWS", "SUBMISSIONS", "ADDRESS"}}
	for _, l := range links {
		rows = append(rows, []string{l.ID, formatTime(&l.CreatedAt), strconv.FormatInt(l.ViewCount, 10), strconv.FormatInt(l.SubmissionCount, 10), l.URL})
	}
	return printTable(os.Stdout, rows)
}

func allLinks(ctx context.Context, api *client.Client, leadMagnetID string) (all []client.GenericLink, err error) {
	for page := 1; ; page++ {
		p, err := api.GenericLinks(ctx, client.GenericLinkFilter{Paging: client.Paging{Page: page, PerPage: listPage}, LeadMagnetID: leadMagnetID})
		if err != nil {
			return nil, fmt.Errorf("list links: %w", err)
		}
		all = append(all, p.Data...)
		if int64(page) >= p.Pagination.TotalPages {
			return all, nil
		}
	}
}

type linkCreateCommand struct {
	API          apiConfig `embed:""`
	Slug         string    `name:"slug" help:"Last part of the address. Default: made from the title."`
	Title        string    `name:"title" help:"Title of the page. Default: that of the lead magnet."`
	Verify       bool      `name:"require-verification" help:"Give the document to confirmed addresses only."`
	CollectName  bool      `name:"collect-name" help:"Ask for a name as well."`
	JSON         bool      `name:"json" help:"Print the link as JSON."`
	LeadMagnetID string    `arg:"" name:"lead-magnet-id" help:"Lead magnet that the link offers."`
}

// Run makes a link.
func (c *linkCreateCommand) Run(ctx context.Context) error {
	api, err := c.API.client()
	if err != nil {
		return err
	}
	n := client.NewGenericLink{LeadMagnetID: c.LeadMagnetID, RequireVerification: c.Verify, CollectName: c.CollectName}
	if c.Slug != "" {
		n.Slug = &c.Slug
	}
	if c.Title != "" {
		n.Title = &c.Title
	}
	link, err := api.CreateGenericLink(ctx, n)
	if err != nil {
		return fmt.Errorf("create the link: %w", err)
	}
	if c.JSON {
		return printLines(os.Stdout, []client.GenericLink{link})
	}
	if _, err := fmt.Fprintln(os.Stdout, link.URL); err != nil {
		return fmt.Errorf("print: %w", err)
	}
	return nil
}

type leadsCommand struct {
	API   apiConfig   `embed:""`
	Since pointInTime `name:"since" placeholder:"TIME" help:"Only after this time: an RFC 3339 time, a date, or a duration before now such as 24h."`
	Until pointInTime `name:"until" placeholder:"TIME" help:"Only before this time, in the same format."`
	JSON  bool        `name:"json" help:"Print JSON, one object per line."`
	Link  string      `arg:"" help:"Generic link: its id, or the last part of its address."`
}

// Run lists the people who asked for a document.
func (c *leadsCommand) Run(ctx context.Context) error {
	api, err := c.API.client()
	if err != nil {
		return err
	}
	id, err := linkID(ctx, api, c.Link)
	if err != nil {
		return err
	}
	var all []client.Submission
	f := client.SubmissionFilter{Paging: client.Paging{PerPage: listPage}, Since: c.Since.Time, Until: c.Until.Time}
	for {
		p, err := api.Submissions(ctx, id, f)
		if err != nil {
			return fmt.Errorf("list leads: %w", err)
		}
		all = append(all, p.Data...)
		if p.Pagination.NextCursor == nil {
			break
		}
		f.Cursor = *p.Pagination.NextCursor
	}
	if c.JSON {
		return printLines(os.Stdout, all)
	}
	rows := [][]string{{"SUBMITTED", "STATE", "READ", "EMAIL", "NAME"}}
	for _, s := range all {
		name := ""
		if s.Name != nil {
			name = *s.Name
		}
		rows = append(rows, []string{formatTime(&s.SubmittedAt), s.State, strconv.FormatInt(s.ViewCount, 10), s.Email, name})
	}
	return printTable(os.Stdout, rows)
}

// linkID returns the id of a link that is named by its id or its slug.
func linkID(ctx context.Context, api *client.Client, name string) (string, error) {
	if uuid.Validate(name) == nil {
		return name, nil
	}
	links, err := allLinks(ctx, api, "")
	if err != nil {
		return "", err
	}
	for _, l := range links {
		if l.Slug == name {
			return l.ID, nil
		}
	}
	return "", fmt.Errorf("no generic link has the id or the address %q: see `lodestone link list`", name)
}

// printLines prints each value as JSON on a line of its own.
func printLines[T any](to io.Writer, all []T) error {
	for _, one := range all {
		text, err := json.Marshal(one)
		if err != nil {
			return fmt.Errorf("encode: %w", err)
		}
		if _, err := fmt.Fprintln(to, string(text)); err != nil {
			return fmt.Errorf("print: %w", err)
		}
	}
	return nil
}

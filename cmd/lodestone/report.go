package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"lodestone/pkg/client"
)

const questionPath = "/api/v1/analytics/query"

type reportCommand struct {
	API          apiConfig `embed:""`
	Metrics      []string  `name:"metrics" default:"link_views,submissions,readers,finish_rate,downloads" help:"What to count, separated by commas. GET /api/v1/analytics/schema lists them."`
	By           []string  `name:"by" placeholder:"DIMENSION" help:"Divide by one or two dimensions, such as lead_magnet_id, utm_source or country."`
	Interval     string    `name:"interval" default:"" enum:",hour,day,week,month" help:"Divide by hour, day, week or month."`
	From         string    `name:"from" placeholder:"TIME" help:"Start of the range: a date of the time zone, or an RFC 3339 time. Default: 30 days before its end."`
	To           string    `name:"to" placeholder:"TIME" help:"End of the range, exclusive. Default: the end of today."`
	Timezone     string    `name:"timezone" default:"UTC" help:"IANA time zone of dates and intervals."`
	LeadMagnetID string    `name:"lead-magnet-id" placeholder:"ID" help:"Only this lead magnet."`
	JSON         bool      `name:"json" help:"Print the API's answer as JSON."`
}

// question is the body of a request for a report.
type question struct {
	Metrics    []string            `json:"metrics"`
	Dimensions []string            `json:"dimensions,omitzero"`
	Interval   string              `json:"interval,omitzero"`
	From       string              `json:"from,omitzero"`
	To         string              `json:"to,omitzero"`
	Timezone   string              `json:"timezone"`
	Filters    map[string][]string `json:"filters,omitzero"`
}

// questionAnswer is the answer to one question.
type questionAnswer struct {
	Rows         []map[string]any  `json:"rows"`
	Totals       map[string]any    `json:"totals"`
	ExcludedBots int64             `json:"excluded_bots"`
	AsOf         string            `json:"as_of"`
	Labels       map[string]string `json:"labels"`
}

// Run asks for the report.
func (c *reportCommand) Run(ctx context.Context) error {
	api, err := c.API.client()
	if err != nil {
		return err
	}
	q := question{Metrics: c.Metrics, Dimensions: c.By, Interval: c.Interval, From: c.From, To: c.To, Timezone: c.Timezone}
	if c.LeadMagnetID != "" {
		q.Filters = map[string][]string{"lead_magnet_id": {c.LeadMagnetID}}
	}
	answer, err := client.Post[jsontext.Value](ctx, api, questionPath, q)
	if err != nil {
		return fmt.Errorf("ask for the report: %w", err)
	}
	if c.JSON {
		return printLines(os.Stdout, []jsontext.Value{answer})
	}
	var got struct {
		Data []questionAnswer `json:"data"`
	}
	if err := json.Unmarshal(answer, &got); err != nil || len(got.Data) != 1 {
		return fmt.Errorf("read the report: %d answers: %w", len(got.Data), err)
	}
	return c.print(got.Data[0])
}

// print prints a row for each part, and the totals, which are counted and not summed.
func (c *reportCommand) print(r questionAnswer) error {
	columns := slices.Clone(c.By)
	if c.Interval != "" {
		columns = append([]string{"time"}, columns...)
	}
	split := len(columns)
	columns = append(columns, c.Metrics...)
	head := make([]string, len(columns))
	for i, name := range columns {
		head[i] = strings.ToUpper(name)
	}
	rows := [][]string{head}
	add := func(of map[string]any, first string) {
		row := make([]string, len(columns))
		for i, name := range columns {
			row[i] = r.cell(of[name], i >= split || name == "time")
		}
		if first != "" {
			row[0] = first
		}
		rows = append(rows, row)
	}
	if split > 0 {
		for _, of := range r.Rows {
			add(of, "")
		}
		total := map[string]any{}
		for _, name := range c.Metrics {
			total[name] = r.Totals[name]
		}
		for _, name := range columns[:split] {
			total[name] = ""
		}
		add(total, "total")
	} else {
		add(r.Totals, "")
	}
	if err := printTable(os.Stdout, rows); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(os.Stdout, "\nas of %s, without %d events of bots\n", r.AsOf, r.ExcludedBots); err != nil {
		return fmt.Errorf("print: %w", err)
	}
	return nil
}

// cell returns a value as a table has it: ids by their titles. A number without data is a dash; a dimension without a value, (none).
func (r questionAnswer) cell(value any, number bool) string {
	switch v := value.(type) {
	case nil:
		if number {
			return "–"
		}
		return "(none)"
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case string:
		if label := r.Labels[v]; label != "" {
			return label
		}
		return v
	default:
		return fmt.Sprint(v)
	}
}

package report

import (
	"maps"
	"slices"
	"strings"

	"github.com/google/uuid"

	"lodestone/pkg/clickhouse"
)

// narrowing are the parts of WHERE that narrow events, each for the parameter of its name. A
// parameter without_… has no value.
var narrowing = map[string]string{
	"generic_link": "AND generic_link_id = {generic_link:UUID}",
	"device":       "AND device = {device:String}",
	"country":      "AND country = {country:String}",
	"utm_source":   ofLinks("utm_source"),
	"utm_campaign": ofLinks("utm_campaign"),
	"links":        "AND access_link_id IN {links:Array(UUID)}",

	"referrer_host":         ofLinks("referrer_host"),
	"without_utm_source":    withoutLinks("utm_source"),
	"without_utm_campaign":  withoutLinks("utm_campaign"),
	"without_referrer_host": withoutLinks("referrer_host"),
}

// Narrowed says which page views count. Nil and "" do not restrict.
type Narrowed struct {
	GenericLinkID          *uuid.UUID
	Device, Country        *string
	UTMSource, UTMCampaign *string
	Without                []string    // utm_source, utm_campaign: only of access links without them
	Links                  []uuid.UUID // only of these access links; nil: of any
}

// conditions returns what the filters add to WHERE, and sets its parameters.
func (n Narrowed) conditions(params map[string]string) string {
	if n.GenericLinkID != nil {
		params["generic_link"] = n.GenericLinkID.String()
	}
	for name, text := range map[string]*string{"device": n.Device, "country": n.Country,
		"utm_source": n.UTMSource, "utm_campaign": n.UTMCampaign} {
		if text != nil {
			params[name] = clickhouse.Text(*text)
		}
	}
	for _, name := range n.Without {
		params["without_"+name] = ""
	}
	if n.Links != nil {
		params["links"] = clickhouse.UUIDs(n.Links)
	}
	return Where(params, narrowing)
}

// Narrowing returns the parts of WHERE by which any statement over events can be narrowed, by the
// names of their parameters, for a caller to add its own.
func Narrowing() map[string]string { return maps.Clone(narrowing) }

// ofLinks is the condition that an event's access link has the value of a column that the parameter
// of its name has.
func ofLinks(column string) string {
	return "AND access_link_id IN (SELECT id FROM lodestone.access_links FINAL WHERE account_id = {account:UUID} AND " +
		column + " = {" + column + ":String})"
}

// withoutLinks is the condition that it has none, as also a link that was deleted.
func withoutLinks(column string) string {
	return "AND access_link_id NOT IN (SELECT id FROM lodestone.access_links FINAL WHERE account_id = {account:UUID} AND " + column + " != '')"
}

// Where returns those of the conditions whose parameters are there.
func Where(params, conditions map[string]string) string {
	var list []string
	for name, condition := range conditions {
		if _, ok := params[name]; ok {
			list = append(list, condition)
		}
	}
	slices.Sort(list)
	return strings.Join(list, " ")
}

package reader

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"lodestone/pkg/clickhouse"
	"lodestone/query/report"
)

// Filter says who is asked for, by which events, and in which order. Zero values and nil do not
// restrict.
type Filter struct {
	Text          string     // part of the address, the name or the note
	LeadMagnetID  *uuid.UUID // only events of it count
	GenericLinkID *uuid.UUID // only events of access links from it count
	UTMSource     *string    // only events of access links with it count
	UTMCampaign   *string    // only events of access links with it count
	ReferrerHost  *string    // only events of access links with it count
	Without       []string   // utm_source, utm_campaign, referrer_host: only events of access links without them count
	Device        *string    // only events of such a device count
	Country       *string    // only events from it count
	MagnetVersion *int       // only events of this version of a document count
	From, To      *time.Time // only events from and before these times count
	MinPages      int        // people who viewed at least as many different pages
	Reached       int        // people whose furthest page of a document is this one or a later one
	StoppedAt     int        // people whose furthest page of a document is this one
	Finished      *bool
	Unopened      bool    // people who got an access link in the time, and viewed no page since it began
	Status        *string // that of the person, in the account's words
	Answers       []byte  // of one of their submissions, as a JSON object by key; nil: any
	Downloaded    *bool   // whether they completed a download
	FromForm      *bool   // whether one of their access links that count came from a form, not from the API
	Order         Order   // default: LastSeen, descending
}

// Order is the sort key of a list, in the names of the API; "-" before it is descending.
type Order string

// Orders lists all orders; the first is the default.
func Orders() []string {
	var list []string
	for _, name := range []string{"last_seen_at", "score", "reading_ms", "downloads"} {
		list = append(list, "-"+name, name)
	}
	return list
}

// choosesLinks reports whether Postgres chooses access links for the filter.
func (f Filter) choosesLinks() bool { return f.Text != "" || f.Status != nil || f.Answers != nil }

// params returns the parameters of the list's statement that the filter sets, with its order.
func (f Filter) params() map[string]string {
	from, to := report.Bounds(f.From, f.To)
	name, descending := strings.CutPrefix(string(f.order()), "-")
	direction := "1"
	if descending {
		direction = "-1"
	}
	p := map[string]string{
		"from": strconv.FormatInt(from, 10), "to": strconv.FormatInt(to, 10),
		"min_pages": strconv.Itoa(f.MinPages), "reached": strconv.Itoa(f.Reached), "stopped_at": strconv.Itoa(f.StoppedAt),
		"finished": yesOrNo(f.Finished), "downloaded": yesOrNo(f.Downloaded), "from_form": yesOrNo(f.FromForm),
		"sort": name, "direction": direction, "unopened": "0", "given_to": strconv.FormatInt(to, 10),
	}
	if f.Unopened { // what they did later counts as well
		_, end := report.Bounds(nil, nil)
		p["unopened"], p["to"] = "1", strconv.FormatInt(end, 10)
	}
	if f.LeadMagnetID != nil {
		p["lead_magnet"] = f.LeadMagnetID.String()
	}
	if f.GenericLinkID != nil {
		p["generic_link"] = f.GenericLinkID.String()
	}
	for name, text := range map[string]*string{"utm_source": f.UTMSource, "utm_campaign": f.UTMCampaign,
		"referrer_host": f.ReferrerHost, "device": f.Device, "country": f.Country} {
		if text != nil {
			p[name] = clickhouse.Text(*text)
		}
	}
	for _, name := range f.Without {
		p["without_"+name] = ""
	}
	if f.MagnetVersion != nil {
		p["magnet_version"] = strconv.Itoa(*f.MagnetVersion)
	}
	return p
}

// yesOrNo is the text of a parameter that may be null.
func yesOrNo(asked *bool) string {
	switch {
	case asked == nil:
		return `\N`
	case *asked:
		return "1"
	default:
		return "0"
	}
}

func (f Filter) order() Order {
	if f.Order == "" {
		return Order(Orders()[0])
	}
	return f.Order
}

// conditions are the parts of WHERE that a list needs only if the parameter is there.
var conditions = func() map[string]string {
	all := report.Narrowing()
	maps.Copy(all, map[string]string{
		"lead_magnet":  "AND lead_magnet_id = {lead_magnet:UUID}",
		"access_links": "AND access_link_id IN {access_links:Array(UUID)}",
		"other_links": "AND access_link_id NOT IN {other_links:Array(UUID)} AND " +
			"access_link_id IN (SELECT id FROM lodestone.access_links FINAL WHERE account_id = {account:UUID})",
		"magnet_version": "AND magnet_version = {magnet_version:UInt32}",

		"until": "AND stored_at <= fromUnixTimestamp64Milli({until:Int64}, 'UTC')",
	})
	return all
}()

// givenConditions are the same of access links, as they were given.
var givenConditions = map[string]string{
	"lead_magnet":           "AND lead_magnet_id = {lead_magnet:UUID}",
	"generic_link":          "AND generic_link_id = {generic_link:UUID}",
	"access_links":          "AND id IN {access_links:Array(UUID)}",
	"other_links":           "AND id NOT IN {other_links:Array(UUID)}",
	"utm_source":            "AND utm_source = {utm_source:String}",
	"utm_campaign":          "AND utm_campaign = {utm_campaign:String}",
	"referrer_host":         "AND referrer_host = {referrer_host:String}",
	"without_utm_source":    "AND utm_source = ''",
	"without_utm_campaign":  "AND utm_campaign = ''",
	"without_referrer_host": "AND referrer_host = ''",

	"until": "AND created_at <= fromUnixTimestamp64Milli({until:Int64}, 'UTC')",
}

// Cursor is a place in a list, and the state of the data that its first page was of. It is given to
// the client and comes back, so it is a place and never a permission.
type Cursor struct {
	List   string    `json:"l"`
	Value  int64     `json:"v"` // of the order, negative if that is descending
	Person uuid.UUID `json:"p"`
	AsOf   int64     `json:"a"` // of the first page, in Unix milliseconds
	Until  int64     `json:"u"` // when the first page was asked for, by ClickHouse's clock
}

// Check returns what is wrong with a cursor that came back for the account's list through this
// filter, to who sent it.
func (f Filter) Check(account uuid.UUID, c Cursor) error {
	if c.List != f.digest(account) {
		return errors.New("belongs to another list: send the filters and the order that it came with, or start without a cursor")
	}
	if end := latest.UnixMilli(); c.AsOf <= 0 || c.AsOf > end || c.Until <= 0 || c.Until > end {
		return errors.New("is not a cursor that this list returned")
	}
	return nil
}

// latest is a time after every event.
var latest = time.Date(2149, 1, 1, 0, 0, 0, 0, time.UTC)

// digest returns a short text that differs between accounts and between lists.
func (f Filter) digest(account uuid.UUID) string {
	h := sha256.New()
	h.Write(account[:])
	params := f.params()
	for _, name := range slices.Sorted(maps.Keys(params)) {
		fmt.Fprintf(h, "%s=%q\n", name, params[name])
	}
	h.Write([]byte(f.Text))
	if f.Status != nil || f.Answers != nil {
		status := ""
		if f.Status != nil {
			status = *f.Status
		}
		fmt.Fprintf(h, "\n%q %q", status, f.Answers)
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// Package eventlist lists the events of an account, newest first, page by page.
package eventlist

import (
	"strconv"
	"time"

	"github.com/google/uuid"

	"lodestone/pkg/event"
)

// Filter says which events are listed; the conditions that are given must all hold.
type Filter struct {
	AccessLinkID  *uuid.UUID
	LeadMagnetID  *uuid.UUID
	Type          event.Type // zero: every type
	From          *time.Time // created at or after it
	To            *time.Time // created before it
	ReceivedAfter *time.Time // stored after it, by the clock of ClickHouse
	Bot           *bool      // true: bots only; false: no bots
}

// condition is a comparison, with the parameter that it reads. Where param is "" it reads none, or the caller adds its parameters.
type condition struct{ sql, param, value string }

// conditions returns the filter's conditions beyond the account, in a fixed order. Times are
// whole milliseconds in the table, so a bound between two of them is moved to the one that
// divides the rows in the same way.
func (f Filter) conditions() []condition {
	var list []condition
	add := func(sql, param, value string) { list = append(list, condition{sql, param, value}) }
	if f.AccessLinkID != nil {
		add("access_link_id = {access_link:UUID}", "access_link", f.AccessLinkID.String())
	}
	if f.LeadMagnetID != nil {
		add("lead_magnet_id = {lead_magnet:UUID}", "lead_magnet", f.LeadMagnetID.String())
	}
	if f.Type != 0 {
		add("event_type = {event_type:String}", "event_type", f.Type.String())
	}
	if f.Bot != nil {
		// In the form that the projections have it, which then can answer.
		add("(bot = '') = {human:Bool}", "human", strconv.FormatBool(!*f.Bot))
	}
	if f.From != nil {
		list = append(list, createdFrom("from", ceil(*f.From)))
	}
	if f.To != nil {
		list = append(list, createdBefore("to", ceil(*f.To)))
	}
	if f.ReceivedAfter != nil {
		list = append(list, storedAfter(*f.ReceivedAfter))
	}
	return list
}

// createdFrom lets through what was created at a time or after it, given as the parameter.
func createdFrom(param string, t time.Time) condition {
	return condition{"created_at >= fromUnixTimestamp64Milli({" + param + ":Int64}, 'UTC')", param, milliseconds(t)}
}

// createdBefore lets through what was created before a time, given as the parameter.
func createdBefore(param string, t time.Time) condition {
	return condition{"created_at < fromUnixTimestamp64Milli({" + param + ":Int64}, 'UTC')", param, milliseconds(t)}
}

// The years that a time of an event can lie in, with room: beyond them ClickHouse's times wrap.
var (
	earliest = time.Date(1970, 1, 1, 0, 0, 0, 0, time.UTC)
	latest   = time.Date(2149, 1, 1, 0, 0, 0, 0, time.UTC) // a day that ClickHouse's Date still has
)

func ceil(t time.Time) time.Time {
	if down := t.Truncate(time.Millisecond); !down.Equal(t) {
		return down.Add(time.Millisecond)
	}
	return t
}

// within returns the time, or the nearest one that an event can have.
func within(t time.Time) time.Time {
	switch {
	case t.Before(earliest):
		return earliest
	case t.After(latest):
		return latest
	}
	return t.UTC()
}

func milliseconds(t time.Time) string { return strconv.FormatInt(within(t).UnixMilli(), 10) }

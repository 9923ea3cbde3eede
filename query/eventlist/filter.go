// Package eventlist lists the events of an account, newest first, page by page.
package eventlist

import (
	"strconv"
	"strings"
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

// condition is a comparison, with the parameters that it reads.
type condition struct {
	sql    string
	params []param
}

type param struct{ name, value string }

// properties returns the conditions on what an event is, rather than when it happened or was
// stored. Every statement about a list has all of them, so a filter that is added here applies to
// pages and to counts.
func (f Filter) properties() []condition {
	var list []condition
	add := func(sql, name, value string) { list = append(list, condition{sql, []param{{name, value}}}) }
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
	return list
}

// conditions returns the filter's conditions beyond the account, in a fixed order: its properties,
// and the times.
func (f Filter) conditions() []condition {
	list := append(f.properties(), f.created().conditions("from", "to")...)
	if f.ReceivedAfter != nil {
		list = append(list, storedAfter(*f.ReceivedAfter))
	}
	return list
}

// Where returns the clause of the events that the filter lets through, for a statement of package
// scope that reads lodestone.events, and its parameters.
func (f Filter) Where() (clause string, params map[string]string) { return where(f.conditions()) }

// created returns the time in which the events of the list happened. Times are whole milliseconds
// in the table, so a bound between two of them is moved to the one that divides the rows in the
// same way.
func (f Filter) created() (p period) {
	if f.From != nil {
		p.from = new(within(ceil(*f.From)))
	}
	if f.To != nil {
		p.to = new(within(ceil(*f.To)))
	}
	return p
}

// period is a time from one bound on and before the other; a nil bound is none.
type period struct{ from, to *time.Time }

// conditions lets through what was created in the period. The names are those of the parameters.
func (p period) conditions(from, to string) (list []condition) {
	if p.from != nil {
		list = append(list, condition{"created_at >= fromUnixTimestamp64Milli({" + from + ":Int64}, 'UTC')",
			[]param{{from, milliseconds(*p.from)}}})
	}
	if p.to != nil {
		list = append(list, condition{"created_at < fromUnixTimestamp64Milli({" + to + ":Int64}, 'UTC')",
			[]param{{to, milliseconds(*p.to)}}})
	}
	return list
}

func (p period) isEmpty() bool { return p.from != nil && p.to != nil && !p.from.Before(*p.to) }

// since returns the part of the period from a time on, and before returns the other part.
func (p period) since(t time.Time) period {
	if p.from == nil || p.from.Before(t) {
		p.from = &t
	}
	return p
}

func (p period) before(t time.Time) period {
	if p.to == nil || t.Before(*p.to) {
		p.to = &t
	}
	return p
}

func storedAfter(t time.Time) condition {
	return condition{"stored_at > fromUnixTimestamp64Milli({received_after:Int64}, 'UTC')",
		[]param{{"received_after", milliseconds(t)}}}
}

func storedBy(t time.Time) condition {
	return condition{"stored_at <= fromUnixTimestamp64Milli({received_after:Int64}, 'UTC')",
		[]param{{"received_after", milliseconds(t)}}}
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

// where returns the clause of the account's rows for which all conditions hold, and the parameters
// of these.
func where(conditions []condition) (clause string, params map[string]string) {
	return whereOf("account_id = {account:UUID}", conditions)
}

// whereOf is where for rows of other accounts.
func whereOf(accounts string, conditions []condition) (clause string, params map[string]string) {
	params = map[string]string{}
	var b strings.Builder
	b.WriteString("WHERE " + accounts)
	for _, c := range conditions {
		b.WriteString("\n  AND " + c.sql)
		for _, p := range c.params {
			params[p.name] = p.value
		}
	}
	return b.String(), params
}

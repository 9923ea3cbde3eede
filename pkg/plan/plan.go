// Package plan has what the accounts of each plan may have.
package plan

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// Limits are the limits of an account on a plan; 0 means unlimited.
type Limits struct {
	LeadMagnets    int64 `json:"lead_magnets"`
	StoredBytes    int64 `json:"stored_bytes"` // of files
	GenericLinks   int64 `json:"generic_links"`
	AccessLinks    int64 `json:"access_links"` // above it keys create no more; forms still do
	EventsPerMonth int64 `json:"events_per_month"`
}

// Plans are the limits of all plans. The zero value has none.
type Plans struct {
	Free Limits `json:"free"`
	Pro  Limits `json:"pro"`
	Team Limits `json:"team"`
}

// Default returns the plans of an installation that sets none.
func Default() Plans {
	return Plans{
		Free: Limits{LeadMagnets: 20, StoredBytes: 500 << 20, GenericLinks: 3, AccessLinks: 5000, EventsPerMonth: 100_000},
		Pro: Limits{LeadMagnets: 500, StoredBytes: 10 << 30, GenericLinks: 50, AccessLinks: 200_000,
			EventsPerMonth: 10_000_000},
	}
}

// Config is the setting of the plans.
type Config struct {
	Plans Plans `name:"plans" default:"{}" placeholder:"FILE" help:"Limits of the plans that differ from the defaults, as JSON such as {\"free\": {\"lead_magnets\": 5}}, or the path of a file with it. Names: lead_magnets, stored_bytes, generic_links, access_links, events_per_month; 0 means no limit."`
}

// UnmarshalText reads a setting: JSON, or the path of a file with it. Limits that it leaves out are
// those of Default.
func (p *Plans) UnmarshalText(setting []byte) error {
	if !bytes.HasPrefix(bytes.TrimSpace(setting), []byte("{")) {
		text, err := os.ReadFile(string(setting))
		if err != nil {
			return fmt.Errorf("read the file of plans: %w", err)
		}
		setting = text
	}
	type plain Plans // without this method
	read := plain(Default())
	d := json.NewDecoder(bytes.NewReader(setting))
	d.DisallowUnknownFields()
	if err := d.Decode(&read); err != nil {
		return fmt.Errorf("read the plans: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("read the plans: there is something behind the JSON object")
	}
	for name, l := range map[string]Limits{"free": read.Free, "pro": read.Pro, "team": read.Team} {
		if min(l.LeadMagnets, l.StoredBytes, l.GenericLinks, l.AccessLinks, l.EventsPerMonth) < 0 {
			return fmt.Errorf("a limit of the plan %s is negative: give a number, 0 for no limit", name)
		}
	}
	*p = Plans(read)
	return nil
}

package query

import (
	"context"
	"time"

	"github.com/google/uuid"

	"lodestone/pkg/api"
	"lodestone/pkg/auth"
)

type nowInput struct {
	Minutes int `query:"minutes" default:"5" minimum:"1" maximum:"60" doc:"How long ago the last visit to a page may have ended."`
}

// CurrentReader is a person who reads, by the access link that was read last.
type CurrentReader struct {
	AccessLinkID  uuid.UUID `json:"access_link_id" format:"uuid" doc:"Access link of the reader; the most recently read one if there are several."`
	LeadMagnetID  uuid.UUID `json:"lead_magnet_id" format:"uuid" doc:"Lead magnet that is read."`
	MagnetVersion int       `json:"magnet_version" minimum:"0" doc:"Version of the document; 0: not known."`
	Page          *int      `json:"page" minimum:"1" doc:"Last visited page; null if the event named none."`
	Since         api.Time  `json:"since" doc:"First event of the session."`
	LastSeenAt    api.Time  `json:"last_seen_at" doc:"When the visit to the page ended."`
	Email         *string   `json:"email" doc:"Address of the reader. Null if the key lacks the scope leads, or the link was deleted."`
	Name          *string   `json:"name" doc:"Name of the reader; null if none is known, or like email."`
}

// NowReport is the answer about who reads now.
type NowReport struct {
	Data         []CurrentReader   `json:"data" nullable:"false" doc:"At most 1,000 readers, the most recently seen first."`
	Readers      int64             `json:"readers" doc:"Number of readers. All access links of an address are one reader."`
	ExcludedBots int64             `json:"excluded_bots" doc:"Page views of bots in the same minutes, which are excluded."`
	AsOf         api.Time          `json:"as_of" doc:"Everything stored before this time is included. Newer events may be."`
	Labels       map[string]string `json:"labels" doc:"Titles of the lead magnets."`
}

// Timeless implements api.TimelessBody.
func (n NowReport) Timeless() any {
	n.AsOf = api.Time{}
	return n
}

func (q *Query) nowReport(ctx context.Context, in *nowInput) (*api.Answer[NowReport], error) {
	asOf, err := q.settled.AsOf(ctx)
	if err != nil {
		return nil, err
	}
	caller := auth.From(ctx)
	found, err := q.presence.Read(ctx, caller.AccountID, time.Now().Add(-time.Duration(in.Minutes)*time.Minute),
		caller.Has(auth.Leads))
	if err != nil {
		return nil, err
	}
	answer := NowReport{Data: make([]CurrentReader, len(found.Readers)), Readers: found.Total,
		ExcludedBots: found.ExcludedBots, AsOf: api.TimeOf(asOf)}
	magnets := make([]uuid.UUID, len(found.Readers))
	for i, r := range found.Readers {
		magnets[i] = r.LeadMagnetID
		shown := CurrentReader{
			AccessLinkID: r.AccessLinkID, LeadMagnetID: r.LeadMagnetID, MagnetVersion: r.Version,
			Since: api.TimeOf(r.Since), LastSeenAt: api.TimeOf(r.LastSeen), Email: r.Email, Name: r.Name,
		}
		if r.Page > 0 {
			shown.Page = &r.Page
		}
		answer.Data[i] = shown
	}
	answer.Labels, err = q.readers.Titles(ctx, caller.AccountID, magnets)
	return api.OK(answer), err
}

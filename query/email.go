package query

import (
	"context"

	"github.com/google/uuid"

	"lodestone/pkg/api"
	"lodestone/pkg/auth"
	"lodestone/pkg/email"
	"lodestone/pkg/jsonschema"
	"lodestone/pkg/problem"
)

type emailSummaryInput struct {
	Email        string  `query:"email" required:"true" format:"email" doc:"Email address to summarise, case-insensitive."`
	LeadMagnetID *string `query:"lead_magnet_id" doc:"Only links to this lead magnet; zeros if it does not exist."`
}

// EmailSummary is the summary of an address as the API shows it.
type EmailSummary struct {
	TotalLinks        int64     `json:"total_links" doc:"Access links of the address. The two links of a form, the one shown in the browser and the one sent by mail, count as one."`
	TotalViews        int64     `json:"total_views" doc:"Sessions on these links that viewed at least one page."`
	UniqueLeadMagnets int64     `json:"unique_lead_magnets" doc:"Lead magnets with at least one such session."`
	FirstLinkCreated  *api.Time `json:"first_link_created"`
	LastLinkCreated   *api.Time `json:"last_link_created"`
	FirstAccess       *api.Time `json:"first_access" doc:"Time of the first page view."`
	LastAccess        *api.Time `json:"last_access" doc:"Time of the last page view."`
}

func (q *Query) emailSummary(ctx context.Context, in *emailSummaryInput) (*api.Answer[EmailSummary], error) {
	address, err := email.Parse(in.Email)
	if err != nil {
		return nil, problem.Parameter(problem.Field{Field: "email", Message: err.Error()})
	}
	var magnet *uuid.UUID
	if in.LeadMagnetID != nil {
		id, ok := jsonschema.ParseUUID(*in.LeadMagnetID)
		if !ok {
			return api.OK(EmailSummary{}), nil
		}
		magnet = &id
	}
	s, err := q.summaries.Read(ctx, auth.From(ctx).AccountID, address, magnet)
	if err != nil {
		return nil, err
	}
	return api.OK(EmailSummary{
		TotalLinks: s.TotalLinks, TotalViews: s.TotalViews, UniqueLeadMagnets: s.UniqueLeadMagnets,
		FirstLinkCreated: api.OptionalTime(s.FirstLinkCreated), LastLinkCreated: api.OptionalTime(s.LastLinkCreated),
		FirstAccess: api.OptionalTime(s.FirstAccess), LastAccess: api.OptionalTime(s.LastAccess),
	}), nil
}

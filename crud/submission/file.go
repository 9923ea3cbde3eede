package submission

import (
	"time"

	"github.com/google/uuid"

	"lodestone/pkg/api"
)

// record is a row of a file whose columns are fixed. A null is nil.
type record struct {
	ID            uuid.UUID  `parquet:"id,uuid"`
	GenericLinkID uuid.UUID  `parquet:"generic_link_id,uuid"`
	Email         string     `parquet:"email"`
	Name          *string    `parquet:"name,optional"`
	State         string     `parquet:"state"`
	Verified      bool       `parquet:"verified"`
	Viewed        bool       `parquet:"viewed"`
	ViewCount     int64      `parquet:"view_count"`
	SubmittedAt   time.Time  `parquet:"submitted_at,timestamp(millisecond)"`
	FirstViewedAt *time.Time `parquet:"first_viewed_at,optional,timestamp(millisecond)"`
	LastViewedAt  *time.Time `parquet:"last_viewed_at,optional,timestamp(millisecond)"`
	UTMSource     *string    `parquet:"utm_source,optional"`
	UTMMedium     *string    `parquet:"utm_medium,optional"`
	UTMCampaign   *string    `parquet:"utm_campaign,optional"`
	UTMTerm       *string    `parquet:"utm_term,optional"`
	UTMContent    *string    `parquet:"utm_content,optional"`
	UTMID         *string    `parquet:"utm_id,optional"`
	ConsentedAt   *time.Time `parquet:"consented_at,optional,timestamp(millisecond)"`
	AcceptedAt    *time.Time `parquet:"agreement_accepted_at,optional,timestamp(millisecond)"`
	Agreement     *string    `parquet:"agreement_title,optional"`
	Terms         *string    `parquet:"agreement_text,optional"`

	Answers map[string]string `parquet:"answers"`
}

func recordOf(s *Submission) record {
	r := record{
		ID: s.ID, GenericLinkID: s.GenericLinkID, Email: s.Email, Name: s.Name.text, State: string(s.State),
		Verified: s.Verified, Viewed: s.Viewed,
		ViewCount: s.ViewCount, SubmittedAt: s.SubmittedAt.UTC(), FirstViewedAt: api.PlainTime(s.FirstViewedAt),
		LastViewedAt: api.PlainTime(s.LastViewedAt), ConsentedAt: api.PlainTime(s.ConsentedAt), Answers: s.Answers,
	}
	if n := len(s.Agreements); n > 0 { // the newest text
		a := s.Agreements[n-1]
		r.AcceptedAt, r.Agreement, r.Terms = api.PlainTime(&a.AcceptedAt), a.Title, &a.Text
	}
	if !s.Name.collected {
		r.Name = nil
	}
	if s.UTM != nil {
		for name, field := range map[string]**string{
			"utm_source": &r.UTMSource, "utm_medium": &r.UTMMedium, "utm_campaign": &r.UTMCampaign, "utm_term": &r.UTMTerm,
			"utm_content": &r.UTMContent, "utm_id": &r.UTMID,
		} {
			if value, ok := (*s.UTM)[name]; ok {
				*field = &value
			}
		}
	}
	return r
}

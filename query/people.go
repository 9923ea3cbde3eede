package query

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/google/uuid"

	"lodestone/pkg/auth"
	"lodestone/pkg/problem"
	"lodestone/pkg/store"
	"lodestone/query/reader"
	"lodestone/query/report"
)

// PeopleFilter says which people are listed, or whose events count.
type PeopleFilter struct {
	MinPages   int      `query:"min_pages" json:"min_pages" required:"false" minimum:"1" maximum:"1000000" doc:"Only people who viewed at least this many distinct pages."`
	Reached    int      `query:"reached" json:"reached" required:"false" minimum:"1" maximum:"1000000" doc:"Only people whose furthest page of a document is this one or a later one. Name the lead magnet, and the version if it has several."`
	StoppedAt  int      `query:"stopped_at" json:"stopped_at" required:"false" minimum:"1" maximum:"1000000" doc:"Likewise, only people whose furthest page is this one."`
	Finished   *bool    `query:"finished" json:"finished" required:"false" nullable:"false" doc:"true: only people who viewed the last page of a document; false: only others."`
	Downloaded *bool    `query:"downloaded" json:"downloaded" required:"false" nullable:"false" doc:"true: only people who completed a download; false: only others."`
	FromForm   *bool    `query:"from_form" json:"from_form" required:"false" nullable:"false" doc:"true: only people who viewed a page through an access link from a form; false: only people whose links were all created through the API."`
	Status     *string  `query:"status" json:"status" required:"false" nullable:"false" minLength:"1" maxLength:"200" format:"text" doc:"Only people with this status, in the account's words."`
	Field      []string `query:"field" json:"field" required:"false" nullable:"false" maxItems:"12" maxLength:"541" pattern:"^[a-z][a-z0-9_]{0,39}:." patternDescription:"the key of a field, a colon and an answer, such as company:Acme" doc:"Only people who sent a form with this answer: the key of a field, a colon and the answer, such as company:Acme, case-insensitive. Repeat it for several fields of one form."`
}

// people returns the filter as package reader has it. The error is a problem.
func (p *PeopleFilter) people() (reader.Filter, error) {
	answers, err := store.WantedAnswers(p.Field)
	return reader.Filter{MinPages: p.MinPages, Reached: p.Reached, StoppedAt: p.StoppedAt, Finished: p.Finished,
		Downloaded: p.Downloaded, FromForm: p.FromForm, Status: p.Status, Answers: answers}, err
}

func (p *PeopleFilter) isEmpty() bool { return p == nil || reflect.ValueOf(*p).IsZero() }

// narrowPeople makes questions count only what the people did whom they ask for. Who these are is
// found once for questions that ask for the same.
func (q *Query) narrowPeople(ctx context.Context, asked []Question, questions []report.Question, paths []string) error {
	known := map[string][]uuid.UUID{}
	for i := range asked {
		if asked[i].People.isEmpty() {
			continue
		}
		field := paths[i] + "people"
		for _, m := range questions[i].Metrics {
			if !report.Combines([]string{m}, "access_link_id") {
				return problem.Invalid(problem.Field{Field: field,
					Message: "cannot be combined with the metric " + m + ", which is not of people who read"})
			}
		}
		from, to, ok := questions[i].Range(time.Now())
		if !ok {
			continue // the report says what is wrong
		}
		f, err := asked[i].People.people()
		if err != nil {
			return err
		}
		f.From, f.To = &from, &to
		asked[i].Filters.narrow(&f)
		key, err := json.Marshal(f)
		if err != nil {
			return fmt.Errorf("compare filters of people: %w", err)
		}
		links, found := known[string(key)]
		if !found {
			if links, err = q.linksOf(ctx, f, field+"."); err != nil {
				return err
			}
			known[string(key)] = links
		}
		questions[i].Links = links
	}
	return nil
}

// narrow hands filters of events on to a list of people. One of several values is not: the list has
// none.
func (v *Values) narrow(f *reader.Filter) {
	if v == nil {
		return
	}
	if len(v.LeadMagnetID) == 1 {
		f.LeadMagnetID = &v.LeadMagnetID[0]
	}
	if len(v.GenericLinkID) == 1 {
		f.GenericLinkID = v.GenericLinkID[0]
	}
	if len(v.Device) == 1 {
		f.Device = (*string)(&v.Device[0])
	}
	if len(v.Country) == 1 {
		f.Country = v.Country[0]
	}
	for _, by := range []struct {
		name   string
		values []*string
		into   **string
	}{
		{"utm_source", v.UTMSource, &f.UTMSource}, {"utm_campaign", v.UTMCampaign, &f.UTMCampaign},
		{"referrer_host", v.ReferrerHost, &f.ReferrerHost},
	} {
		switch {
		case len(by.values) != 1:
		case by.values[0] == nil:
			f.Without = append(f.Without, by.name)
		default:
			*by.into = by.values[0]
		}
	}
}

// linksOf returns the access links of the people whom a filter lists; not nil. Their status and
// answers are for keys that may read leads. What is wrong is in a field whose name begins so.
func (q *Query) linksOf(ctx context.Context, f reader.Filter, field string) ([]uuid.UUID, error) {
	who := auth.From(ctx)
	if f.Status != nil || f.Answers != nil {
		if err := who.Require(auth.Leads); err != nil {
			return nil, err
		}
	}
	links, err := q.readers.Links(ctx, who.AccountID, f)
	if many, ok := errors.AsType[reader.TooManyError](err); ok {
		name := cmp.Or(strings.TrimSuffix(field+many.Parameter, "."), "from")
		return nil, problem.Invalid(problem.Field{Field: name, Message: many.Error()})
	}
	return links, err
}

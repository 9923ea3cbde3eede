package query

import (
	"context"
	"time"

	"github.com/google/uuid"

	"lodestone/pkg/api"
	"lodestone/pkg/auth"
	"lodestone/pkg/jsonschema"
	"lodestone/query/reader"
)

type callListInput struct {
	MinScore int `query:"min_score" default:"60" minimum:"1" maximum:"100" doc:"Score to pass."`
	Limit    int `query:"limit" default:"10" minimum:"1" maximum:"100" doc:"How many people are listed at most."`
}

// CallList is the answer about whom to call.
type CallList struct {
	Data   []PersonToCall    `json:"data" nullable:"false"`
	Since  api.Time          `json:"since" doc:"Beginning of yesterday in the account's time zone."`
	AsOf   api.Time          `json:"as_of" doc:"Everything stored before this time is included. Newer events may be."`
	Labels map[string]string `json:"labels" doc:"Titles of the lead magnets."`
}

// Timeless implements api.TimelessBody.
func (l CallList) Timeless() any {
	l.AsOf = api.Time{}
	return l
}

// PersonToCall is a person, and why to call them.
type PersonToCall struct {
	PersonID     uuid.UUID    `json:"person_id" format:"uuid"`
	AccessLinkID uuid.UUID    `json:"access_link_id" format:"uuid" doc:"Access link that was read most recently."`
	Email        *string      `json:"email" doc:"Address, as typed for the newest of the access links."`
	Name         *string      `json:"name" doc:"Name; null if none is known."`
	Status       *string      `json:"status" doc:"Status of the person."`
	Reasons      []callReason `json:"reasons" nullable:"false" doc:"At least one: the last page of a document was viewed for the first time, pages were viewed on an earlier day as well, or the score passed min_score."`
	Finished     []uuid.UUID  `json:"finished" nullable:"false" doc:"Lead magnets that were finished since then."`
	PreviousAt   *api.Time    `json:"previous_at" doc:"Last page view on an earlier day; null if there is none."`
	DaysAway     *int         `json:"days_away" doc:"Days from that day to the day of last_read_at, in the account's time zone."`
	LastReadAt   api.Time     `json:"last_read_at" doc:"Last page view."`
	Score        int64        `json:"score" minimum:"0" maximum:"100"`
	ScoreBefore  int64        `json:"score_before" minimum:"0" maximum:"100" doc:"The score without what was read since then."`
}

// callReason is why someone is to be called.
type callReason string

const (
	finishedReading callReason = "finished"
	cameBack        callReason = "came_back"
	passedScore     callReason = "passed_score"
)

// EnumValues implements jsonschema.Enum.
func (callReason) EnumValues() []string {
	return jsonschema.Values([]callReason{finishedReading, cameBack, passedScore})
}

func (q *Query) callList(ctx context.Context, in *callListInput) (*api.Answer[CallList], error) {
	account := auth.From(ctx).AccountID
	calls, err := q.readers.Calls(ctx, account, time.Now(), in.MinScore, in.Limit)
	if err != nil {
		return nil, err
	}
	list := CallList{Data: make([]PersonToCall, len(calls.People)), Since: api.TimeOf(calls.Since),
		AsOf: api.TimeOf(calls.AsOf)}
	var magnets []uuid.UUID
	for i := range calls.People {
		list.Data[i] = presentCall(&calls.People[i])
		magnets = append(magnets, list.Data[i].Finished...)
	}
	list.Labels, err = q.readers.Titles(ctx, account, magnets)
	return api.OK(list), err
}

func presentCall(c *reader.Call) PersonToCall {
	p := PersonToCall{
		PersonID: c.ID, AccessLinkID: c.Link, Email: c.Email, Name: c.Name, Status: c.Status,
		Finished:   append([]uuid.UUID{}, c.Finished...),
		PreviousAt: api.OptionalTime(c.Previous), LastReadAt: api.TimeOf(c.Seen), Score: c.Score, ScoreBefore: c.WasScore,
	}
	if len(c.Finished) > 0 {
		p.Reasons = append(p.Reasons, finishedReading)
	}
	if c.Previous != nil {
		p.DaysAway, p.Reasons = &c.AwayDays, append(p.Reasons, cameBack)
	}
	if c.PassedMark {
		p.Reasons = append(p.Reasons, passedScore)
	}
	return p
}

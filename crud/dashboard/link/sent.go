package link

import (
	"cmp"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"time"

	"lodestone/crud/dashboard/frame"
	"lodestone/pkg/client"
	"lodestone/pkg/email"
	"lodestone/pkg/problem"
)

// sentData is the screen of a form whose sender has no page: there is no access link.
type sentData struct {
	Link    *genericLink
	Back    string // address of the link's submissions
	Name    string // what the sender is called: by the address, if no name is known
	Email   string
	Company string
	Others  string // address of the list of people of the company
	Waits   bool   // for the confirmation of the address
	Ends    frame.Instant
	Over    bool // it can no longer be confirmed
	Facts   []fact
}

// fact is one thing that a form says.
type fact struct {
	Name string
	cell
}

// factsOf are the columns of a list of submissions that a form has before it is read.
var factsOf = []string{"name", "source", "campaign", "submitted", "consented", "accepted"}

// sent shows a form that was sent, and leads to the person as soon as it has an access link.
func (s *Screens) sent(v *frame.Visit) error {
	only := url.Values{"submission_id": {v.R.PathValue("submission")}}
	links, err := frame.Get[client.Page[client.AccessLink]](v, "/api/v1/access-links", only)
	if problem.Is(err, problem.InvalidParameter) {
		return problem.Missing("submission")
	}
	if err != nil {
		return err
	}
	if len(links.Data) > 0 {
		return v.Redirect("/dashboard/readers/" + links.Data[0].ID)
	}
	found, err := frame.Get[client.Page[client.Submission]](v, path(v)+"/submissions", only)
	if err != nil {
		return missing(err)
	}
	if len(found.Data) == 0 {
		return problem.Missing("submission")
	}
	l, err := frame.Get[genericLink](v, path(v), nil)
	if err != nil {
		return missing(err)
	}
	data := newSent(v, &l, &found.Data[0])
	return v.ShowStatus(s.submission, http.StatusOK, frame.Screen{Title: data.Name, Nav: frame.Links, Data: data})
}

func newSent(v *frame.Visit, l *genericLink, one *client.Submission) sentData {
	d := sentData{Link: l, Back: v.Back(self(v)) + "#submissions", Name: cmp.Or(textOf(one.Name), one.Email),
		Email: one.Email, Company: email.Company(one.Email), Waits: one.State == "awaiting_verification",
		Ends: v.When(one.VerificationEndsAt),
		Over: one.VerificationEndsAt == nil || one.VerificationEndsAt.Before(time.Now())}
	if d.Company != "" {
		d.Others = v.People("q", "@"+d.Company)
	}
	_, labels := answerColumns(l.Fields)
	for _, key := range l.Fields.Keys(slices.Sorted(maps.Keys(one.Answers))) {
		d.Facts = append(d.Facts, fact{cmp.Or(labels["answers."+key], key), cell{Text: one.Answers[key]}})
	}
	for _, c := range submissionColumns {
		if slices.Contains(factsOf, c.name) {
			d.Facts = append(d.Facts, fact{v.Say(c.key), c.cell(v, one)})
		}
	}
	d.Facts = slices.DeleteFunc(d.Facts, func(f fact) bool { return f.Text == "" && f.When.Text == "" })
	return d
}

package link

import (
	"maps"
	"net/http"
	"net/url"
	"slices"

	"lodestone/crud/dashboard/frame"
	"lodestone/crud/field"
	"lodestone/crud/view"
	"lodestone/pkg/chart"
	"lodestone/pkg/client"
	"lodestone/pkg/problem"
)

// states are the keys of what people call the states of a submission.
var states = map[string]string{"awaiting_verification": "link.state.unconfirmed", "ready": "link.state.ready",
	"viewed": "link.state.opened"}

// column is one that the list can have beside the address.
type column struct {
	name, key string
	cell      func(v *frame.Visit, s *client.Submission) cell
}

// cell is a text, a time, or a number.
type cell struct {
	Text string
	URL  string // of the submissions with the same answer; "": the text is none
	When frame.Instant
	Tone string
}

var submissionColumns = []column{
	{"name", "link.column.name", func(_ *frame.Visit, s *client.Submission) cell { return cell{Text: textOf(s.Name)} }},
	{"state", "link.column.state", func(v *frame.Visit, s *client.Submission) cell {
		return cell{Text: v.Say(states[s.State]), Tone: map[string]string{"viewed": "good"}[s.State]}
	}},
	{"source", "link.column.source",
		func(_ *frame.Visit, s *client.Submission) cell { return cell{Text: s.UTM["utm_source"]} }},
	{"campaign", "link.column.campaign",
		func(_ *frame.Visit, s *client.Submission) cell { return cell{Text: s.UTM["utm_campaign"]} }},
	{"submitted", "link.column.sent",
		func(v *frame.Visit, s *client.Submission) cell { return cell{When: v.When(&s.SubmittedAt)} }},
	{"consented", "link.column.agreed",
		func(v *frame.Visit, s *client.Submission) cell { return cell{When: v.When(s.ConsentedAt)} }},
	{"accepted", "link.column.accepted", func(v *frame.Visit, s *client.Submission) cell {
		if n := len(s.Agreements); n > 0 {
			return cell{When: v.When(&s.Agreements[n-1].AcceptedAt)}
		}
		return cell{}
	}},
	{"first_viewed", "link.column.first",
		func(v *frame.Visit, s *client.Submission) cell { return cell{When: v.When(s.FirstViewedAt)} }},
	{"last_viewed", "link.column.last",
		func(v *frame.Visit, s *client.Submission) cell { return cell{When: v.When(s.LastViewedAt)} }},
	{"views", "link.column.views",
		func(_ *frame.Visit, s *client.Submission) cell { return cell{Text: chart.Count(float64(s.ViewCount))} }},
}

// usual are the columns of a list whose address names none.
var usual = []string{"name", "state", "source", "submitted", "last_viewed"}

func textOf(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// submissionList is a page of the submissions.
type submissionList struct {
	Q       string
	Chosen  bool  // by filters
	Total   int64 // how many there are
	Columns []frame.Option
	Names   []string // of the columns that are shown
	Rows    []submissionRow
	Keep    url.Values // parameters that the search keeps
	First   string     // address of the first page; "": this is it
	Next    string     // address of the page that follows; "": there is none
	Oldest  bool       // they are listed first
	Turned  string     // address of the list in the other order
	CSV     string
	Refused string // why the list is not there
}

type submissionRow struct {
	Email, URL string
	Cells      []cell
}

const submissionsPerPage = 25

// submissionFilters are those of the list.
var submissionFilters = []string{frame.ByUTMSource, frame.ByCampaign, frame.ByState, frame.ByAnswer}

// listSubmissions returns the page of the submissions that the address asks for. A search that the
// API refuses is part of the screen.
func listSubmissions(v *frame.Visit, fields field.List) (*submissionList, error) {
	asked := v.R.URL.Query()
	if v.R.Method != http.MethodGet {
		asked = url.Values{}
	}
	query := url.Values{"per_page": {chart.Exact(submissionsPerPage)}}
	maps.Copy(query, v.Filters.Query(submissionFilters...))
	for _, name := range []string{"q", "cursor"} {
		if asked.Get(name) != "" {
			query[name] = asked[name]
		}
	}
	oldest := asked.Get("sort") == "submitted_at"
	if oldest {
		query.Set("sort", "submitted_at")
	}
	answers, labels := answerColumns(fields)
	chosen := asked["column"]
	if len(chosen) == 0 {
		chosen = slices.Clone(usual)
		for _, c := range answers[:min(len(answers), usualAnswers)] {
			chosen = append(chosen, c.name)
		}
	}
	l := &submissionList{Q: asked.Get("q"), Chosen: v.Filters.Any(), Keep: v.Period.Query(), Oldest: oldest,
		Turned: turned(v, self(v), oldest, "submitted_at") + "#submissions"}
	if oldest {
		l.Keep.Set("sort", "submitted_at")
	}
	maps.Copy(l.Keep, v.Filters.Query())
	var shown []column
	for _, c := range slices.Concat(submissionColumns[:1], answers, submissionColumns[1:]) {
		on, words := slices.Contains(chosen, c.name), labels[c.name]
		if c.key != "" {
			words = v.Say(c.key)
		}
		l.Columns = append(l.Columns, frame.Option{Value: c.name, Words: words, Chosen: on})
		if on {
			l.Names, shown = append(l.Names, words), append(shown, c)
		}
	}
	file := v.Filters.Query()
	if l.Q != "" {
		file.Set("q", l.Q)
	}
	l.CSV = v.Path(self(v)+"/submissions.csv") + "?" + file.Encode()
	found, err := frame.Get[client.Page[client.Submission]](v, path(v)+"/submissions", query)
	if problem.Is(err, problem.InvalidParameter) {
		f, _ := frame.Rejected(nil, err)
		l.Refused = f.Any()
		return l, nil
	}
	if err != nil {
		return nil, err
	}
	l.Total = found.Pagination.Total
	if asked.Get("cursor") != "" {
		l.First = listAt(v, "")
	}
	if next := found.Pagination.NextCursor; next != nil {
		l.Next = listAt(v, *next)
	}
	for i := range found.Data {
		one := &found.Data[i]
		row := submissionRow{Email: one.Email, URL: v.Within(self(v) + "/submissions/" + one.ID)}
		for _, c := range shown {
			row.Cells = append(row.Cells, c.cell(v, one))
		}
		l.Rows = append(l.Rows, row)
	}
	return l, nil
}

// turned returns the address of a list in the other order, from its beginning. oldest says that the
// list shows the oldest first; sort is that order's name in the address.
func turned(v *frame.Visit, path string, oldest bool, sort string) string {
	q := view.Beginning(v.R.URL.Query())
	q.Del("sort")
	if !oldest {
		q.Set("sort", sort)
	}
	return v.Path(path) + "?" + q.Encode()
}

// listAt returns the address of the list from a cursor on.
func listAt(v *frame.Visit, cursor string) string {
	q := view.Beginning(v.R.URL.Query())
	if cursor != "" {
		q.Set("cursor", cursor)
	}
	return v.Path(self(v)) + "?" + q.Encode() + "#submissions"
}

// export passes the file of the submissions on. The address holds the search of the list.
func (s *Screens) export(v *frame.Visit) error {
	v.ReadFilters(submissionFilters...)
	query := v.Filters.Query()
	query.Set("format", "csv")
	query.Set("bom", "true") // a person opens the file, in Excel
	if q := v.R.URL.Query().Get("q"); q != "" {
		query.Set("q", q)
	}
	return v.Pass(path(v)+"/submissions/export", query)
}

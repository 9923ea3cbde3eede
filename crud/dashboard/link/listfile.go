package link

import (
	"time"

	"lodestone/crud/dashboard/frame"
)

// filePage is how many links the file of the list reads at a time: as many as the API gives.
const filePage = 100

// listRecord is a link in the file of the list.
type listRecord struct {
	Name           string    `parquet:"name"`
	URL            string    `parquet:"url"`
	Document       string    `parquet:"lead_magnet"`
	State          string    `parquet:"state"`
	CreatedAt      time.Time `parquet:"created_at"`
	Visitors       *float64  `parquet:"visitors"`
	Submissions    *float64  `parquet:"submissions"`
	SubmissionRate *float64  `parquet:"submission_rate"`
	People         *float64  `parquet:"people"`
	Finished       *float64  `parquet:"people_finished"`
	FinishRate     *float64  `parquet:"people_finish_rate"`
}

// exportList answers with the file of the list that the address asks for: all of its pages.
func (s *Screens) exportList(v *frame.Visit) error {
	v.ReadFilters(listFilters...)
	query := listQuery(v)
	return frame.File(v, "links", func(add func(listRecord) error) error {
		if metric := ranking(v); metric != "" {
			found, err := rank(v, query, metric)
			if err != nil {
				return err
			}
			return found.write(v, add)
		}
		for page := 1; ; page++ {
			found, err := readList(v, query, page, filePage)
			if err != nil {
				return err
			}
			if err := found.write(v, add); err != nil || int64(page*filePage) >= found.total {
				return err
			}
		}
	})
}

func (l *listed) write(v *frame.Visit, add func(listRecord) error) error {
	if l.away != nil { // a file without numbers would look like one of zeros
		return l.away
	}
	byID := map[string]frame.Row{}
	for _, r := range l.answers.Of("links").Rows {
		byID[r.Text("generic_link_id")] = r
	}
	for i := range l.links {
		one := &l.links[i]
		r := byID[one.ID]
		if r == nil {
			r = zeros(v)
		}
		row := listRecord{
			Name: one.Name(), URL: one.URL, State: one.tag(v), CreatedAt: one.CreatedAt,
			Visitors: r.Known("visitors"), Submissions: r.Known("submissions"), SubmissionRate: r.Known("submission_rate"),
			People: r.Known("people"), Finished: r.Known("people_finished"), FinishRate: r.Known("people_finish_rate"),
		}
		if one.LeadMagnet != nil {
			row.Document = one.LeadMagnet.Title
		}
		if err := add(row); err != nil {
			return err
		}
	}
	return nil
}

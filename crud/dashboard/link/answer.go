package link

import (
	"slices"

	"lodestone/crud/dashboard/frame"
	"lodestone/crud/field"
	"lodestone/crud/view"
	"lodestone/pkg/client"
)

// usualAnswers is how many columns of answers a list has whose address names no columns.
const usualAnswers = 4

// answerColumns returns the columns of the fields of a form, and the labels of the columns.
func answerColumns(fields field.List) (columns []column, labels map[string]string) {
	labels = map[string]string{}
	for _, f := range fields {
		name := "answers." + f.Key
		labels[name] = f.Label
		columns = append(columns, column{name: name, cell: func(v *frame.Visit, s *client.Submission) cell {
			answer := s.Answers[f.Key]
			return cell{Text: answer, URL: answeredBy(v, f.Key+":"+answer)}
		}})
	}
	return columns, labels
}

// answeredBy returns the address of the list with one more condition on an answer.
func answeredBy(v *frame.Visit, condition string) string {
	q := view.Beginning(v.R.URL.Query())
	if !slices.Contains(q[frame.ByAnswer], condition) {
		q.Add(frame.ByAnswer, condition)
	}
	return v.Path(self(v)) + "?" + q.Encode() + "#submissions"
}

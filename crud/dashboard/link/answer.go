package link

import (
	"maps"
	"net/url"
	"slices"
	"strings"

	"lodestone/crud/dashboard/frame"
	"lodestone/crud/field"
	"lodestone/pkg/client"
)

// fieldParameter is the parameter of an answer that submissions must have, here and in the API.
const fieldParameter = "field"

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
			return cell{Text: answer, URL: answeredBy(v, f.Key+":"+answer, true)}
		}})
	}
	return columns, labels
}

// answeredBy returns the address of the list with one more condition on an answer, or without it.
func answeredBy(v *frame.Visit, condition string, added bool) string {
	q := maps.Clone(v.R.URL.Query())
	for _, once := range []string{"cursor", "created", "saved"} {
		q.Del(once)
	}
	q[fieldParameter] = slices.DeleteFunc(slices.Clone(q[fieldParameter]), func(c string) bool { return c == condition })
	if added {
		q.Add(fieldParameter, condition)
	}
	return v.Path(self(v)) + "?" + q.Encode() + "#submissions"
}

// condition is an answer that the listed submissions have, with the address of the list without it.
type condition struct{ Words, Without string }

func conditionsOf(v *frame.Visit, fields field.List, asked url.Values) (list []condition) {
	for _, c := range asked[fieldParameter] {
		key, answer, _ := strings.Cut(c, ":")
		if i := slices.IndexFunc(fields, func(f field.FormField) bool { return f.Key == key }); i >= 0 {
			key = fields[i].Label
		}
		list = append(list, condition{key + ": " + answer, answeredBy(v, c, false)})
	}
	return list
}

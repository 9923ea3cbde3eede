package magnet

import (
	"net/url"

	"lodestone/pkg/postgres"
	"lodestone/pkg/problem"
)

// checkEnd returns what is wrong with the button behind the last page, which has a label and a URL or neither.
func checkEnd(label, address *string) error {
	switch {
	case (label == nil) != (address == nil):
		return endIncomplete()
	case address == nil:
		return nil
	}
	u, err := url.Parse(*address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil {
		return problem.Invalid(problem.Field{Field: "end_url", Message: "must be a full http or https URL, such as https://example.com/next"})
	}
	return nil
}

// endProblem returns the problem of a change that leaves a label without a URL, or a URL without a label.
func endProblem(err error) error {
	if postgres.IsCheckViolation(err) {
		return endIncomplete()
	}
	return err
}

func endIncomplete() error {
	return problem.Invalid(problem.Field{Field: "end_button", Message: "and end_url need each other: set both, or clear both"})
}

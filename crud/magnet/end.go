package magnet

import (
	"lodestone/crud/web"
	"lodestone/pkg/postgres"
	"lodestone/pkg/problem"
)

// checkEnd returns what is wrong with the button behind the last page, which has a label and a URL
// or neither.
func checkEnd(label, address *string) error {
	switch {
	case (label == nil) != (address == nil):
		return endIncomplete()
	case address == nil:
		return nil
	}
	if wrong := web.CheckURL(*address, "https://example.com/next"); wrong != "" {
		return problem.Invalid(problem.Field{Field: "end_url", Message: wrong})
	}
	return nil
}

// endProblem returns the problem of a change that leaves a label without a URL, or a URL without a
// label.
func endProblem(err error) error {
	if postgres.IsCheckViolation(err) {
		return endIncomplete()
	}
	return err
}

func endIncomplete() error {
	return problem.Invalid(problem.Field{Field: "end_button",
		Message: "and end_url need each other: set both, or clear both"})
}

package jsonschema

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"lodestone/pkg/problem"
)

// maxDepth is how deep objects and arrays of a body may lie within one another.
const maxDepth = 32

// Decode reads a JSON body into a struct that the schema was derived from. It is strict: one value,
// valid UTF-8, no name twice, no unknown field, every value of the type it has to be. The error is
// the problem to answer with; hints are as of Check.
func Decode(body []byte, s *Schema, hints map[string]string, into any) error {
	if len(body) == 0 {
		return problem.New(problem.InvalidJSON, "The body is empty: send a JSON object.")
	}
	if tooDeep(body) {
		return problem.New(problem.InvalidJSON, fmt.Sprintf("The body is nested more than %d deep.", maxDepth))
	}
	var value any
	if err := json.Unmarshal(body, &value, keepNumbers); err != nil {
		return jsonProblem(err)
	}
	if wrong := s.Check("", value, hints); len(wrong) > 0 {
		return problem.Invalid(wrong...)
	}
	if err := json.Unmarshal(body, into, json.RejectUnknownMembers(true), integers); err != nil {
		return jsonProblem(err)
	}
	return nil
}

// tooDeep reports whether objects and arrays lie deeper within one another than allowed. Text that
// is no JSON may give either answer: the decoder refuses it anyway.
func tooDeep(body []byte) bool {
	depth, inString := 0, false
	for i := 0; i < len(body); i++ {
		switch c := body[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '{' || c == '[':
			if depth++; depth > maxDepth {
				return true
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return false
}

// jsonProblem says where a body is wrong. The text of the library's error may repeat parts of the
// body, so it stays in the log.
func jsonProblem(err error) error {
	if syntax, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		reason := "it breaks the rules of JSON"
		switch {
		case errors.Is(err, jsontext.ErrDuplicateName):
			reason = "an object has the same name twice"
		case errors.Is(err, io.ErrUnexpectedEOF):
			reason = "it ends too early"
		case strings.Contains(err.Error(), "UTF-8") || strings.Contains(err.Error(), "surrogate"):
			reason = "a string is not valid Unicode"
		}
		return problem.New(problem.InvalidJSON, fmt.Sprintf("The body is not valid JSON: at byte %d, %s.",
			syntax.ByteOffset, reason)).Because(err)
	}
	if semantic, ok := errors.AsType[*json.SemanticError](err); ok {
		name := strings.ReplaceAll(strings.TrimPrefix(string(semantic.JSONPointer), "/"), "/", ".")
		if name == "" {
			name = "body"
		}
		return problem.Invalid(problem.Field{Field: Printable(name), Message: "has a value that is not allowed"}).Because(err)
	}
	return problem.New(problem.InvalidJSON, "The body is not valid JSON.").Because(err)
}

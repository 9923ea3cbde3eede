package store

import (
	"encoding/json"
	"fmt"
	"strings"

	"golang.org/x/text/unicode/norm"

	"lodestone/pkg/problem"
)

// WantedAnswers returns the answers in the fields of forms that a request asks for, each as the key
// of a field, a colon and the answer, as a JSON object by key: as submissions have them. It is nil
// for none. The error is the problem of the parameter field.
func WantedAnswers(list []string) ([]byte, error) {
	if len(list) == 0 {
		return nil, nil
	}
	wanted := map[string]string{}
	for _, text := range list {
		key, words, _ := strings.Cut(text, ":")
		if other, ok := wanted[key]; ok && other != words {
			return nil, problem.Parameter(problem.Field{Field: "field", Message: "must not ask for two answers to " + key})
		}
		wanted[key] = norm.NFC.String(words)
	}
	encoded, err := json.Marshal(wanted)
	if err != nil {
		return nil, fmt.Errorf("encode answers: %w", err)
	}
	return encoded, nil
}

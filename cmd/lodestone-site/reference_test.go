package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Someone without a network has every operation of the API: its parameters, the fields of its body and of its answer, and its errors, found by the search.
// The description for programs is beside them.
func TestTheReferenceHasTheWholeAPI(t *testing.T) {
	t.Parallel()
	dir := ourSite(t)
	var description struct {
		Paths map[string]map[string]struct {
			OperationID string
			Summary     string
			Parameters  []struct{ Name string }
			RequestBody struct {
				Content map[string]struct{ Schema schema }
			}
			Responses map[string]struct {
				Ref     string `json:"$ref"`
				Content map[string]struct{ Schema schema }
			}
		}
		Components struct {
			Schemas   map[string]schema
			Responses map[string]struct{ Description string }
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, "docs/endpoints/openapi.json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &description))
	operations := 0
	all := index(t, dir)
	for path, item := range description.Paths {
		for method, op := range item {
			operations++
			var of []entry
			for _, e := range all {
				if strings.HasPrefix(e.URL, "endpoints/") && e.Heading == op.Summary && strings.Contains(e.Text, op.OperationID+",") {
					of = append(of, e)
				}
			}
			require.Len(t, of, 1, op.OperationID)
			words := of[0].Text
			require.Contains(t, words, strings.ToUpper(method)+" "+path)
			for _, p := range op.Parameters {
				require.Contains(t, words, p.Name, op.OperationID)
			}
			schemas := []schema{op.RequestBody.Content["application/json"].Schema}
			for status, answer := range op.Responses {
				require.Contains(t, words, status, op.OperationID)
				if name, found := strings.CutPrefix(answer.Ref, "#/components/responses/"); found {
					for code := range strings.SplitSeq(description.Components.Responses[name].Description, ", ") {
						require.Contains(t, words, code, op.OperationID)
					}
				} else if status < "300" {
					schemas = append(schemas, answer.Content["application/json"].Schema)
				}
			}
			for _, s := range schemas {
				for _, field := range s.fields(description.Components.Schemas, 0) {
					require.Contains(t, words, field, op.OperationID)
				}
			}
		}
	}
	require.Greater(t, operations, 80)
}

// schema is a JSON Schema of the description.
type schema struct {
	Ref        string `json:"$ref"`
	Properties map[string]schema
	Items      *schema
	AnyOf      []schema
}

// fields are the names of the fields of an object and of those within.
func (s schema) fields(known map[string]schema, depth int) (names []string) {
	if depth > 4 {
		return nil
	}
	if name, found := strings.CutPrefix(s.Ref, "#/components/schemas/"); found {
		return known[name].fields(known, depth)
	}
	if s.Items != nil {
		names = append(names, s.Items.fields(known, depth)...)
	}
	for _, one := range s.AnyOf {
		names = append(names, one.fields(known, depth)...)
	}
	for name, property := range s.Properties {
		names = append(append(names, name), property.fields(known, depth+1)...)
	}
	return names
}

// index reads the index of the search.
func index(t *testing.T, dir string) (entries []entry) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, indexFile))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(bytes.TrimSuffix(bytes.TrimPrefix(text, []byte("self.lodestoneIndex=")), []byte(";\n")), &entries))
	return entries
}

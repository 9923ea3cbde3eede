package main

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// described is the part of the OpenAPI document that the tests read.
type described struct {
	Paths map[string]map[string]describedOperation
}

type describedOperation struct {
	OperationID string           `json:"operationId"`
	Scope       string           `json:"x-scope"`
	Security    []map[string]any `json:"security"`
	Parameters  []struct {
		Name, In string
		Required bool
		Schema   struct{ Format string }
	}
	RequestBody struct {
		Content map[string]struct{ Example any }
	} `json:"requestBody"`
}

// required returns a value of each query parameter that the operation cannot do without. Ids are
// those of a lead magnet.
func (op describedOperation) required(magnet string) url.Values {
	query := url.Values{}
	for _, p := range op.Parameters {
		switch {
		case p.In != "query" || !p.Required:
		case p.Schema.Format == "uuid":
			query.Set(p.Name, magnet)
		default:
			query.Set(p.Name, "ada@example.com")
		}
	}
	return query
}

// asker sends requests with one key.
type asker struct {
	base, key string
}

func (a asker) send(t *testing.T, method, path, body string) (status int, header http.Header, answer string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, a.base+path, strings.NewReader(body))
	require.NoError(t, err)
	if a.key != "" {
		req.Header.Set("Authorization", "Bearer "+a.key)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
	require.NoError(t, err)
	defer func() { require.NoError(t, res.Body.Close()) }()
	if res.Header.Get("Content-Type") == "text/event-stream" { // it does not end
		for body := bufio.NewReader(res.Body); !strings.HasSuffix(answer, "\n\n"); {
			line, err := body.ReadString('\n')
			require.NoError(t, err)
			answer += line
		}
		return res.StatusCode, res.Header, answer
	}
	text, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return res.StatusCode, res.Header, string(text)
}

// must sends what has to succeed, and returns the object of the answer.
func (a asker) must(t *testing.T, method, path, body string) (object map[string]any) {
	t.Helper()
	status, _, answer := a.send(t, method, path, body)
	require.Less(t, status, 300, "%s %s %s: %s", method, path, body, answer)
	if answer != "" {
		require.NoError(t, json.Unmarshal([]byte(answer), &object))
	}
	return object
}

var parameter = regexp.MustCompile(`\{\w+\}`)

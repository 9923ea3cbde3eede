package api_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/api"
)

// row writes itself, as rows of reports do.
type row map[string]any

func (r row) MarshalJSONTo(to *jsontext.Encoder) error {
	return json.MarshalEncode(to, map[string]any(r))
}

// A text that is no UTF-8 costs no one the whole answer.
func TestAnswersHaveTextsThatAreNoUTF8(t *testing.T) {
	t.Parallel()
	w := httptest.NewRecorder()
	body := map[string]any{"name": "r\xf4le", "rows": []row{{"utm_term": "\xd0", "readers": 2}},
		"labels": map[string]string{"\xff": "x"}}
	require.NoError(t, api.WriteJSON(w, http.StatusOK, http.Header{}, body))
	require.JSONEq(t, "{\"labels\":{\"\ufffd\":\"x\"},\"name\":\"r\ufffdle\",\"rows\":["+
		"{\"readers\":2,\"utm_term\":\"\ufffd\"}]}", w.Body.String())
}

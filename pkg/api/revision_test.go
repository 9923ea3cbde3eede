package api

import (
	"net/http"
	"net/http/httptest"
	"reflect"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/jsonschema"
	"lodestone/pkg/problem"
)

func TestRevisions(t *testing.T) {
	t.Parallel()
	for header, want := range map[string][]int64{
		`"7-00ff"`:                       {7},
		`W/"7-00ff"`:                     {7},
		` "7-a" ,, W/"8-b",	"x,y" , "9"`: {7, 8},
		`"other"`:                        {},
		`""`:                             {},
		`"0-a", "-1-b", "1e3-c", "+2 -"`: {},
		`"99999999999999999999-a"`:       {},
		"*":                              nil,
		" * ":                            nil,
	} {
		got, err := Precondition{IfMatch: &header}.Revisions()
		require.NoError(t, err, header)
		require.Equal(t, want, got, header)
	}
	got, err := Precondition{}.Revisions()
	require.NoError(t, err)
	require.Nil(t, got)
	for _, header := range []string{"", ",", "7-a", `"7-a`, `7-a"`, `"7-a" "8-b"`, `w/"7-a"`, `"7-a", *`, `W/7`} {
		_, err := Precondition{IfMatch: &header}.Revisions()
		require.True(t, problem.Is(err, problem.InvalidParameter), header)
	}
}

// The encoder writes maps in another order each time, unless it is asked not to.
func TestTheSameAnswerHasTheSameTag(t *testing.T) {
	t.Parallel()
	body := map[string]string{"utm_source": "a", "utm_medium": "b", "utm_campaign": "c",
		"utm_term": "d", "utm_content": "e"}
	tags := map[string]bool{}
	for range 20 {
		r := httptest.NewRequest(http.MethodGet, "/", http.NoBody)
		inTags, report := httptest.NewRecorder(), httptest.NewRecorder()
		require.NoError(t, writeTagged(inTags, r, taggedAnswer{http.StatusOK, nil, body, nil, 7}))
		require.NoError(t, writeReport(report, r, http.StatusOK, nil, body))
		tags[inTags.Header().Get("ETag")+report.Header().Get("ETag")] = true
	}
	require.Len(t, tags, 1)
}

func FuzzEntityTags(f *testing.F) {
	f.Add(`W/"7-a", "x"`)
	f.Fuzz(func(t *testing.T, list string) {
		tags, ok := entityTags(list)
		require.True(t, !ok || len(tags) > 0)
	})
}

func TestEntityTag(t *testing.T) {
	t.Parallel()
	tag := entityTag(12, []byte("{}"))
	require.Regexp(t, `^"12-[0-9a-f]{16}"$`, tag)
	require.NotEqual(t, tag, entityTag(12, []byte("{ }")))
	got, err := Precondition{IfMatch: &tag}.Revisions()
	require.NoError(t, err)
	require.Equal(t, []int64{12}, got)
}

func TestChange(t *testing.T) {
	t.Parallel()
	var body struct {
		A, B, C Change[string]
	}
	require.NoError(t, json.Unmarshal([]byte(`{"A":null,"B":"x"}`), &body))
	require.Equal(t, Change[string]{Given: true}, body.A)
	require.Equal(t, Change[string]{Given: true, Value: new("x")}, body.B)
	require.False(t, body.C.Given)
	require.Error(t, json.Unmarshal([]byte(`{"A":5}`), &body))

	// In a body, it is checked as its value is.
	type change struct {
		Count Change[int32] `json:"count" required:"false" minimum:"1" maximum:"10000"`
	}
	s := jsonschema.NewSet().Of(reflect.TypeFor[change](), "")
	for text, want := range map[string]*int32{"5": new(int32(5)), "5.0": new(int32(5)),
		"50e-1": new(int32(5)), "null": nil} {
		var v change
		require.NoError(t, jsonschema.Decode([]byte(`{"count":`+text+`}`), s, nil, &v), text)
		require.Equal(t, Change[int32]{Given: true, Value: want}, v.Count, text)
	}
	for _, text := range []string{"5.5", "0", "10001", "1e400", "4294967301", "1e-999999999999999999999"} {
		var p *problem.Problem
		require.ErrorAs(t, jsonschema.Decode([]byte(`{"count":`+text+`}`), s, nil, &change{}), &p, text)
		require.Equal(t, []problem.Field{{Field: "count", Message: "must be a whole number from 1 to 10000"}}, p.Errors, text)
	}
}

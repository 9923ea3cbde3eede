package jsonschema

import (
	"reflect"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/problem"
)

type fuzzed struct {
	Title string   `json:"title" minLength:"1" maxLength:"5"`
	Note  *string  `json:"note" required:"false" format:"text"`
	ID    *string  `json:"id" required:"false" format:"uuid"`
	Count *int32   `json:"count" required:"false" minimum:"1" maximum:"9"`
	On    bool     `json:"on" required:"false"`
	List  []string `json:"list,omitempty" nullable:"false" maxItems:"2"`
}

// Any body is either taken, and then means the same when it is written again, or refused with one
// of two codes.
func FuzzBody(f *testing.F) {
	s := NewSet().Of(reflect.TypeFor[fuzzed](), "")
	for _, seed := range []string{
		`{"title":"a"}`, `{"title":"a","note":null,"id":"0191d3c5-8a4e-7c1f-9b1d-3f2f6f0a7e55","count":3,"on":true,"list":["x"]}`,
		`{"title":"\ud83d\ude00"}`, `{"title":"\u0000"}`, `{"count":1e0,"title":"a"}`, `[[[[`, `{"title":"a","title":"b"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var v fuzzed
		if err := Decode(body, s, nil, &v); err != nil {
			require.True(t, problem.Is(err, problem.InvalidJSON) || problem.Is(err, problem.ValidationError), "%v", err)
			return
		}
		again, err := json.Marshal(v)
		require.NoError(t, err)
		var w fuzzed
		require.NoError(t, Decode(again, s, nil, &w), "%s", again)
		v.List, w.List = append([]string{}, v.List...), append([]string{}, w.List...) // none is none
		require.Equal(t, v, w)
	})
}

func FuzzParseTime(f *testing.F) {
	f.Add("2026-03-01T09:30:15.5+02:00")
	f.Add("20260301")
	f.Fuzz(func(t *testing.T, text string) {
		got, err := ParseTime(text)
		if err != nil {
			return
		}
		again, err := ParseTime(got.Format("2006-01-02T15:04:05.999999999Z"))
		require.NoError(t, err)
		require.True(t, got.Equal(again))
	})
}

package jsonschema

import (
	"math/big"
	"reflect"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/problem"
)

type counted struct {
	Count *int32  `json:"count" required:"false" minimum:"-5" maximum:"10000"`
	Title *string `json:"title" required:"false"`
	On    *bool   `json:"on" required:"false"`
	List  []int64 `json:"list,omitempty" nullable:"false"`
}

// A whole number is one in every form that JSON has for it, and what cannot be taken is reported to
// be out of what the field takes, whatever its form.
func TestNumbers(t *testing.T) {
	t.Parallel()
	s := NewSet().Of(reflect.TypeFor[counted](), "")
	for text, want := range map[string]int32{
		"5": 5, "5.0": 5, "5e0": 5, "1e2": 100, "1E+2": 100, "50e-1": 5, "0.5e1": 5, "0": 0, "-0": 0, "-0.0e5": 0,
		"0e999999999999999999999": 0,
		"-5":                      -5, "-5.000": -5, "10000.0": 10000, "0.0001e7": 1000,
		"1000000000000000000000000e-21": 1000,
	} {
		var v counted
		require.NoError(t, Decode([]byte(`{"count":`+text+`}`), s, nil, &v), text)
		require.Equal(t, want, *v.Count, text)
	}
	for _, text := range []string{
		"5.5", "1e-1", "1e400", "-1e400", "1e-400", "1.00000000000000000000000000001",
		"1e999999999999999999999", "1e-999999999999999999999",
		"10000.5", "10001", "-6", "4294967301", "9223372036854775808", "0.1e9999999999",
	} {
		fields := refused(t, Decode([]byte(`{"count":`+text+`}`), s, nil, &counted{}), text)
		require.Equal(t, problem.Field{Field: "count", Message: "must be a whole number from -5 to 10000"}, fields[0], text)
		fields = refused(t, Decode([]byte(`{"title":`+text+`}`), s, nil, &counted{}), text)
		require.Equal(t, "must be a string, not a number", fields[0].Message, text)
		fields = refused(t, Decode([]byte(`{"on":`+text+`}`), s, nil, &counted{}), text)
		require.Equal(t, "must be true or false, not a number", fields[0].Message, text)
	}
	var v counted
	require.NoError(t, Decode([]byte(`{"list":[9007199254740993,9007199254740993.0]}`), s, nil, &v))
	require.Equal(t, []int64{9007199254740993, 9007199254740993}, v.List, "no digit is lost")
	require.Equal(t, "list[0]", refused(t, Decode([]byte(`{"list":[1e30]}`), s, nil, &v), "list")[0].Field)
}

func refused(t *testing.T, err error, text string) []problem.Field {
	t.Helper()
	var p *problem.Problem
	require.ErrorAs(t, err, &p, text)
	require.Equal(t, problem.ValidationError, p.Code, text)
	require.Len(t, p.Errors, 1, text)
	return p.Errors
}

// Against exact arithmetic.
func FuzzWhole(f *testing.F) {
	for _, seed := range []string{"0", "-1", "5.0", "1e2", "12.5e1", "9223372036854775807", "-9223372036854775808",
		"9223372036854775808", "1e-3", "0.000e99"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !jsontext.Value(text).IsValid() || text != strings.TrimSpace(text) || len(text) > 200 ||
			jsontext.Value(text).Kind() != '0' {
			return
		}
		if i := strings.IndexAny(text, "eE"); i >= 0 && len(text)-i > 5 {
			return // too much for the model
		}
		exact, ok := new(big.Rat).SetString(text)
		require.True(t, ok)
		got, err := number(text).integer()
		if exact.IsInt() && exact.Num().IsInt64() {
			require.NoError(t, err)
			require.Equal(t, exact.Num().Int64(), got)
			return
		}
		require.Error(t, err)
	})
}

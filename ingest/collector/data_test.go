package collector

import (
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/event"
)

// FuzzDistinct holds the short way to find members that occur twice against the decoder's own.
func FuzzDistinct(f *testing.F) {
	for _, text := range []string{
		`{}`, `{"page":3,"duration_ms":8200}`, `{"a":1,"a":2}`, `{"a":1,"\u0061":2}`, `{"a":{"b":1,"b":2},"c":3}`,
		`{"a":"x,y","b":"\"","c":[1,2]}`, `{"":1,"":2}`, `{"a":1,"b":2,"c":3,"d":4,"e":5,"f":6,"g":7,"h":8,"i":9,"a":0}`, `{ "a" : 1 , "a" : 2 }`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		value := jsontext.Value(text)
		if !value.IsValid(jsontext.AllowDuplicateNames(true)) || value.Kind() != '{' {
			return
		}
		if value = value.Clone(); spaced(value) {
			require.NoError(t, value.Compact())
		} else {
			same := value.Clone()
			require.NoError(t, same.Compact())
			require.Equal(t, same, value, "nothing to compact")
		}
		if _, depth, sound := scanData(value); sound && depth <= event.MaxDataDepth {
			require.Equal(t, value.IsValid(), distinct(value, depth), string(value))
		}
	})
}

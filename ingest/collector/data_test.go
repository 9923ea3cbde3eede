package collector

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/event"
)

// FuzzEventData compares what is read of event_data with the decoder's own view of the value.
func FuzzEventData(f *testing.F) {
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
		compact := value.Clone()
		require.NoError(t, compact.Compact())
		if !spaced(value) {
			require.Equal(t, compact, value, "nothing to compact")
		}
		var ev event.Event
		if problem := parseData(&ev, value.Clone()); problem == nil {
			require.True(t, compact.IsValid())
			require.Equal(t, string(compact), string(ev.Data))
		} else if strings.Contains(problem.message, "twice") {
			require.False(t, compact.IsValid())
		}
	})
}

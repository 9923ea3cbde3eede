package collector

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/event"
	"lodestone/pkg/source"
)

// Names and strings are stored in normal form C, within the limits of what is stored.
func TestDataInNormalForm(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		"{ \"cafe\u0301\" : [\"e\u0301\", 1.0] }":       `{"café":["é",1.0]}`,
		`{"a":"\u0065\u0301","b":"\u0000\n"}`:           `{"a":"é","b":"\u0000\n"}`,
		`{"page":7,"duration_ms":5,"a":"\u0041\u030a"}`: `{"page":7,"duration_ms":5,"a":"Å"}`,
	} {
		var ev event.Event
		require.Nil(t, parseData(&ev, jsontext.Value(given)), given)
		require.Equal(t, want, string(ev.Data))
	}
	for given, message := range map[string]string{
		"{\"\u00e9\":1,\"e\u0301\":2}":                   "twice",
		`{"a":{"\u00e9":1,"e\u0301":2}}`:                 "twice",
		`{"a":"` + strings.Repeat("\u0958", 1362) + `"}`: "bytes without whitespace",
		`{"a":[[["e\u0301",[]]]]}`:                       "deep",
		`{"a":"e\u0301\ud800"}`:                          "escape",
	} {
		require.Contains(t, parseData(new(event.Event), jsontext.Value(given)).message, message, given)
	}
}

// FuzzEventData compares what is read of event_data with the decoder's own view of the value.
func FuzzEventData(f *testing.F) {
	for _, text := range []string{
		`{}`, `{"page":3,"duration_ms":8200}`, `{"a":1,"a":2}`, `{"a":1,"\u0061":2}`, `{"a":{"b":1,"b":2},"c":3}`,
		`{"a":"x,y","b":"\"","c":[1,2]}`, `{"":1,"":2}`, `{"a":1,"b":2,"c":3,"d":4,"e":5,"f":6,"g":7,"h":8,"i":9,"a":0}`,
		`{ "a" : 1 , "a" : 2 }`,
		`{"e\u0301":1,"é":2}`, "{\"a\":\"e\u0301\\n\"}",
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
			require.Equal(t, string(source.JSON(compact)), string(ev.Data))
		} else if strings.Contains(problem.message, "twice") {
			require.False(t, jsontext.Value(source.JSON(compact)).IsValid())
		}
	})
}

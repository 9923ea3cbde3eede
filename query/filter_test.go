package query

import (
	"reflect"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/event"
	"lodestone/query/eventlist"
)

// Every filter parameter reaches the list, and every filter of the list has a parameter.
func TestEveryFilterParameterReachesTheList(t *testing.T) {
	t.Parallel()
	values := map[reflect.Type]any{
		reflect.TypeFor[*uuid.UUID](): &uuid.UUID{1}, reflect.TypeFor[*time.Time](): new(time.Unix(1, 0)),
		reflect.TypeFor[*bool](): new(true), reflect.TypeFor[eventType](): eventType(event.PageViewed.String()),
	}
	input := reflect.TypeFor[EventFilter]()
	reached := map[string]bool{}
	for i := range input.NumField() {
		if field := input.Field(i); !field.Anonymous {
			var in EventFilter
			reflect.ValueOf(&in).Elem().Field(i).Set(reflect.ValueOf(values[field.Type]))
			f, err := in.filter()
			require.NoError(t, err)
			before := len(reached)
			for j := range reflect.TypeFor[eventlist.Filter]().NumField() {
				if !reflect.ValueOf(f).Field(j).IsZero() {
					reached[reflect.TypeFor[eventlist.Filter]().Field(j).Name] = true
				}
			}
			require.Len(t, reached, before+1, "%s sets one field of the filter", field.Name)
		}
	}
	require.Len(t, reached, reflect.TypeFor[eventlist.Filter]().NumField())
}

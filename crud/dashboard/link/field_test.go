package link

import (
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/crud/field"
)

// The form pairs options and labels by line, shows again what was typed, and loses no label.
func TestTypedOptions(t *testing.T) {
	t.Parallel()
	typed := url.Values{"field.0.kind": {"choice"}, "field.0.key": {"size"}, "field.0.label": {"Size"},
		"field.0.options": {"Small\r\n\r\nLarge\r\n"}, "field.0.option_labels.de": {"\r\n\r\nGroß\r\nRiesig"}}
	list := typedFields(typed)
	require.Equal(t, []string{"Small", "Large"}, list[0].Options)
	require.Equal(t, map[string]map[string]string{"de": {"Large": "Groß", "Riesig": "Riesig"}}, list[0].OptionLabels)
	require.Equal(t, "fields[0].option_labels.de", list.Check()[0].Field)
	setFields(typed, list)
	require.Equal(t, "\nGroß\nRiesig", typed.Get("field.0.option_labels.de"))
	require.Equal(t, list, typedFields(typed))
	typed.Set("field.0.kind", string(field.Text))
	require.Empty(t, typedFields(typed)[0].OptionLabels)
}

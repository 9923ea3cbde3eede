package field_test

import (
	"maps"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/crud/field"
	"lodestone/crud/web"
	"lodestone/pkg/locale"
)

func TestWrongFieldsAreNamed(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 201)
	list := field.List{
		{Key: "a", Kind: field.Company, Label: "A", Labels: map[string]string{"xx": "A", "de": " ", "fr": long}},
		{Key: "a", Kind: field.Hidden, Label: "B", Required: true},
		{Key: "c", Kind: field.Choice, Label: "C", Options: []string{"one"}},
		{Key: "d", Kind: field.Choice, Label: "D", Options: []string{"one", " two", "one", "a  b"}},
		{Key: "e", Kind: field.Text, Label: "E", Options: []string{"one", "two"}},
		{Key: "f", Kind: field.Choice, Label: "F", Options: []string{"one", "two"},
			OptionLabels: map[string]map[string]string{"de": {"three": "drei"}, "fr": {"one": " "}, "es": {"one": "uno"},
				"xx": {"one": "x"}}},
	}
	var wrong []string
	for _, w := range list.Check() {
		wrong = append(wrong, w.Field)
	}
	require.Equal(t, []string{"fields[0].labels.de", "fields[0].labels.fr", "fields[0].labels.xx", "fields[1].key",
		"fields[1].required", "fields[2].options", "fields[3].options[1]", "fields[3].options[2]", "fields[3].options[3]",
		"fields[4].options", "fields[5].option_labels.de", "fields[5].option_labels.fr", "fields[5].option_labels.xx"}, wrong)
	require.Empty(t, field.List{{Key: "d", Kind: field.Choice, Label: "D", Options: []string{"1–10", "2"},
		Labels: map[string]string{"de": "Ä"}}}.Check())
}

// A page shows an option in its language; what it sends, and what is stored, is the option.
func TestOptionsHaveLabels(t *testing.T) {
	t.Parallel()
	all, err := web.VisitorTexts()
	require.NoError(t, err)
	list := field.List{{Key: "size", Kind: field.Choice, Label: "Size", Options: []string{"Small", "Large"},
		OptionLabels: map[string]map[string]string{"de": {"Small": "Klein"}}}}
	for language, words := range map[locale.Language][]string{"de": {"Klein", "Large"}, "en": {"Small", "Large"}} {
		in := list.Inputs(all.In(language))[0]
		require.Equal(t, words, in.Words)
		require.Equal(t, []string{"Small", "Large"}, in.Options)
	}
	answers, wrong := list.Answers(map[string]string{"size": "Small"}, nil)
	require.Equal(t, map[string]string{"size": "Small"}, answers)
	require.Empty(t, wrong)
	_, wrong = list.Answers(map[string]string{"size": "Klein"}, nil)
	require.NotEmpty(t, wrong)
}

// Each answer is stored as it is compared later, or refused with the reason.
func TestAnswersAreChecked(t *testing.T) {
	t.Parallel()
	all, err := web.VisitorTexts()
	require.NoError(t, err)
	for _, test := range []struct {
		kind               field.Kind
		typed, stored, key string
	}{
		{field.Company, "  Acme \t Ltd ", "Acme Ltd", ""},
		{field.Company, strings.Repeat("x", 201), "", "wrong.field.long"},
		{field.Text, strings.Repeat("ü", 500), strings.Repeat("ü", 500), ""},
		{field.Text, strings.Repeat("ü", 501), "", "wrong.field.long"},
		{field.Text, "\u200b\u0000", "", "wrong.field.empty"},
		{field.Phone, "+44 (0)20 7946-0958 ext. 12", "+44 (0)20 7946-0958 ext. 12", ""},
		{field.Phone, "call me", "", "wrong.field.phone"},
		{field.Phone, "+49", "", "wrong.field.phone"},
		{field.Number, "+1200", "1200", ""},
		{field.Number, "-12,5", "-12.5", ""},
		{field.Number, "1,000", "", "wrong.field.number"},
		{field.Number, "1e3", "", "wrong.field.number"},
		{field.Number, "many", "", "wrong.field.number"},
		{field.Choice, "11–50", "11–50", ""},
		{field.Choice, "11-50", "", "wrong.field.choose"},
		{field.Choice, "", "", "wrong.field.choose"},
		{field.Number, "", "", "wrong.field.empty"},
	} {
		list := field.List{{Key: "x", Kind: test.kind, Label: "Team", Labels: map[string]string{"de": "Gruppe"},
			Required: true, Options: []string{"1–10", "11–50"}}}
		typed, hidden := field.Read(url.Values{"field.x": {test.typed}, "field.other": {"y"}})
		answers, wrong := list.Answers(typed, hidden)
		want, reasons := map[string]string{"x": test.stored}, map[string]string{"field.x": test.key}
		maps.DeleteFunc(want, func(_, text string) bool { return text == "" })
		maps.DeleteFunc(reasons, func(_, key string) bool { return key == "" })
		require.Equal(t, want, answers, "%s %q", test.kind, test.typed)
		require.Equal(t, reasons, wrong, "%s %q", test.kind, test.typed)
		if test.key != "" {
			require.Contains(t, list.Messages(all.In("de"), wrong)["field.x"], "„Gruppe“")
			require.Contains(t, list.Messages(all.In("en"), wrong)["field.x"], "“Team”")
		}
		list[0].Required = false
		_, wrong = list.Answers(map[string]string{}, hidden)
		require.Empty(t, wrong)
	}
}

func TestHiddenFieldsAreParameters(t *testing.T) {
	t.Parallel()
	list := field.List{{Key: "plan", Kind: field.Hidden, Label: "Plan"}, {Key: "company", Kind: field.Company, Label: "C"}}
	require.Equal(t, map[string]string{"plan": "pro & more"},
		list.FromQuery("plan=pro+%26+more&company=Acme&utm_source=x&%zz"))
	answers, wrong := list.Answers(map[string]string{"plan": "typed"},
		map[string]string{"plan": "pro", "company": "hidden"})
	require.Empty(t, wrong)
	require.Equal(t, map[string]string{"plan": "pro"}, answers)
	_, hidden := field.Read(url.Values{"hidden.plan": {strings.Repeat("x", 600)}})
	require.Len(t, hidden["plan"], 500)
}

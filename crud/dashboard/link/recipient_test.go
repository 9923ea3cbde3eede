package link

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestListsOfAddresses(t *testing.T) {
	t.Parallel()
	for list, want := range map[string]string{
		"": "", " a@x.example\r\nb@x.example, c@x.example;d@x.example\te@x.example ": "a@x.example b@x.example c@x.example d@x.example e@x.example",
		"Jo <a@x.example>, Al <b@x.example>":                        "a@x.example b@x.example",
		`"Doe, Jo" <a@x.example>; "Al" <b@x.example>`:               "a@x.example b@x.example",
		"Jo Doe <a@x.example>\nb@x.example\n<c@x.example>":          "a@x.example b@x.example c@x.example",
		"b@x.example Jo <a@x.example>":                              "b@x.example a@x.example",
		"a@x.example\u00a0b@x.example\u3000c@x.example，d@x.example": "a@x.example b@x.example c@x.example d@x.example",
		"a.x.example, b@x.example":                                  "a.x.example b@x.example",
	} {
		require.Equal(t, want, strings.Join(addressesIn(list), " "), "%q", list)
	}
}

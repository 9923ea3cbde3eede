package webhook

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lodestone/crud/mail"
)

var update = flag.Bool("update", false, "write the expected bodies again")

// hostile is a text that a visitor may type into a form.
const hostile = "<!here> @everyone <https://evil.example|free> [free](https://evil.example) **x** & @channel <@U123> `x` # x"

// What is sent to each program is as expected: nothing that a visitor typed is markup there,
// mentions anyone or becomes a link.
func TestBodies(t *testing.T) {
	t.Parallel()
	words := mail.Words{
		Subject: "New lead: " + hostile, Before: []string{"Someone asked for your document."},
		Facts: []mail.Fact{{Name: "Email", Value: "jo@example.com"}, {Name: "Name", Value: hostile},
			{Name: "Campaign", Value: ""}},
		After:  []string{"The last one for an hour."},
		Button: "See this lead", URL: "https://links.example.com/dashboard/readers/1?a=1&b=2",
	}
	for _, f := range Formats()[1:] {
		got, err := f.encode(Notice{KindLeads, words}, time.Now())
		require.NoError(t, err)
		file := filepath.Join("testdata", "format", string(f)+".json")
		if *update {
			require.NoError(t, os.WriteFile(file, []byte(got+"\n"), 0o600))
		}
		want, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Equal(t, string(want), got+"\n")
	}
}

// However long a notice is, it is within what the programs take.
func TestBodiesAreBounded(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ö", 10_000)
	words := mail.Words{Subject: long, Before: []string{long}, After: []string{long}}
	for range 50 {
		words.Facts = append(words.Facts, mail.Fact{Name: "Name", Value: long})
	}
	for _, f := range Formats()[1:] {
		got, err := f.encode(Notice{KindLeads, words}, time.Now())
		require.NoError(t, err)
		require.Less(t, len(got), 60<<10, f)
	}
	require.LessOrEqual(t, len([]rune(discordEscape(strings.Repeat("*", maxHeading/2)))), 256)
}

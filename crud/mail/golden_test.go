package mail

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/crud/page"
	"lodestone/pkg/locale"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// The mails about readers, in every language. The tests in Chromium draw the same files on narrow and wide windows, so their texts are
// as long as they come.
func TestMailsAboutReaders(t *testing.T) {
	t.Parallel()
	w := writer(t)
	brand := Brand{Name: "Northwind Research & Consulting", Accent: page.Token("accent")}
	reading := Reading{
		Email: "an.unusually.long.address.of.a.reader@department.of.a.large.organisation.example.org",
		Title: "Measuring what readers do: the Donaudampfschifffahrtsgesellschaft in numbers, 2026",
		Pages: 11, PageCount: 12, Duration: time.Hour + 8*time.Minute + 5*time.Second, StartedAt: submitted,
	}
	for _, language := range locale.Languages() {
		m := Message{
			Kind: KindReading, AccountID: uuid.MustParse("0192f0c1-2f6b-7cc0-8a3c-1d2e3f405162"), To: "owner@example.com", Language: language, Timezone: "Europe/Berlin",
			URL: "https://links.example.com/dashboard/readers/0192f0c1-2f6b-7cc0-8a3c-1d2e3f405162", Unsubscribe: unsubscribe,
		}
		var day []Reading
		for _, news := range [][]News{{Finished, Returned}, {Downloaded}, {Returned}, {Opened}} {
			one := reading
			one.News = news
			m.Readings = &Readings{List: []Reading{one}, Last: news[0] == Downloaded}
			golden(t, w, m, brand, string(news[0]))
			day = append(day, one)
		}
		m.Kind, m.URL = KindReadings, "https://links.example.com/dashboard/readers"
		m.Readings = &Readings{Day: w.texts.In(language).Days(submitted, submitted), Total: 57, List: day}
		golden(t, w, m, brand, "daily")
	}
}

// golden compares the HTML of a mail with its file.
func golden(t *testing.T, w *worker, m Message, brand Brand, name string) {
	t.Helper()
	_, o := postedBy(t, w, m, brand)
	text := strings.ReplaceAll(o.html, "\r\n", "\n")
	require.Contains(t, text, `lang="`+string(m.Language)+`"`)
	require.NotRegexp(t, `<(img|script|iframe|form|input)|mail\.[a-z]+\.|\{[a-z]+\}`, text, name)
	file := filepath.Join("testdata", "reading", name+"-"+string(m.Language)+".html")
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o750))
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), text, "run `go test -run TestMailsAboutReaders ./crud/mail -update`, and look at %s", file)
}

package mail

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/locale"
)

// The longest report is far from the size at which programs cut mails off, in every language.
// Nothing in it is English elsewhere.
func TestWeeklyReportInEveryLanguage(t *testing.T) {
	t.Parallel()
	w := writer(t)

	for _, l := range locale.Languages() {
		m := messages()["weekly"]
		m.Language = l
		long := *m.Weekly
		long.Days = nil
		for i := range 7 {
			long.Days = append(long.Days, Bar{fmt.Sprintf("%d", i), "1,234,567", i * 10})
		}
		long.Magnets = nil
		for range 5 {
			magnet := WeeklyMagnet{Title: strings.Repeat("Long ", 24), URL: "https://links.example.com/dashboard/magnets/1"}
			for range 5 {
				magnet.Steps = append(magnet.Steps, Bar{"Formulaires envoyés", "1,234,567", 50})
			}
			long.Magnets = append(long.Magnets, magnet)
		}
		m.Weekly = &long
		_, o := posted(t, w, m)
		require.Less(t, len(o.html), 40<<10, "mail programs cut off what has more than 100 kB")
		require.Contains(t, o.html, `lang="`+string(l)+`"`)
		require.Contains(t, o.text, m.Weekly.Week)
		if l == locale.English {
			continue
		}
		for _, word := range []string{"get this", "weekly", "switched", "Readers by day", "more in the"} {
			require.NotContains(t, o.text, word, l)
		}
	}
}

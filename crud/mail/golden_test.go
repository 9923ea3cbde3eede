package mail

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/crud/web"
	"lodestone/pkg/locale"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// The mails about readers, in every language. The tests in Chromium draw the same files on narrow
// and wide windows, so their texts are as long as they come.
func TestMailsAboutReaders(t *testing.T) {
	t.Parallel()
	w := writer(t)
	brand := Brand{Name: "Northwind Research & Consulting", Accent: web.Token("accent")}
	reading := Reading{
		Email: "an.unusually.long.address.of.a.reader@department.of.a.large.organisation.example.org",
		Title: "Measuring what readers do: the Donaudampfschifffahrtsgesellschaft in numbers, 2026",
		Pages: 11, PageCount: 12, Duration: time.Hour + 8*time.Minute + 5*time.Second, StartedAt: submitted,
	}
	for _, language := range locale.Languages() {
		m := Message{
			Kind: KindReading, AccountID: uuid.MustParse("0192f0c1-2f6b-7cc0-8a3c-1d2e3f405162"), To: "owner@example.com",
			Language: language, Timezone: "Europe/Berlin",
			URL: "https://links.example.com/dashboard/readers/0192f0c1-2f6b-7cc0-8a3c-1d2e3f405162", Unsubscribe: unsubscribe,
		}
		var day []Reading
		for _, news := range [][]News{{Finished, Returned}, {Downloaded}, {Returned}, {Opened}} {
			one := reading
			one.News = news
			m.Readings = &Readings{List: []Reading{one}, Last: news[0] == Downloaded}
			golden(t, w, m, brand, "reading/"+string(news[0]))
			day = append(day, one)
		}
		m.Kind, m.URL = KindReadings, "https://links.example.com/dashboard/readers"
		m.Readings = &Readings{Day: w.texts.In(language).Days(submitted, submitted), Total: 57, List: day}
		golden(t, w, m, brand, "reading/daily")
	}
}

// The mails of every other kind, in the language that they were written in, one with long words,
// and one with long sentences.
func TestMailsOfEveryKind(t *testing.T) {
	t.Parallel()
	w := writer(t)
	brand := Brand{Name: "Northwind Research & Consulting", Accent: web.Token("accent")}
	for _, language := range []locale.Language{locale.English, "de", "pl"} {
		texts := w.texts.In(language)
		for name, m := range messages() {
			if m.Readings != nil {
				continue // see above
			}
			m.Language, m.Timezone = language, "Europe/Berlin"
			if m.Kind == KindWeekly {
				m.Weekly = weekOf(texts)
			}
			if m.Kind == KindDigest {
				m.Leads.Day = texts.Days(submitted, submitted)
			}
			golden(t, w, m, brand, "kind/"+name)
		}
	}
}

// weekOf is a full report in a language.
func weekOf(texts *web.Texts) *Weekly {
	week := &Weekly{Week: texts.Days(submitted.AddDate(0, 0, -7), submitted.AddDate(0, 0, -1)), Readers: 1204, More: 3}
	for i, metric := range []string{"visitors", "submissions", "verified", "people",
		"people_finished", "people_downloaded"} {
		week.Tiles = append(week.Tiles, Number{texts.Say("mail.weekly." + metric), "1,234,567",
			[]string{"+12 %", "−3 %", texts.Say("mail.weekly.same"), texts.Say("mail.weekly.new")}[i%4]})
	}
	for i := range 7 {
		day := submitted.AddDate(0, 0, i-7)
		week.Days = append(week.Days, Bar{texts.Days(day, day), strconv.Itoa(i * 170), i * 100 / 6})
	}
	week.Changes = []string{texts.Say("mail.weekly.changed.finish.up", "rate", "25 %", "before", "20 %"),
		texts.Say("mail.weekly.changed.forms", "rate", "29 %", "visitors", "5,310")}
	for _, title := range []string{"The Complete Guide",
		"Measuring what readers do: the Donaudampfschifffahrtsgesellschaft in numbers, 2026"} {
		magnet := WeeklyMagnet{Title: title, URL: "https://links.example.com/dashboard/magnets/1"}
		for i, metric := range []string{"visitors", "submissions", "verified", "people", "people_finished"} {
			magnet.Steps = append(magnet.Steps, Bar{texts.Say("mail.weekly." + metric), "6,001", 100 - 20*i})
		}
		week.Magnets = append(week.Magnets, magnet)
	}
	return week
}

// Mails whose texts would run if they were not shown as they were typed. The tests in Chromium look
// whether one does.
func TestMailsOfHostileTexts(t *testing.T) {
	t.Parallel()
	w := writer(t)
	planted := 0
	plant := func() string {
		planted++
		return fmt.Sprintf(`"'><img src=x onerror=ran()>%d`, planted)
	}
	for _, name := range slices.Sorted(maps.Keys(messages())) {
		was, m := messages()[name], messages()[name]
		fill(reflect.ValueOf(&m).Elem(), plant)
		// ours, or checked before
		m.Kind, m.To, m.URL, m.Code, m.Role, m.Unsubscribe = was.Kind, was.To, was.URL, was.Code, was.Role, was.Unsubscribe
		m.Language, m.Timezone = locale.English, ""
		if m.Readings != nil {
			m.Readings.List[0].News = was.Readings.List[0].News
		}
		if m.Alerts != nil {
			for i := range m.Alerts.List {
				m.Alerts.List[i].Metric, m.Alerts.List[i].Direction = was.Alerts.List[i].Metric, was.Alerts.List[i].Direction
			}
		}
		golden(t, w, m, Brand{Name: plant(), Accent: web.Token("accent")}, "hostile/"+name)
	}
}

// fill plants a text in every text of a value.
func fill(v reflect.Value, plant func() string) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(plant())
	case reflect.Pointer:
		if !v.IsNil() {
			fill(v.Elem(), plant)
		}
	case reflect.Slice:
		for i := range v.Len() {
			fill(v.Index(i), plant)
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			return
		}
		for _, field := range v.Fields() {
			fill(field, plant)
		}
	}
}

// golden compares the HTML of a mail with its file.
func golden(t *testing.T, w *worker, m Message, brand Brand, name string) {
	t.Helper()
	_, o := postedBy(t, w, m, brand)
	text := strings.ReplaceAll(o.html, "\r\n", "\n")
	require.Contains(t, text, `lang="`+string(m.Language)+`"`)
	require.NotRegexp(t, `<(img|script|iframe|form|input)|mail\.[a-z]+\.|\{[a-z]+\}`, text, name)
	file := filepath.Join("testdata", filepath.FromSlash(strings.ReplaceAll(name, " ", "-"))+
		"-"+string(m.Language)+".html")
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o750))
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(want), text, "run `go test -run TestMails ./crud/mail -update`, and look at %s", file)
}

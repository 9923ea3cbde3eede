package mail

import (
	"cmp"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/crud/web"
	"lodestone/pkg/locale"
	"lodestone/pkg/test/enginetest"
)

// A visitor gets a mail in the name and colour of the account, with the title of the requested
// document.
func TestMailsToVisitorsCarryTheAccount(t *testing.T) {
	t.Parallel()
	w := writer(t)
	b := Brand{Name: "Northwind Research", Accent: web.Accent("#a01030"), Logo: &Picture{"logo", "image/png", 32, 32,
		[]byte("logo's pixels")}, Cover: &Picture{"cover", "image/jpeg", 160, 226, []byte("cover's pixels")}}
	confirm := messages()["confirm"]
	confirm.Title = "Worth the email"
	raw, o := postedBy(t, w, confirm, b)
	require.Equal(t, "Northwind Research via Käse & Söhne <hello@xn--kse-qla.example>", o.decoded(t, "From"))
	require.Equal(t, "042917 is your code for “Worth the email”", o.decoded(t, "Subject"))
	require.Contains(t, o.html, "#a01030")
	require.NotContains(t, o.html, web.Token("accent").Light)
	require.Contains(t, o.html, `src="cid:logo@mail"`)
	require.Contains(t, raw, "Content-Id: <logo@mail>")
	require.Contains(t, o.text, "at Northwind Research (links.example.com)")
	// First the code, then the button, the address once, and how long they are valid.
	at := func(part string) int {
		require.Contains(t, o.html, part)
		return strings.Index(o.html, part)
	}
	require.Less(t, at(">042917<"), at("Confirm my address"))
	require.Less(t, at("Confirm my address"), at(">"+confirm.URL+"<"))
	require.Less(t, at(">"+confirm.URL+"<"), at("valid for about an hour"))
	require.Equal(t, 1, strings.Count(o.text, confirm.URL))

	_, o = postedBy(t, w, messages()["document"], b)
	require.Equal(t, "Your document: Worth the email", o.decoded(t, "Subject"))
	require.Contains(t, o.html, `src="cid:cover@mail"`)
	// An account's name is a text like any other.
	b.Name = Clean("Evil\r\nBcc: x@example.com <b>", maxBrand)
	_, o = postedBy(t, w, confirm, b)
	require.Empty(t, o.header.Get("Bcc"))
	require.NotContains(t, o.html, "<b>")
}

func TestTheBrandOfAnAccountIsRead(t *testing.T) {
	t.Parallel()
	db := enginetest.MigratedPostgres(t)
	w := writer(t)
	w.postgres = db
	account, magnet := uuid.New(), uuid.New()
	exec := func(sql string, args ...any) {
		_, err := db.Unscoped().Exec(t.Context(), sql, args...)
		require.NoError(t, err)
	}
	exec(`INSERT INTO accounts (id, name, plan, brand_color) VALUES ($1, 'Northwind', 'pro', '#a01030')`, account)
	exec(`INSERT INTO lead_magnets (id, account_id, title, file_version) VALUES ($1, $2, 'Guide', 1)`, magnet, account)
	exec(`INSERT INTO lead_magnet_files (lead_magnet_id, version, account_id, file_name, content_type, file_size, page_count, sha256) VALUES ($1, 1, $2, 'g.pdf', 'application/pdf', 1, 1, '')`, magnet, account)
	exec(`INSERT INTO pictures (id, account_id, kind, content_type, width, height, bytes) VALUES (md5('a'), $1, 'logo', 'image/png', 640, 160, 'logo')`, account)
	exec(`INSERT INTO pictures (id, account_id, kind, lead_magnet_id, version, content_type, width, height, bytes) VALUES (md5('b'), $1, 'small', $2, 1, 'image/jpeg', 480, 679, 'cover')`, account, magnet)
	m := Message{Kind: KindDocument, AccountID: account, LeadMagnetID: magnet}
	b, err := w.brandOf(t.Context(), m)
	require.NoError(t, err)
	require.Equal(t, Brand{
		Name: "Northwind", Accent: web.Accent("#a01030"),
		Logo:  &Picture{"logo", "image/png", 128, 32, []byte("logo")},
		Cover: &Picture{"cover", "image/jpeg", 160, 226, []byte("cover")},
	}, b)
	require.True(t, b.Worded(), "a broad logo has the name in it")
	// Another account's document is not shown, and a mail to an address that someone entered looks
	// like the installation.
	other := uuid.New()
	exec(`INSERT INTO accounts (id, name, plan) VALUES ($1, 'Other', 'pro')`, other)
	m.AccountID = other
	b, err = w.brandOf(t.Context(), m)
	require.NoError(t, err)
	require.Equal(t, Brand{Name: "Other", Accent: web.Token("accent")}, b)
	b, err = w.brandOf(t.Context(), Message{Kind: KindNotices, AccountID: account})
	require.NoError(t, err)
	require.Equal(t, Brand{Accent: web.Token("accent")}, b)
	for _, kind := range []Kind{KindLead, KindDigest, KindReading, KindReadings, KindWeekly, KindWebhook, KindAlerts,
		KindSignIn, KindInvitation} {
		b, err = w.brandOf(t.Context(), Message{Kind: kind, AccountID: account})
		require.NoError(t, err)
		require.Equal(t, "Northwind", b.Name)
		require.Equal(t, web.Accent("#a01030"), b.Accent)
		require.NotNil(t, b.Logo)
		require.Nil(t, b.Cover)
	}
}

// A mail to a visitor is in the language of the form, whatever that of the account's other pages.
func TestMailsToVisitorsAreInTheLanguageOfTheForm(t *testing.T) {
	t.Parallel()
	w := writer(t)
	for language, want := range map[locale.Language][2]string{
		"de": {"Ihr Dokument: Worth the email", "Bewahren Sie diese E-Mail auf"},
		"fr": {"Votre document : Worth the email", "Gardez cet e-mail"},
		"pl": {"Zamówiony dokument: Worth the email", "Warto zachować ten e-mail"},
		"":   {"Your document: Worth the email", "Keep this email"},
	} {
		m := messages()["document"]
		m.Language = language
		_, o := posted(t, w, m)
		require.Equal(t, want[0], o.decoded(t, "Subject"))
		require.Contains(t, o.text, want[1])
		require.Contains(t, o.html, want[1])
		require.Contains(t, o.html, `<html lang="`+string(cmp.Or(language, "en"))+`">`)
	}
	confirm := messages()["confirm"]
	confirm.Language = "pl"
	confirm.ExpiresAt = submitted.Add(23*time.Hour + 5*time.Minute)
	_, o := posted(t, w, confirm)
	require.Contains(t, o.text, "ważne przez około 23 godziny.")
}

// An owner's mails are in the language and the time zone of the account.
func TestMailsToOwnersAreInTheLanguageOfTheAccount(t *testing.T) {
	t.Parallel()
	w := writer(t)
	m := messages()["reading"]
	m.Timezone = "Europe/Berlin"
	_, o := posted(t, w, m)
	require.Equal(t, "jo@example.com finished “The Complete Guide”", o.decoded(t, "Subject"))
	require.Contains(t, o.text, "What happened: Read to the end · Opened for the first time")
	require.Contains(t, o.text, "Read: 11 of 12 pages")
	require.Contains(t, o.text, "Reading time: 8 min 5 s")
	require.Contains(t, o.text, "Started: 2 November 2026, 10:05 CET")
	for language, want := range map[locale.Language][2]string{
		"de": {"jo@example.com hat „The Complete Guide“ zu Ende gelesen", "2. November 2026, 10:05 CET"},
		"fr": {"jo@example.com a lu « The Complete Guide » jusqu’au bout", "2 novembre 2026 à 10:05 CET"},
		"pl": {"Przeczytano do końca „The Complete Guide”: jo@example.com", "2 listopada 2026 r., 10:05 CET"},
	} {
		m.Language = language
		_, o := posted(t, w, m)
		require.Equal(t, want[0], o.decoded(t, "Subject"))
		require.Contains(t, o.text, want[1])
		require.Contains(t, o.html, want[1])
	}
	// Every kind is in every language.
	for name, m := range messages() {
		for _, language := range locale.Languages() {
			m.Language = language
			_, o := posted(t, w, m)
			require.NotRegexp(t, `mail\.[a-z]`, o.text, name+" "+string(language))
			require.NotRegexp(t, `\{[a-z]+\}`, o.text, name+" "+string(language))
		}
	}
}

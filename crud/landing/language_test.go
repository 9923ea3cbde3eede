package landing_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

// The page is in the language of the link, else of the account, else of the browser; the mail is in
// that of the form.
func TestThePageSpeaksTheLanguageOfItsVisitor(t *testing.T) {
	t.Parallel()
	f := start(t)
	slug := f.link(t)
	for accept, want := range map[string][2]string{
		"":                   {"en", "Read the document"},
		"de-AT,de;q=0.9":     {"de", "Dokument lesen"},
		"pt-BR":              {"pt", "Ler o documento"},
		"tlh,pl;q=0.5":       {"pl", "Przeczytaj dokument"},
		"ja":                 {"en", "Read the document"},
		"fr;q=0.1, it;q=0.9": {"it", "Leggi il documento"},
	} {
		r := f.get(t, "/l/"+slug, "Accept-Language", accept)
		require.Contains(t, r.body, `<html lang="`+want[0]+`">`, accept)
		require.Contains(t, r.body, want[1], accept)
		require.Contains(t, r.header.Values("Vary"), "Accept-Language")
	}
	f.exec(t, `UPDATE accounts SET language = 'nl'`)
	require.Contains(t, f.get(t, "/l/"+slug, "Accept-Language", "de").body, "Het document lezen")
	f.exec(t, `UPDATE generic_links SET language = 'es' WHERE slug = $1`, slug)
	r := f.get(t, "/l/"+slug, "Accept-Language", "de")
	require.Contains(t, r.body, "Leer el documento")
	require.NotContains(t, r.header.Values("Vary"), "Accept-Language")
	// What an owner wrote stays as it is.
	require.Contains(t, r.body, "The Complete Guide")
}

func TestMistakesAndStatusPagesSpeakTheLanguage(t *testing.T) {
	t.Parallel()
	f := start(t)
	slug, closed := f.link(t, "collect_name = true"), f.link(t, "active = false")
	r := f.do(t, "POST", "/l/"+slug, values("email", "x"), "Sec-Fetch-Site", "same-origin", "Accept-Language", "de")
	require.Equal(t, http.StatusUnprocessableEntity, r.status)
	require.Contains(t, r.body, "Geben Sie eine E-Mail-Adresse wie jo@example.com ein.")
	require.Contains(t, r.body, "<title>Bitte prüfen: The Complete Guide</title>")
	for path, want := range map[string]string{"/l/" + closed: "Dieses Angebot ist geschlossen",
		"/l/nothing-here": "Hier gibt es keine Seite", "/verify/x/y": "Hier gibt es keine Seite"} {
		r := f.get(t, path, "Accept-Language", "de")
		require.Contains(t, r.body, want, path)
		require.Contains(t, r.body, `<html lang="de">`)
	}
	other := f.do(t, "POST", "/l/"+slug, values("email", "jo@example.com"), "Sec-Fetch-Site",
		"cross-site", "Accept-Language", "fr")
	require.Contains(t, other.body, "Ce formulaire venait d’une autre page")
}

func TestTheVerificationKeepsTheLanguageOfTheForm(t *testing.T) {
	t.Parallel()
	f := start(t)
	slug := f.link(t, "require_verification = true")
	r := f.do(t, "POST", "/l/"+slug, values("email", "jo@example.com"), "Sec-Fetch-Site",
		"same-origin", "Accept-Language", "de")
	page := r.location(t)
	require.Equal(t, "de", f.last(t).Language)
	waiting := f.get(t, page, "Accept-Language", "de")
	require.Contains(t, waiting.body, `Wir haben eine E-Mail an <strong class="address">jo@example.com</strong> gesendet.`)
	require.Contains(t, waiting.body, "Etwa 24 Stunden gültig.")
	code := []byte(f.last(t).Code)
	code[0] = '0' + (code[0]-'0'+1)%10
	wrong := f.do(t, "POST", page, values("code", string(code)), "Sec-Fetch-Site", "same-origin", "Accept-Language", "de")
	require.Equal(t, http.StatusUnprocessableEntity, wrong.status)
	require.Contains(t, wrong.body, "Sie haben noch 4 Versuche.")
	// Confirmed on a device that speaks another language: the mail is in that of the form.
	link := f.last(t).path(t)
	require.Contains(t, f.get(t, link, "Accept-Language", "fr").body, "Confirmez votre adresse")
	require.Equal(t, http.StatusSeeOther, f.do(t, "POST", link, values(), "Sec-Fetch-Site", "same-origin",
		"Accept-Language", "fr").status)
	require.Equal(t, "document", f.last(t).Kind)
	require.Equal(t, "de", f.last(t).Language)
}

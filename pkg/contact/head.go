package contact

import (
	"slices"
	"strings"
	"unicode"
)

// Heads of columns in the languages of the pages, without what is no letter.
var (
	addressHeads = []string{"email", "mail", "emailaddress", "emailadresse", "mailadresse", "adressemail", "adresseemail",
		"courriel", "correo", "correoelectrónico", "indirizzoemail", "endereçodeemail", "emailadres", "adresemail"}
	fullHeads  = []string{"name", "fullname", "displayname", "contact", "contactname", "nomcomplet", "nombrecompleto"}
	givenHeads = []string{"firstname", "first", "givenname", "forename", "vorname", "prénom", "prenom", "nombre", "nome",
		"voornaam", "imię", "imie"}
	familyHeads = []string{"lastname", "last", "surname", "familyname", "nachname", "familienname", "nom", "nomdefamille",
		"apellido", "apellidos", "cognome", "sobrenome", "apelido", "achternaam", "nazwisko"}
)

func headOf(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsLetter(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, text)
}

// addressColumn returns the column whose head is that of addresses, or else the first one whose
// head has such a word in it; -1: there is none, or the row has an address.
func addressColumn(heads []string) int {
	if slices.ContainsFunc(heads, func(head string) bool { return strings.Contains(head, "@") }) {
		return -1
	}
	at := slices.IndexFunc(heads, func(head string) bool { return slices.Contains(addressHeads, headOf(head)) })
	if at < 0 {
		at = slices.IndexFunc(heads, func(head string) bool { return strings.Contains(headOf(head), "mail") })
	}
	return at
}

// nameColumns returns the column of the whole name, or else those of its parts.
func nameColumns(heads []string) (columns []int) {
	find := func(names []string) bool {
		at := slices.IndexFunc(heads, func(head string) bool { return slices.Contains(names, headOf(head)) })
		if at >= 0 {
			columns = append(columns, at)
		}
		return at >= 0
	}
	if !find(fullHeads) {
		find(givenHeads)
		find(familyHeads)
	}
	return columns
}

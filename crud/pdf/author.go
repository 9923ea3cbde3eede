package pdf

import (
	"slices"
	"strings"
	"unicode"

	"github.com/klippa-app/go-pdfium/requests"
)

const maxAuthor = 100 // characters

// placeholders are the names that programs and systems write where the author is not known, in
// lower case.
var placeholders = []string{
	"microsoft office user", "office user", "windows user", "unknown author", "default user", "user name", "your name",
	"google docs", "microsoft word",
}

// author returns the name of the person who wrote the open file, as the file says; "" if it says
// none.
func (e *engine) author() string {
	found, err := e.pdfium.FPDF_GetMetaText(&requests.FPDF_GetMetaText{Document: e.document, Tag: "Author"})
	if err != nil {
		return ""
	}
	return personOf(found.Value)
}

// organisations are words, in small letters, of names that are not those of persons.
var organisations = []string{
	"administration", "agency", "association", "authority", "bank", "bureau", "club", "college",
	"committee", "company", "consulting",
	"corporation", "council", "court", "department", "dept", "division", "forms", "foundation", "gmbh", "government",
	"group", "gruppe", "holding", "inc",
	"institut", "institute", "international", "laboratory", "library", "limited", "llc", "ltd", "marketing", "media",
	"ministry", "museum", "network", "office",
	"partners", "plc", "production", "productions", "project", "publisher", "publishing", "sales", "sarl", "service",
	"services", "society", "software",
	"solutions", "staff", "studio", "studios", "support", "systems", "team", "technologies", "technology", "union",
	"universität", "université", "university",
	"user", "verein", "verlag",
}

// firms are forms of companies that are surnames too where they are not in capitals.
var firms = []string{"AB", "AG", "AS", "ASA", "BV", "CO", "EV", "KG", "LLP", "NV", "OY", "SA", "SE", "SPA"}

// particles are words in names of persons that begin with a small letter.
var particles = []string{
	"af", "al", "av", "bin", "da", "das", "de", "del", "della", "den", "der", "di", "do", "dos", "du", "e", "el", "ibn",
	"la", "le", "op", "ten", "ter", "van",
	"von", "y", "zu", "zum", "zur",
}

// personOf returns a text if it is the full name of a person, and else "". What programs write is
// often the name of an account of the computer, which no one means to publish, or of an
// organisation.
func personOf(text string) string {
	text = cleanTitle(text)
	words := strings.Fields(text)
	if len(words) < 2 || len(words) > 6 || len([]rune(text)) > maxAuthor ||
		slices.Contains(placeholders, strings.ToLower(text)) {
		return ""
	}
	for _, r := range text {
		if !unicode.IsLetter(r) && !unicode.IsMark(r) && !strings.ContainsRune(" .,-'’", r) {
			return ""
		}
	}
	for _, word := range words {
		if !ofPerson(word, text == strings.ToUpper(text)) {
			return ""
		}
	}
	return text
}

// ofPerson reports whether a word can be part of the name of a person. In a name that is all
// capitals, a word in capitals says nothing.
func ofPerson(word string, capitals bool) bool {
	bare := strings.Trim(word, ".,")
	letters, small := []rune(bare), strings.ToLower(bare)
	switch {
	case len(letters) == 0, bare == "-", slices.Contains(organisations, small), slices.Contains(firms, bare):
		return false
	case unicode.IsLower(letters[0]):
		return slices.Contains(particles, small) || strings.ContainsAny(bare, "'’") // d'Arc
	default: // initials are short, abbreviations of organisations are longer
		return capitals || len(letters) <= 3 || bare != strings.ToUpper(bare) || bare == small
	}
}

package pdf

import (
	"slices"
	"strings"
	"unicode"

	"github.com/klippa-app/go-pdfium/requests"
)

const maxAuthor = 100 // characters

// placeholders are the names that programs and systems write where the author is not known, in lower case.
var placeholders = []string{
	"microsoft office user", "office user", "windows user", "unknown author", "default user", "user name", "your name", "google docs", "microsoft word",
}

// author returns the name of the person who wrote the open file, as the file says; "" if it says none.
func (e *engine) author() string {
	found, err := e.pdfium.FPDF_GetMetaText(&requests.FPDF_GetMetaText{Document: e.document, Tag: "Author"})
	if err != nil {
		return ""
	}
	return personOf(found.Value)
}

// personOf returns a text if it is the full name of a person, and else "". What programs write is often the name of an account of the
// computer, which no one means to publish.
func personOf(text string) string {
	text = cleanTitle(text)
	words := strings.Fields(text)
	if len(words) < 2 || len(words) > 6 || len([]rune(text)) > maxAuthor || slices.Contains(placeholders, strings.ToLower(text)) {
		return ""
	}
	for _, r := range text {
		if !unicode.IsLetter(r) && !unicode.IsMark(r) && !strings.ContainsRune(" .,-'’", r) {
			return ""
		}
	}
	return text
}

package pdf

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/klippa-app/go-pdfium/requests"
)

// title returns the title of the open file, as the file says; "" if it says none.
func (e *engine) title() string {
	found, err := e.pdfium.FPDF_GetMetaText(&requests.FPDF_GetMetaText{Document: e.document, Tag: "Title"})
	if err != nil {
		return ""
	}
	return titleOf(found.Value)
}

var (
	// fileName matches a title that is the name of a file.
	fileName = regexp.MustCompile(
		`(?i)\.(ai|docm?x?|dotx?|dvi|eps|fm|html?|indd|key|md|odp|odt|pages|pdf|pptx?|ps|psd|pub|qxd|rtf|tex|txt|xlsx?)$`)
	// noTitle are titles that programs write by themselves, in small letters and without numbers.
	noTitle = []string{
		"document", "dokument", "documento", "default", "doc", "draft", "final", "layout", "new document",
		"no title", "none", "null", "page", "pdf", "powerpoint", "powerpoint presentation",
		"powerpoint-präsentation", "präsentation", "presentation", "présentation powerpoint",
		"presentación de powerpoint", "presentazione standard di powerpoint", "print", "report", "scan",
		"sans titre", "senza titolo", "sin título", "sem título", "naamloos", "bez tytułu", "unbenannt",
		"unbenanntes dokument", "test", "title", "titel", "untitled",
		"untitled document", "untitled presentation", "untitled design", "unknown",
	}
	byProgram = []string{"microsoft word", "microsoft powerpoint", "microsoft excel", "print ", "http://", "https://"}
)

// titleOf returns a text if it is a title for readers, and else "": many programs write the name of
// a file there, or words of their own.
func titleOf(text string) string {
	text = cleanTitle(text)
	small := strings.ToLower(text)
	bare := strings.TrimFunc(small, func(r rune) bool { return !unicode.IsLetter(r) })
	switch {
	case utf8.RuneCountInString(bare) < 3, fileName.MatchString(text), slices.Contains(noTitle, bare),
		slices.ContainsFunc(byProgram, func(start string) bool { return strings.HasPrefix(small, start) }):
		return ""
	case !strings.Contains(text, " ") && strings.ContainsFunc(text, func(r rune) bool {
		return r == '_' || r < utf8.RuneSelf && unicode.IsDigit(r)
	}): // such as guide_v3 or DOC20260131
		return ""
	default:
		return text
	}
}

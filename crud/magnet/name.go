package magnet

import (
	"mime"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"lodestone/pkg/problem"
)

const (
	maxNameBytes = 255
	extension    = ".pdf"
)

// cleanName returns the last element of the name that a file was sent with, or one derived from the
// title if it was sent without. It ends with .pdf.
func cleanName(name, title string) (string, error) {
	if name == "" {
		return asPDF(strings.NewReplacer("/", "-", `\`, "-").Replace(title)), nil
	}
	name = filepath.Base(filepath.FromSlash(strings.ReplaceAll(name, `\`, "/")))
	bad := !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl) || len(name) > maxNameBytes ||
		name == "." || name == ".." || name == string(filepath.Separator)
	if bad {
		return "", problem.Invalid(problem.Field{Field: "file_name",
			Message: "must be a name of at most 255 bytes without control characters"})
	}
	return asPDF(name), nil
}

// asPDF returns a name that systems take for a PDF's and for nothing else: it ends with .pdf, has
// at most maxNameBytes, and none of the characters that end a line or turn the direction of the
// text, with which another ending can be made to look like the last one.
func asPDF(name string) string {
	name = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == utf8.RuneError {
			return '-'
		}
		return r
	}, name)
	stem, last := name, extension
	if at := len(name) - len(extension); at >= 0 && strings.EqualFold(name[at:], extension) {
		stem, last = name[:at], name[at:]
	}
	for len(stem) > maxNameBytes-len(last) {
		_, size := utf8.DecodeLastRuneInString(stem)
		stem = stem[:len(stem)-size]
	}
	return stem + last
}

// Disposition returns the header Content-Disposition of an answer with a stored file: kind is
// inline or attachment. Names that were stored before they had to end with .pdf are corrected.
// Characters that end or escape a quoted text, or separate parameters, are replaced: a program that
// does not read escapes would find another name behind them.
func Disposition(kind, fileName string) string {
	plain := strings.NewReplacer(`"`, "-", `\`, "-", ";", "-").Replace(asPDF(fileName))
	return mime.FormatMediaType(kind, map[string]string{"filename": plain})
}

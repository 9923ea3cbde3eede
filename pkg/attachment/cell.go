package attachment

import "strings"

// Cell returns a text as a cell of CSV has it: a spreadsheet takes one that begins with certain characters for a formula, so
// an apostrophe comes before it.
func Cell(text string) string {
	if text != "" && strings.ContainsRune("=+-@\t\r", rune(text[0])) {
		return "'" + text
	}
	return text
}

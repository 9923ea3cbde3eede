package attachment

import (
	"regexp"
	"strings"
)

// Formula matches where a spreadsheet may take what follows for a formula: at the beginning of a
// text, and behind each character that some program parts cells at. Excel does so at semicolons
// where the decimal point is a comma, and takes the full-width signs of East Asian keyboards for
// their ASCII forms. Blanks, quotes and invisible characters before a sign are dropped on the way
// by some programs. The syntax is RE2's, which ClickHouse shares.
const Formula = `(^|[;,|\t\r\n])(` + Sign + `)`

// Sign matches the characters that begin a formula, with what may stand before them.
const Sign = `[\pZ\p{Cf}"\x00-\x08\x0b\x0c\x0e-\x1f\x7f]*[-=+@－＝＋＠﹣﹦﹢﹫]`

// Blank lists the characters at the beginning of a text that a spreadsheet may drop.
const Blank = "\t\r\n"

var formula = regexp.MustCompile(Formula)

// Cell returns a text as a cell of CSV has it: an apostrophe stands before what a spreadsheet may
// take for a formula.
func Cell(text string) string {
	guarded := formula.ReplaceAllString(text, "$1'$2")
	if strings.IndexAny(text, Blank) == 0 {
		return "'" + guarded
	}
	return guarded
}

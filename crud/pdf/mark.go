package pdf

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/encoding/charmap"
)

const (
	markSide  = 1000 // of the square that the mark is drawn in
	markBytes = 2048 // of the operators that draw its words once
	// The words are so long where they are drawn, if their letters are not too large for it. Those for
	// which they would be too small go into lines of so many letters. The longest address, written as
	// in a URL, is seven.
	markLength           = 380
	minLetter, maxLetter = 6, 22
	letterWidth          = 0.53 // of a letter's height, about, in Helvetica
	lineLetters          = 119
	lineHeight           = 1.2 // of a letter
)

// wordsOf returns the operators that draw a text around the origin; without one, a comment that
// nothing else in a file is.
func wordsOf(text string) string {
	if text == "" {
		return "% the place of the words of Lodestone's mark: 4f8a2c6e91d7b305"
	}
	encoded := letters(text)
	lines := slices.Collect(slices.Chunk(encoded, lineLetters))
	count := float64(len(lines[0]))
	size := min(max(markLength/(letterWidth*count), minLetter), maxLetter)
	leading := lineHeight * size
	var out strings.Builder
	fmt.Fprintf(&out, "BT /F %.2f Tf %.2f TL %.2f %.2f Td", size, leading, -letterWidth*size*count/2,
		leading*float64(len(lines)-1)/2-size/3)
	for i, line := range lines {
		if i > 0 {
			out.WriteString(" T*")
		}
		out.WriteString(" (")
		for _, b := range line {
			if b == '(' || b == ')' || b == '\\' || b < ' ' || b > '~' {
				fmt.Fprintf(&out, `\%03o`, b)
				continue
			}
			out.WriteByte(b)
		}
		out.WriteString(") Tj")
	}
	out.WriteString(" ET")
	return out.String()
}

// letters returns a text in the letters of the mark's font. One that it does not have, that is not
// seen, or that begins such a letter is written as in a URL, so that no two texts look the same.
func letters(text string) (out []byte) {
	for _, r := range text {
		b, ok := charmap.Windows1252.EncodeRune(r)
		if ok && r != '%' && (r == ' ' || unicode.IsGraphic(r) && !unicode.IsSpace(r)) {
			out = append(out, b)
			continue
		}
		for _, c := range []byte(string(r)) {
			out = append(out, fmt.Sprintf("%%%02X", c)...)
		}
	}
	return out
}

// markPage returns a document whose page is the mark: the words, in rows across the page. They are
// in a stream of their own, whose filter makes programs that write the document again leave it as
// it is.
func markPage() []byte {
	var rows strings.Builder
	rows.WriteString("/G gs 0.5 g\n")
	for _, y := range []int{119, 500, 881} { // so that lines are equally far apart
		for _, x := range []int{170, 500, 830} {
			fmt.Fprintf(&rows, "q 0.866 0.5 -0.5 0.866 %d %d cm /W Do Q\n", x, y)
		}
	}
	words := append(Mark(""), '>')
	var out bytes.Buffer
	var at []int
	add := func(object string) {
		at = append(at, out.Len())
		fmt.Fprintf(&out, "%d 0 obj\n%s\nendobj\n", len(at), object)
	}
	out.WriteString("%PDF-1.5\n")
	add("<</Type/Catalog/Pages 2 0 R>>")
	add("<</Type/Pages/Kids[3 0 R]/Count 1>>")
	add(fmt.Sprintf("<</Type/Page/Parent 2 0 R/MediaBox[0 0 %d %d]/Contents 4 0 R/Resources"+
		"<</XObject<</W 5 0 R>>/ExtGState<</G<</Type/ExtGState/ca 0.3>>>>>>>>", markSide, markSide))
	add(fmt.Sprintf("<</Length %d>>\nstream\n%sendstream", rows.Len(), rows.String()))
	add(fmt.Sprintf("<</Type/XObject/Subtype/Form/BBox[-%d -60 %d 60]/Resources<</Font<</F 6 0 R>>>>"+
		"/Filter/ASCIIHexDecode/Length %d>>\nstream\n%s\nendstream", markSide, markSide, len(words), words))
	add("<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>")
	table := out.Len()
	fmt.Fprintf(&out, "xref\n0 %d\n0000000000 65535 f \n", len(at)+1)
	for _, offset := range at {
		fmt.Fprintf(&out, "%010d 00000 n \n", offset)
	}
	fmt.Fprintf(&out, "trailer\n<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n", len(at)+1, table)
	return out.Bytes()
}

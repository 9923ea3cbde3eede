package contact

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	utf16 "golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"lodestone/pkg/attachment"
)

// decode returns a list as UTF-8, but for lines in Windows-1252, which lineOf decodes.
func decode(r io.Reader) (io.Reader, error) {
	in := bufio.NewReader(r)
	start, err := in.Peek(1 << 10)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read list: %w", err)
	}
	order := utf16.LittleEndian
	var wide bool
	switch {
	case bytes.HasPrefix(start, []byte("PK\x03\x04")), bytes.HasPrefix(start, []byte("\xd0\xcf\x11\xe0")):
		return nil, ErrWorkbook
	case bytes.HasPrefix(start, []byte("\xef\xbb\xbf")):
		_, err := in.Discard(3)
		return in, err
	case bytes.HasPrefix(start, []byte("\xff\xfe")), bytes.HasPrefix(start, []byte("\xfe\xff")):
		wide = true
	default: // without a byte order mark, letters of addresses show where the zeros are
		var zeros [2]int
		for i, b := range start {
			if b == 0 {
				zeros[i%2]++
			}
		}
		wide = 4*max(zeros[0], zeros[1]) > len(start)
		if zeros[0] > zeros[1] {
			order = utf16.BigEndian
		}
	}
	if !wide {
		return in, nil
	}
	return transform.NewReader(in, utf16.UTF16(order, utf16.UseBOM).NewDecoder()), nil
}

// splitLines is a bufio.SplitFunc for lines that end with LF, CR LF or CR.
func splitLines(data []byte, atEOF bool) (advance int, token []byte, err error) {
	i := bytes.IndexAny(data, "\r\n")
	switch {
	case i < 0 && atEOF && len(data) > 0:
		return len(data), data, nil
	case i < 0, data[i] == '\r' && i+1 == len(data) && !atEOF:
		return 0, nil, nil
	case data[i] == '\r' && i+1 < len(data) && data[i+1] == '\n':
		return i + 2, data[:i], nil
	default:
		return i + 1, data[:i], nil
	}
}

// fullWidth are the separators of East Asian keyboards.
var fullWidth = strings.NewReplacer("，", ",", "；", ";", "、", ",")

// lineOf returns a line as text. What is no UTF-8 is Windows-1252, whose letters Latin-1 shares; a
// list may mix both.
func lineOf(line []byte) string {
	if utf8.Valid(line) {
		return fullWidth.Replace(string(line))
	}
	text, err := charmap.Windows1252.NewDecoder().Bytes(line)
	if err != nil {
		return strings.ToValidUTF8(string(line), "\uFFFD")
	}
	return string(text)
}

// separatorOf returns what parts the cells of a row: a tab if it has one outside of quotes, else a
// semicolon, else a comma; 0: it is one cell.
func separatorOf(text string) byte {
	found, quoted := byte(0), false
	for i := range len(text) {
		switch c := text[i]; {
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '\t':
			return c
		case c == ';', c == ',' && found == 0:
			found = c
		}
	}
	return found
}

// split parts a row into its cells. A cell in quotes may have separators, line breaks, and quotes
// that are doubled. What follows the closing quote belongs to the cell, as in "Doe, Jo"
// <jo@example.com>. open reports that the last cell's quote is not closed.
func split(text string, separator byte) (cells []string, open bool) {
	for more := true; more; {
		text = strings.TrimLeft(text, " ")
		from := 0
		if strings.HasPrefix(text, `"`) {
			if from = closing(text); from < 0 {
				return append(cells, text), true
			}
		}
		cell := text
		end := strings.IndexByte(text[from:], separator)
		if more = end >= 0; more {
			cell, text = text[:from+end], text[from+end+1:]
		}
		if from > 0 && strings.TrimSpace(cell[from:]) == "" {
			cell = strings.ReplaceAll(cell[1:from-1], `""`, `"`)
		}
		cells = append(cells, strings.TrimSpace(cell))
	}
	return cells, false
}

// closing returns where what a quote opens has ended, or -1.
func closing(text string) int {
	for i := 1; i < len(text); i++ {
		if text[i] != '"' {
			continue
		}
		if i+1 == len(text) || text[i+1] != '"' {
			return i + 1
		}
		i++
	}
	return -1
}

// maxName is how many characters of a name are kept.
const maxName = 200

// setName takes a name as one line. What a spreadsheet may take for a formula is no name.
func (r *Row) setName(text string) {
	text = strings.Join(strings.FieldsFunc(strings.Trim(strings.TrimSpace(text), `"'`), func(c rune) bool {
		return unicode.IsSpace(c) || unicode.IsControl(c)
	}), " ")
	if text != "" && attachment.Cell(text) != text {
		r.Formula = true
		return
	}
	if utf8.RuneCountInString(text) > maxName {
		text = string([]rune(text)[:maxName])
	}
	r.Name = text
}

// shorten returns the beginning of a row, as one line.
func shorten(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if utf8.RuneCountInString(text) > maxShown {
		text = string([]rune(text)[:maxShown-1]) + "…"
	}
	return text
}

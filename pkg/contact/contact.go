// Package contact reads lists of contacts as people have them: pasted from a mail program, or
// exported as CSV by a spreadsheet or a CRM, with or without heads, in any usual encoding.
package contact

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"lodestone/pkg/email"
)

// MaxRows is how many rows a list may have.
const MaxRows = 100_000

const (
	maxRow      = 64 << 10 // bytes of a row
	maxRowLines = 100      // of a row with line breaks in quoted cells
	maxShown    = 120      // characters of a row's text
)

// Row is one contact of a list, or a row that has none.
type Row struct {
	Line    int           // where it begins in the list, from 1
	Text    string        // the row as it stands there, shortened
	Address email.Address //
	Name    string        // "" for none
	Formula bool          // the name was left out, since a spreadsheet would run it
	Wrong   string        // why there is no contact: a sentence's end that begins with "the row"
}

// Errors of Read about a whole list; their texts complete a sentence that begins with "The list".
var (
	ErrWorkbook = errors.New("is an Excel workbook: save it as CSV and import that")
	ErrTooMany  = fmt.Errorf("has more than %d rows: split it", MaxRows)
	ErrLongRow  = fmt.Errorf("has a row of more than %d KiB, so it is no list of contacts", maxRow>>10)
)

// IsRefused reports whether an error of Read says what is wrong with the list.
func IsRefused(err error) bool {
	return errors.Is(err, ErrWorkbook) || errors.Is(err, ErrTooMany) || errors.Is(err, ErrLongRow)
}

const (
	noAddress = "has no email address"
	openQuote = "has a quotation mark that is not closed"
)

// Read calls fn with each row of a list, in order, until fn returns an error. It holds one row in
// memory. ignored names the columns whose addresses were not read, since another one was.
func Read(r io.Reader, fn func(Row) error) (ignored []string, err error) {
	in, err := decode(r)
	if err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(in)
	lines.Buffer(make([]byte, 0, 4<<10), maxRow)
	lines.Split(splitLines)
	var t table
	rows, line, begun := 0, 0, false
	for lines.Scan() {
		line++
		first, text := line, lineOf(lines.Bytes())
		for t.isOpen(text) && line-first < maxRowLines && len(text) < maxRow && lines.Scan() {
			line++
			text += "\n" + lineOf(lines.Bytes())
		}
		if strings.TrimSpace(text) == "" {
			continue
		}
		if !begun && t.readHeads(text) {
			begun = true
			continue
		}
		begun = true
		for _, row := range t.read(text) {
			if rows++; rows > MaxRows {
				return t.ignored, ErrTooMany
			}
			if row.Line = first; row.Text == "" {
				row.Text = shorten(text)
			}
			if err := fn(row); err != nil {
				return t.ignored, err
			}
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return t.ignored, ErrLongRow
	}
	return t.ignored, lines.Err()
}

// table is what is known of the columns of a list.
type table struct {
	separator byte     // of one with heads; 0: it has none
	heads     []string //
	address   int      // column of the address
	names     []int    // columns of the name
	ignored   []string
}

// isOpen reports whether a quoted cell goes on in the next line.
func (t *table) isOpen(text string) bool {
	if !strings.Contains(text, `"`) {
		return false
	}
	_, open := split(text, t.separatorOf(text))
	return open
}

func (t *table) separatorOf(text string) byte {
	if t.separator != 0 {
		return t.separator
	}
	return separatorOf(text)
}

// readHeads reads the first row if it names the column of the address.
func (t *table) readHeads(text string) bool {
	separator := separatorOf(text)
	heads, _ := split(text, separator)
	if t.address = addressColumn(heads); t.address < 0 {
		return false
	}
	t.heads, t.names, t.separator = heads, nameColumns(heads), separator
	if separator == 0 {
		t.separator = '\n' // there is one column
	}
	return true
}

// read returns the contacts of a row: one of a table, any number of a pasted list.
func (t *table) read(text string) []Row {
	cells, open := split(text, t.separatorOf(text))
	if open {
		return []Row{{Wrong: openQuote}}
	}
	if t.heads != nil {
		return []Row{t.record(cells)}
	}
	withAddress := 0
	filled := slices.DeleteFunc(slices.Clone(cells), func(cell string) bool { return cell == "" })
	for _, cell := range filled {
		if strings.Contains(cell, "@") {
			withAddress++
		}
	}
	// A list with a mistake in it begins with an address, and a table with a name.
	if withAddress < len(filled) && (withAddress < 2 || !strings.Contains(filled[0], "@")) {
		return []Row{t.loose(cells)}
	}
	var rows []Row
	for _, cell := range filled {
		rows = append(rows, several(cell)...)
	}
	return rows
}

// record reads a row below heads.
func (t *table) record(cells []string) Row {
	cell := func(i int) string {
		if i < len(cells) {
			return cells[i]
		}
		return ""
	}
	for i := range cells {
		if _, err := email.Parse(cells[i]); err == nil && i != t.address && i < len(t.heads) {
			t.ignore(t.heads[i])
		}
	}
	if cell(t.address) == "" {
		return Row{Wrong: fmt.Sprintf("has no address in the column %q", t.heads[t.address])}
	}
	row := one(cell(t.address))
	var names []string
	for _, i := range t.names {
		names = append(names, cell(i))
	}
	if name := strings.TrimSpace(strings.Join(names, " ")); name != "" && row.Wrong == "" {
		row.setName(name)
	}
	return row
}

// loose reads a row of a table without heads: the first address, and the name before it or behind
// it.
func (t *table) loose(cells []string) Row {
	at := -1
	var before, after []string
	for i, cell := range cells {
		switch {
		case strings.Contains(cell, "@") && at < 0:
			at = i
		case strings.Contains(cell, "@"):
			t.ignore(fmt.Sprintf("%d", i+1))
		case cell != "" && at < 0:
			before = append(before, cell)
		case cell != "":
			after = append(after, cell)
		}
	}
	if at < 0 {
		return Row{Wrong: noAddress}
	}
	row := one(cells[at])
	switch {
	case row.Wrong != "" || row.Name != "" || row.Formula:
	case len(before) > 0:
		row.setName(strings.Join(before, " "))
	case len(after) > 0:
		row.setName(after[0])
	}
	return row
}

func (t *table) ignore(column string) {
	if !slices.Contains(t.ignored, column) {
		t.ignored = append(t.ignored, column)
	}
}

// several reads a cell that may have several contacts.
func several(cell string) (rows []Row) {
	alone := one(cell)
	alone.Text = shorten(cell)
	if strings.Count(cell, "@") < 2 {
		return []Row{alone}
	}
	parts, _ := split(cell, separatorOf(cell))
	if len(parts) == 1 {
		parts = strings.SplitAfter(cell, ">")
	}
	parts = withAt(parts)
	if len(parts) == 1 {
		parts = withAt(strings.Fields(cell))
	}
	if len(parts) == 1 {
		return []Row{alone}
	}
	for _, part := range parts {
		rows = append(rows, several(part)...)
	}
	return rows
}

func withAt(parts []string) []string {
	return slices.DeleteFunc(parts, func(part string) bool { return !strings.Contains(part, "@") })
}

// one reads a cell with one contact, such as Jo <jo@example.com>.
func one(cell string) (row Row) {
	name, text := "", cell
	if i := strings.LastIndexByte(cell, '<'); i >= 0 {
		name, text = cell[:i], cell[i:]
	}
	var err error
	if row.Address, err = email.Parse(text); err != nil {
		row.Wrong = noAddress
		if strings.Contains(cell, "@") {
			row.Wrong = "has an address that is none: it " + err.Error()
		}
		return row
	}
	row.setName(name)
	return row
}

// New returns a contact of a program, as Read returns one of a list.
func New(address, name string) Row {
	row := one(address)
	if row.Text = shorten(address); name != "" && row.Wrong == "" {
		row.setName(name)
	}
	return row
}

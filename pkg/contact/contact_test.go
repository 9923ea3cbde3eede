package contact_test

import (
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/contact"
)

// read returns the contacts and the wrong rows of a list, a line each.
func read(t *testing.T, list string) (rows, ignored []string) {
	t.Helper()
	ignored, err := contact.Read(strings.NewReader(list), func(r contact.Row) error {
		switch {
		case r.Wrong != "":
			rows = append(rows, fmt.Sprintf("%d! %s", r.Line, r.Wrong))
		case r.Formula:
			rows = append(rows, fmt.Sprintf("%d =|%s", r.Line, r.Address.Text))
		default:
			rows = append(rows, fmt.Sprintf("%d %s|%s", r.Line, r.Name, r.Address.Text))
		}
		return nil
	})
	require.NoError(t, err)
	return rows, ignored
}

func TestLists(t *testing.T) {
	t.Parallel()
	none := "has no email address"
	bad := "has an address that is none: it must be an email address, such as jo@example.com"
	for list, want := range map[string][]string{
		"":        nil,
		" \r\n\n": nil,
		// pasted
		"a@x.example": {"1 |a@x.example"},
		" a@x.example\r\nb@x.example, c@x.example;d@x.example\te@x.example ": {"1 |a@x.example", "2 |b@x.example",
			"2 |c@x.example", "2 |d@x.example", "2 |e@x.example"},
		"Jo <a@x.example>, Al <b@x.example>":           {"1 Jo|a@x.example", "1 Al|b@x.example"},
		`"Doe, Jo" <a@x.example>; "Al" <b@x.example>`:  {"1 Doe, Jo|a@x.example", "1 Al|b@x.example"},
		"Doe, Jo <a@x.example>; Roe, Al <b@x.example>": {"1 Doe, Jo|a@x.example", "1 Roe, Al|b@x.example"},
		"Jo Doe <a@x.example>\nb@x.example\n<c@x.example>": {"1 Jo Doe|a@x.example", "2 |b@x.example",
			"3 |c@x.example"},
		"b@x.example Jo <a@x.example>":      {"1 |b@x.example", "1 |a@x.example"},
		"Jo <a@x.example> Al <b@x.example>": {"1 Jo|a@x.example", "1 Al|b@x.example"},
		"a@x.example\u00a0b@x.example\u3000c@x.example，d@x.example": {"1 |a@x.example", "1 |b@x.example",
			"1 |c@x.example", "1 |d@x.example"},
		"a@x.example\nnot an address\n@\nb@@x.example\njo@example": {"1 |a@x.example", "2! " + none,
			"3! " + bad, "4! " + bad, "5! " + bad},
		"O'Hara <o'hara@x.example>":                          {"1 O'Hara|o'hara@x.example"},
		"=cmd|' /C calc'!A0 <a@x.example>\n+1 <b@x.example>": {"1 =|a@x.example", "2 =|b@x.example"},
		"a@x.example, b.x.example, c@x.example":              {"1 |a@x.example", "1! " + none, "1 |c@x.example"},
		"\"never closed, a@x.example\nb@x.example":           {"1! has a quotation mark that is not closed"},
		"a@x.example\rb@x.example\rc@x.example":              {"1 |a@x.example", "2 |b@x.example", "3 |c@x.example"},
		// tables without heads
		"Jo,Doe,a@x.example\nb@x.example,Al,Berlin": {"1 Jo Doe|a@x.example", "2 Al|b@x.example"},
		"Jo\ta@x.example\n\tb@x.example":            {"1 Jo|a@x.example", "2 |b@x.example"},
		// tables with heads
		"Email\na@x.example\n\nb@x.example":                              {"2 |a@x.example", "4 |b@x.example"},
		"Name;E-Mail\nJo Doe;a@x.example\n;b@x.example":                  {"2 Jo Doe|a@x.example", "3 |b@x.example"},
		"First Name,Last Name,Email Address\nJo,Doe,a@x.example":         {"2 Jo Doe|a@x.example"},
		"Vorname\tNachname\tE-Mail-Adresse\nJörg\tŁoś\tjoerg@x.example":  {"2 Jörg Łoś|joerg@x.example"},
		"Email,Name\na@x.example,\"Doe, Jo\"\nb@x.example,\"=1+1\"":      {"2 Doe, Jo|a@x.example", "3 =|b@x.example"},
		"Name,Address,Email\n\"Jo\",\"1 Road\nTown\",a@x.example\n,,b@x": {"2 Jo|a@x.example", "4! " + bad},
		"Email,Name\n,Jo\n\"say \"\"hi\"\"\",Al": {`2! has no address in the column "Email"`,
			"3! " + none},
		"Email;Name\nJo <a@x.example>;": {"2 Jo|a@x.example"},
	} {
		rows, ignored := read(t, list)
		require.Equal(t, want, rows, "%q", list)
		require.Empty(t, ignored, "%q", list)
	}
}

func TestTwoColumnsOfAddresses(t *testing.T) {
	t.Parallel()
	for list, want := range map[string][2]string{
		"Work mail,Email,Name\nw@x.example,a@x.example,Jo": {"2 Jo|a@x.example", "Work mail"},
		"Mail 1;Mail 2\na@x.example;b@x.example":           {"2 |a@x.example", "Mail 2"},
		"Jo,a@x.example,b@x.example":                       {"1 Jo|a@x.example", "3"},
	} {
		rows, ignored := read(t, list)
		require.Equal(t, [2]string{strings.Join(rows, " "), strings.Join(ignored, " ")}, want, "%q", list)
	}
}

func TestEncodings(t *testing.T) {
	t.Parallel()
	wide := func(text string, big bool) string {
		var out []byte
		for _, r := range text {
			if big {
				out = append(out, byte(r>>8), byte(r))
			} else {
				out = append(out, byte(r), byte(r>>8))
			}
		}
		return string(out)
	}
	const list = "Name;Email\r\nJörg Łoś;a@x.example\r\n"
	for name, text := range map[string]string{
		"UTF-8": list, "UTF-8 with a mark": "\ufeff" + list,
		"UTF-16LE with a mark": wide("\ufeff"+list, false), "UTF-16BE with a mark": wide("\ufeff"+list, true),
		"UTF-16LE": wide(list, false), "UTF-16BE": wide(list, true),
	} {
		rows, _ := read(t, text)
		require.Equal(t, []string{"2 Jörg Łoś|a@x.example"}, rows, name)
	}
	rows, _ := read(t, "J\xf6rg \x96 K\xf6ln;a@x.example\nJörg;b@x.example")
	require.Equal(t, []string{"1 Jörg – Köln|a@x.example", "2 Jörg|b@x.example"}, rows, "mixed")
}

func TestListsThatAreRefused(t *testing.T) {
	t.Parallel()
	for list, want := range map[string]error{
		"PK\x03\x04\x14\x00":                                 contact.ErrWorkbook,
		"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1":                   contact.ErrWorkbook,
		strings.Repeat("x", 1<<17):                           contact.ErrLongRow,
		strings.Repeat("a@x.example\n", 1e5) + "b@x.example": contact.ErrTooMany,
	} {
		_, err := contact.Read(strings.NewReader(list), func(contact.Row) error { return nil })
		require.ErrorIs(t, err, want)
		require.True(t, contact.IsRefused(err))
	}
}

// rowsReader makes rows as they are read, of a hundred bytes.
type rowsReader struct{ left int }

func (r *rowsReader) Read(p []byte) (int, error) {
	if r.left == 0 {
		return 0, io.EOF
	}
	r.left--
	return copy(p, fmt.Sprintf("%s,jo%d@example.com\n", strings.Repeat("x", 80), r.left)), nil
}

func TestALongListIsReadInLittleMemory(t *testing.T) { //nolint:paralleltest // it measures memory
	var before, after runtime.MemStats
	rows := 0
	runtime.GC()
	runtime.ReadMemStats(&before)
	_, err := contact.Read(&rowsReader{contact.MaxRows}, func(contact.Row) error {
		if rows++; rows == contact.MaxRows {
			runtime.GC()
			runtime.ReadMemStats(&after)
		}
		return nil
	})
	require.NoError(t, err)
	require.Equal(t, contact.MaxRows, rows)
	require.Less(t, int64(after.HeapAlloc)-int64(before.HeapAlloc), int64(1<<20))
}

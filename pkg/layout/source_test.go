package layout_test

import (
	"go/ast"
	"go/scanner"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// The columns of a line, a tab being one, and of a comment that has the line for itself.
const maxLine, maxComment = 120, 100

// maxIsWhat is how many comments may explain a thing as "what" another does instead of naming it.
const maxIsWhat = 60

var (
	generated = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`)
	// unbreakable is what no line break can divide: a tag, a long text, a directive, an address.
	unbreakable = regexp.MustCompile("\"[^\"]{60,}|//nolint|^//go:|^// https?://|//.*https?://")
	isWhat      = regexp.MustCompile(`^\s*//.*\b(is|are) what\b`)
)

// Lines that a reader has to scroll for are broken, and comments are as wide as a page of text.
func TestLinesAreShort(t *testing.T) {
	t.Parallel()
	looked, what := 0, 0
	for _, f := range files(t) {
		text := string(read(t, f))
		if path.Ext(f) != ".go" || generated.MatchString(text) {
			continue
		}
		looked++
		raw := rawLines(text)
		for i, line := range strings.Split(text, "\n") {
			columns := utf8.RuneCountInString(line)
			if raw[i+1] {
				continue
			}
			comment := strings.HasPrefix(strings.TrimSpace(line), "//")
			if (columns > maxLine || comment && columns > maxComment) && !unbreakable.MatchString(line) {
				t.Errorf("%s:%d has %d columns", f, i+1, columns)
			}
			if isWhat.MatchString(line) {
				what++
			}
		}
	}
	require.Greater(t, looked, 500)
	require.LessOrEqual(t, what, maxIsWhat, "comments that say that something is what something else does")
}

// rawLines returns the lines of texts in back quotes, which are of other languages.
func rawLines(source string) map[int]bool {
	set := token.NewFileSet()
	file := set.AddFile("", set.Base(), len(source))
	var s scanner.Scanner
	s.Init(file, []byte(source), nil, 0)
	lines := map[int]bool{}
	for pos, kind, text := s.Scan(); kind != token.EOF; pos, kind, text = s.Scan() {
		if kind == token.STRING && text[0] == '`' {
			first := file.Line(pos)
			for i := range strings.Count(text, "\n") + 1 {
				lines[first+i] = true
			}
		}
	}
	return lines
}

// A comment that begins with another name was left behind when its subject was renamed.
func TestCommentsNameTheirSubject(t *testing.T) {
	t.Parallel()
	eachSource(t, func(f string, _ *token.FileSet, file *ast.File) { // a test's begins with any word
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				checkSubject(t, f, d.Doc, d.Name)
			case *ast.GenDecl:
				var all []*ast.Ident
				for _, s := range d.Specs {
					switch s := s.(type) {
					case *ast.TypeSpec:
						checkSubject(t, f, s.Doc, s.Name)
						all = append(all, s.Name)
					case *ast.ValueSpec:
						all = append(all, s.Names...)
					}
				}
				checkSubject(t, f, d.Doc, all...)
			}
		}
	})
}

// checkSubject fails if a comment begins with an identifier other than those it stands above.
func checkSubject(t *testing.T, file string, doc *ast.CommentGroup, names ...*ast.Ident) {
	t.Helper()
	if doc == nil || len(names) == 0 {
		return
	}
	first, _, _ := strings.Cut(doc.Text(), " ")
	first = strings.TrimRight(first, ",:.\n")
	isName := token.IsIdentifier(first) && first != "" &&
		(unicode.IsLower(rune(first[0])) || strings.ToLower(first[1:]) != first[1:] && strings.ToUpper(first) != first) &&
		first != "URLs"
	if isName && !slices.ContainsFunc(names, func(n *ast.Ident) bool { return n.Name == first }) {
		t.Errorf("%s: the comment of %s begins with %s", file, names[0].Name, first)
	}
}

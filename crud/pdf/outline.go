package pdf

import (
	"strings"
	"unicode"

	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"
	"github.com/klippa-app/go-pdfium/responses"
)

// Limits of a table of contents. What is beyond them is left out.
const (
	maxEntries = 100
	maxLevel   = 2
	maxTitle   = 200  // characters
	maxVisited = 1000 // entries of a file, which can have loops
	maxDepth   = 16
)

// Entry is an entry of a document's table of contents.
type Entry struct {
	Level int    `json:"level"` // from 1
	Title string `json:"title"`
	Page  int    `json:"page"` // from 1
}

// outline returns the table of contents of the open file: the entries of its upper levels that have
// a title and lead to a page.
func (e *engine) outline(pages int) []Entry {
	if !e.endsOutline() {
		return nil
	}
	all, err := e.pdfium.GetBookmarks(&requests.GetBookmarks{Document: e.document})
	if err != nil {
		return nil
	}
	var list []Entry
	var walk func(of []responses.GetBookmarksBookmark, level int)
	walk = func(of []responses.GetBookmarksBookmark, level int) {
		for _, b := range of {
			entry := Entry{Level: level, Title: cleanTitle(b.Title)}
			if b.DestInfo != nil {
				entry.Page = b.DestInfo.PageIndex + 1
			}
			if entry.valid(pages) && len(list) < maxEntries {
				list = append(list, entry)
			}
			if level < maxLevel {
				walk(b.Children, level+1)
			}
		}
	}
	walk(all.Bookmarks, 1)
	return list
}

// endsOutline reports whether the entries of the open file end, which those of a file with loops do
// not. GetBookmarks asks for all of them. The library's call for the destination of one entry asks
// PDFium for something else.
func (e *engine) endsOutline() bool {
	visited := 0
	var walk func(parent *references.FPDF_BOOKMARK, depth int) bool
	walk = func(parent *references.FPDF_BOOKMARK, depth int) bool {
		first, err := e.pdfium.FPDFBookmark_GetFirstChild(&requests.FPDFBookmark_GetFirstChild{Document: e.document,
			Bookmark: parent})
		if err != nil || depth > maxDepth {
			return false
		}
		for at := first.Bookmark; at != nil; {
			if visited++; visited > maxVisited || !walk(at, depth+1) {
				return false
			}
			next, err := e.pdfium.FPDFBookmark_GetNextSibling(&requests.FPDFBookmark_GetNextSibling{Document: e.document,
				Bookmark: *at})
			if err != nil {
				return false
			}
			at = next.Bookmark
		}
		return true
	}
	return walk(nil, 1)
}

// valid reports whether an entry can be shown for a document of so many pages.
func (e Entry) valid(pages int) bool {
	return e.Level >= 1 && e.Level <= maxLevel && e.Page >= 1 && e.Page <= pages && e.Title != "" &&
		e.Title == cleanTitle(e.Title)
}

// cleanTitle returns a title as one line of limited length, of characters that print.
func cleanTitle(text string) string {
	text = strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case r == unicode.ReplacementChar || !unicode.IsPrint(r):
			return -1
		default:
			return r
		}
	}, text)), " ")
	if runes := []rune(text); len(runes) > maxTitle {
		text = strings.TrimSpace(string(runes[:maxTitle]))
	}
	return text
}

// complete returns the valid entries of a table of contents. One entry is none.
func complete(list []Entry, pages int) []Entry {
	var out []Entry
	for _, entry := range list {
		if entry.valid(pages) && len(out) < maxEntries {
			out = append(out, entry)
		}
	}
	if chapters := chaptersOf(out); chapters != nil {
		out = chapters
	}
	if len(out) < 2 {
		return nil
	}
	return out
}

// chaptersOf returns the entries below the first one, if that stands above all others, as a
// document's title does; else nil.
func chaptersOf(list []Entry) []Entry {
	if len(list) < 3 || list[0].Level != 1 {
		return nil
	}
	var out []Entry
	for _, entry := range list[1:] {
		if entry.Level == 1 {
			return nil
		}
		entry.Level--
		out = append(out, entry)
	}
	return out
}

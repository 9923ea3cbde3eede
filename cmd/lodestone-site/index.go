package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// indexFile is the index of the search: a script, since browsers load no other file where the site is opened from a disk.
const indexFile = "search.js"

// entry is a part of a page that the search finds: what stands below one heading.
type entry struct {
	URL     string `json:"u"`           // with the anchor of the heading
	Page    string `json:"p"`           // its name in the navigation
	Heading string `json:"h,omitempty"` // unless it is the page's title
	Section string `json:"s"`           // of the navigation
	Text    string `json:"t"`
}

// writeIndex writes the index, in the order of the navigation.
func (b *built) writeIndex(dir string, all []*page) error {
	var entries []entry
	for _, p := range all {
		name := strings.TrimPrefix(p.URL, "/")
		entries = append(entries, entriesOf(p, name, b.documents[name].root)...)
	}
	content, err := json.Marshal(entries)
	if err == nil {
		content = append(append([]byte("self.lodestoneIndex="), content...), ";\n"...)
		err = os.WriteFile(filepath.Join(dir, indexFile), content, 0o600)
	}
	if err != nil {
		return fmt.Errorf("write the index of the search: %w", err)
	}
	return nil
}

// entriesOf divides the article of a page at its headings.
func entriesOf(p *page, name string, root *html.Node) (entries []entry) {
	current := entry{URL: name, Page: p.Label, Section: p.Section}
	var text strings.Builder
	if p.Title != p.Label {
		text.WriteString(p.Title + ". ")
	}
	finish := func() {
		current.Text = strings.Join(strings.Fields(text.String()), " ")
		i := slices.IndexFunc(entries, func(e entry) bool { return e.URL == current.URL })
		switch {
		case i >= 0: // the rest of a section, behind rows with entries of their own
			entries[i].Text = strings.TrimSpace(entries[i].Text + " " + current.Text)
		case current.Text != "" || current.Heading != "":
			entries = append(entries, current)
		}
		text.Reset()
	}
	below := func(id, heading string) {
		current = entry{URL: name + "#" + id, Page: p.Label, Heading: heading, Section: p.Section}
	}
	var walk func(n *html.Node)
	walk = func(n *html.Node) {
		switch {
		case n.Type == html.TextNode:
			text.WriteString(n.Data)
			return
		case n.DataAtom == atom.H1:
			return
		case n.DataAtom == atom.H2 || n.DataAtom == atom.H3 || n.DataAtom == atom.H4:
			finish()
			below(attribute(n, "id"), textOf(n))
			return
		case n.DataAtom == atom.Tr && attribute(n, "id") != "": // a setting or a metric
			after := current
			finish()
			below(attribute(n, "id"), firstCode(n))
			for cell := n.LastChild; cell != nil; cell = cell.PrevSibling { // what it means is last
				walk(cell)
			}
			finish()
			current = entry{URL: after.URL, Page: after.Page, Section: after.Section, Heading: after.Heading}
			return
		case n.DataAtom == atom.Code && attribute(n, "data-lang") == "json": // answers have words that no one looks for
			return
		}
		for child := range n.ChildNodes() {
			walk(child)
		}
		if n.Type == html.ElementNode && !inline[n.DataAtom] {
			text.WriteByte(' ')
		}
	}
	for n := range root.Descendants() {
		if n.DataAtom == atom.Article {
			walk(n)
			break
		}
	}
	finish()
	return entries
}

// inline are the elements that end no word.
var inline = map[atom.Atom]bool{atom.Code: true, atom.A: true, atom.Em: true, atom.Strong: true, atom.Span: true, atom.B: true, atom.I: true}

// firstCode is the first code in a row.
func firstCode(n *html.Node) string {
	for d := range n.Descendants() {
		if d.DataAtom == atom.Code {
			return textOf(d)
		}
	}
	return ""
}

func textOf(n *html.Node) string {
	var text strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			text.WriteString(d.Data)
		}
	}
	return strings.TrimSpace(text.String())
}

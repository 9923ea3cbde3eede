package history

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// The demo's guide is printed by Chromium: its page tree has one root above nodes of up to eight pages, and its cross-reference table is plain.
var (
	pageNode = regexp.MustCompile(`(?s)(\d+) 0 obj\s*<</Type /Pages\b(.*?)>>\s*endobj`)
	kidList  = regexp.MustCompile(`/Kids \[([^\]]*)\]`)
	kid      = regexp.MustCompile(`(\d+) 0 R`)
	counted  = regexp.MustCompile(`/Count \d+`)
	tail     = regexp.MustCompile(`(?s)trailer\s*<<(.*?)>>\s*startxref\s*(\d+)\s*%%EOF\s*$`)
)

// excerpt returns a document with some pages of another, which are numbered from 1. It appends the changed nodes of the page tree, as an
// incremental update does.
func excerpt(pdf []byte, wanted []int) ([]byte, error) {
	nodes := map[string]string{}
	var leaves []string // nodes whose kids are pages, in the order of their pages
	var root string
	for _, m := range pageNode.FindAllSubmatch(pdf, -1) {
		nodes[string(m[1])] = string(m[2])
	}
	for id, body := range nodes {
		if first := kids(body); len(first) > 0 && nodes[first[0]] != "" {
			root, leaves = id, first
		}
	}
	end := tail.FindSubmatch(pdf)
	if root == "" || end == nil {
		return nil, errors.New("the document's page tree is not as expected")
	}
	out := bytes.Clone(bytes.TrimRight(pdf, "\r\n"))
	out = append(out, '\n')
	type change struct {
		id string
		at int
	}
	var changes []change
	write := func(id, body string, kids []string, count int) {
		for i := range kids {
			kids[i] += " 0 R"
		}
		body = kidList.ReplaceAllLiteralString(body, "/Kids ["+strings.Join(kids, " ")+"]")
		body = counted.ReplaceAllLiteralString(body, "/Count "+strconv.Itoa(count))
		changes = append(changes, change{id, len(out)})
		out = fmt.Appendf(out, "%s 0 obj\n<</Type /Pages%s>>\nendobj\n", id, body)
	}
	var left []string
	page, total := 0, 0
	for _, leaf := range leaves {
		var list []string
		for _, id := range kids(nodes[leaf]) {
			if page++; slices.Contains(wanted, page) {
				list = append(list, id)
			}
		}
		if total += len(list); len(list) > 0 {
			left = append(left, leaf)
			write(leaf, nodes[leaf], list, len(list))
		}
	}
	if total != len(wanted) {
		return nil, fmt.Errorf("the document has %d pages, not all of those that are wanted", page)
	}
	write(root, nodes[root], left, total)
	table := len(out)
	out = append(out, "xref\n"...)
	for _, c := range changes {
		out = fmt.Appendf(out, "%s 1\n%010d 00000 n \n", c.id, c.at)
	}
	return fmt.Appendf(out, "trailer\n<<%s\n/Prev %s>>\nstartxref\n%d\n%%%%EOF\n", end[1], end[2], table), nil
}

func kids(body string) (ids []string) {
	list := kidList.FindStringSubmatch(body)
	if list == nil {
		return nil
	}
	for _, m := range kid.FindAllStringSubmatch(list[1], -1) {
		ids = append(ids, m[1])
	}
	return ids
}

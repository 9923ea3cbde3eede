package main

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// contents is the page that lists all others: its table is the navigation of the site.
const contents = "docs/README.md"

// section is a part of the navigation: a row of the table with a title in bold, and the rows below it.
type section struct {
	Title string  `json:"title"`
	Pages []*page `json:"pages"`
}

// page is a Markdown file that becomes a page of the site.
type page struct {
	File     string  `json:"-"`        // relative to the repository
	URL      string  `json:"url"`      // from the root of the site
	Label    string  `json:"label"`    // in the navigation
	Title    string  `json:"title"`    // its first heading
	Purpose  string  `json:"purpose"`  // what a reader wants who comes here
	Section  string  `json:"section"`  // title of its section
	Parent   string  `json:"parent"`   // URL of the page that lists it, if that is not the table
	Children []*page `json:"children"` // pages of the same folder that a README.md lists
}

var (
	bold    = regexp.MustCompile(`^\| \*\*([^*]+)\*\* \|`)
	row     = regexp.MustCompile(`^\| (.+?) \| (.+) \|$`)
	linked  = regexp.MustCompile(`\[([^\]]+)\]\(([^)#:]+\.md)\)`)
	heading = regexp.MustCompile(`(?m)^# (.+)$`)
)

// navigation reads the table of docs/README.md. The error names every page that is listed twice or is not there, and every page in docs that
// is not listed.
func navigation(root string) ([]section, error) {
	text, err := os.ReadFile(filepath.Join(root, contents))
	if err != nil {
		return nil, fmt.Errorf("read the table of pages: %w", err)
	}
	var sections []section
	var errs []error
	seen := map[string]bool{"README.md": true, contents: true} // the site's own first page stands for both
	add := func(label, file, purpose string) (*page, error) {
		if seen[file] {
			return nil, fmt.Errorf("%s is linked twice in the tables of docs/README.md and of the README.md beside it: keep one row", file)
		}
		seen[file] = true
		return newPage(root, label, file, purpose, sections[len(sections)-1].Title)
	}
	for line := range strings.SplitSeq(string(text), "\n") {
		if m := bold.FindStringSubmatch(line); m != nil {
			sections = append(sections, section{Title: m[1]})
			continue
		}
		m := row.FindStringSubmatch(line)
		if m == nil || len(sections) == 0 {
			continue
		}
		s := &sections[len(sections)-1]
		for _, l := range linked.FindAllStringSubmatch(m[2], -1) {
			file := path.Join("docs", l[2])
			if file == "README.md" {
				continue
			}
			p, err := add(l[1], file, m[1])
			if err != nil {
				errs = append(errs, err)
				continue
			}
			s.Pages = append(s.Pages, p)
			if path.Base(file) != "README.md" || !strings.HasPrefix(file, "docs/") {
				continue
			}
			for _, other := range below(root, file) {
				if seen[other] {
					continue
				}
				child, err := add(path.Base(other), other, "")
				if err != nil {
					errs = append(errs, err)
					continue
				}
				child.Parent = p.URL
				p.Children = append(p.Children, child)
			}
		}
	}
	return sections, errors.Join(append(errs, unlisted(root, seen)...)...)
}

// below returns the pages of its own folder that a README.md links to, in its order.
func below(root, file string) (all []string) {
	text, err := os.ReadFile(filepath.Join(root, file))
	if err != nil {
		return nil // newPage has reported it
	}
	for _, l := range linked.FindAllStringSubmatch(string(text), -1) {
		if other := path.Join(path.Dir(file), l[2]); path.Dir(other) == path.Dir(file) && !slices.Contains(all, other) {
			all = append(all, other)
		}
	}
	return all
}

// unlisted returns an error for each page in docs that no table lists.
func unlisted(root string, listed map[string]bool) (errs []error) {
	err := filepath.WalkDir(filepath.Join(root, "docs"), func(name string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(name) != ".md" {
			return err
		}
		file, err := filepath.Rel(root, name)
		if file = filepath.ToSlash(file); err == nil && !listed[file] {
			errs = append(errs, fmt.Errorf("%s is on no page of the site: add a row to the section of docs/README.md where readers look for it, such as\n"+
				"| what a reader wants | [Its title](%s) |", file, strings.TrimPrefix(file, "docs/")))
		}
		return err
	})
	if err != nil {
		errs = append(errs, fmt.Errorf("list docs: %w", err))
	}
	return errs
}

func newPage(root, label, file, purpose, section string) (*page, error) {
	text, err := os.ReadFile(filepath.Join(root, file))
	if err != nil {
		return nil, fmt.Errorf("docs/README.md lists a page: %w", err)
	}
	title := heading.FindSubmatch(text)
	if title == nil {
		return nil, fmt.Errorf("%s has no title: begin it with a line like \"# Title\"", file)
	}
	p := &page{File: file, URL: address(file), Label: label, Title: strings.ReplaceAll(string(title[1]), "`", ""), Purpose: purpose, Section: section}
	if strings.HasSuffix(label, ".md") {
		p.Label = p.Title
	}
	return p, nil
}

// address is where a page is on the site: docs/sql.md is at sql.html, docs/decisions/README.md at decisions.html.
func address(file string) string {
	name := strings.TrimSuffix(strings.TrimPrefix(file, "docs/"), ".md")
	if name = strings.TrimSuffix(name, "README"); name == "" {
		return "/index.html"
	}
	return "/" + strings.ToLower(strings.TrimSuffix(name, "/")) + ".html"
}

// pages returns all pages in the order of the navigation.
func pages(sections []section) (all []*page) {
	for _, s := range sections {
		for _, p := range s.Pages {
			all = append(append(all, p), p.Children...)
		}
	}
	return all
}

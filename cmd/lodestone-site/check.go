package main

import (
	"bytes"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// document is a page of the site as it was built.
type document struct {
	root *html.Node
	ids  map[string]bool
}

// built is the site as it was built: the names of all files, from its root, and the pages among them.
type built struct {
	files     map[string]bool
	documents map[string]document
	twice     []string // anchors that a page has twice
	local     []string // pages that name a path of the machine
}

// readSite reads a site that was built of a checkout.
func readSite(dir, root string) (*built, error) {
	b := &built{files: map[string]bool{}, documents: map[string]document{}}
	err := filepath.WalkDir(dir, func(name string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		relative, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		relative = filepath.ToSlash(relative)
		b.files[relative] = true
		if path.Ext(relative) != ".html" {
			return nil
		}
		text, err := os.ReadFile(name) //nolint:gosec // no one else writes to the directory
		if err != nil {
			return err
		}
		parsed, err := html.Parse(bytes.NewReader(text))
		if err != nil {
			return fmt.Errorf("parse %s: %w", relative, err)
		}
		d := document{root: parsed, ids: map[string]bool{}}
		for n := range parsed.Descendants() {
			if id := attribute(n, "id"); id != "" {
				if d.ids[id] {
					b.twice = append(b.twice, relative+"#"+id)
				}
				d.ids[id] = true
			}
		}
		b.documents[relative] = d
		if bytes.Contains(text, []byte("file://")) || bytes.Contains(text, []byte(filepath.Dir(dir))) || bytes.Contains(text, []byte(root+"/")) {
			b.local = append(b.local, relative)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the site: %w", err)
	}
	return b, nil
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// check returns an error for each link, picture, script and anchor that leads nowhere, and for each page that names this machine.
func (b *built) check() (errs []error) {
	for _, name := range b.local {
		errs = append(errs, fmt.Errorf("%s names a path of the machine that built it", name))
	}
	for _, name := range b.twice {
		errs = append(errs, fmt.Errorf("%s is there twice: give one of the headings another text", name))
	}
	for _, name := range slices.Sorted(maps.Keys(b.documents)) {
		for n := range b.documents[name].root.Descendants() {
			for _, key := range []string{"href", "src", "srcset"} {
				if to := attribute(n, key); to != "" {
					if err := b.leads(name, to); err != nil {
						errs = append(errs, err)
					}
				}
			}
		}
	}
	return errs
}

// leads returns an error if a reference of a page leads nowhere. Other sites are not asked.
func (b *built) leads(from, to string) error {
	u, err := url.Parse(to)
	if err != nil {
		return fmt.Errorf("%s has a link that cannot be read: %w", from, err)
	}
	if u.Scheme != "" || u.Host != "" {
		return nil
	}
	if strings.HasPrefix(u.Path, "/") {
		return fmt.Errorf("%s refers to %s: a site in a folder of a server would not find it", from, to)
	}
	file := from
	if u.Path != "" {
		file = path.Join(path.Dir(from), u.Path)
	}
	if !b.files[file] && file != indexFile { // which comes last
		return fmt.Errorf("%s refers to %s, which is not on the site", from, to)
	}
	if d, isPage := b.documents[file]; isPage && u.Fragment != "" && !d.ids[u.Fragment] {
		return fmt.Errorf("%s links to %s: %s has no heading with the anchor %q", from, to, file, u.Fragment)
	}
	return nil
}

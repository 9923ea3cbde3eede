package api

import (
	_ "embed" // the template
	"fmt"
	"strings"
	"text/template"
)

//go:embed docs/reference.tmpl
var referenceTemplate string

// File is the name of the group's page in Markdown.
func (g docsGroup) File() string { return strings.TrimPrefix(g.Anchor, "group-") + ".md" }

// Markdown returns the reference as pages of the documentation, by their file names: README.md
// lists all operations, and each other page has the operations of a group. Their content is that of
// the page at DocsPath. Call it when everything has been registered.
func (a *API) Markdown() (map[string]string, error) {
	if d := a.document(); d.err != nil {
		return nil, d.err
	}
	pages, err := template.New("").Funcs(template.FuncMap{"text": markdownText,
		"anchor": markdownAnchor}).Parse(referenceTemplate)
	if err != nil {
		return nil, fmt.Errorf("parse the template of the reference: %w", err)
	}
	content, err := a.docsContent()
	if err != nil {
		return nil, err
	}
	files := map[string]string{}
	write := func(file, name string, of any) error {
		var out strings.Builder
		if err := pages.ExecuteTemplate(&out, name, of); err != nil {
			return fmt.Errorf("write %s of the reference: %w", file, err)
		}
		files[file] = out.String()
		return nil
	}
	if err := write("README.md", "index", content); err != nil {
		return nil, err
	}
	for _, g := range content.Groups {
		if err := write(g.File(), "group", g); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// markdownText is text for a paragraph or a cell of a table, where it means nothing but itself.
var markdownText = strings.NewReplacer("|", `\|`, "<", `\<`, "*", `\*`, "[", `\[`, "\n", " ").Replace

// markdownAnchor is the anchor that code hosts and the site give a heading.
func markdownAnchor(heading string) string {
	var anchor strings.Builder
	for _, c := range strings.ToLower(heading) {
		switch {
		case c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '_':
			anchor.WriteRune(c)
		case c == ' ':
			anchor.WriteByte('-')
		}
	}
	return anchor.String()
}

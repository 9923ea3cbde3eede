package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"image"
	_ "image/png" // the picture of the first page
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

// front is what the templates know of a page.
type front struct {
	Title  string         `json:"title"`
	URL    string         `json:"url"`
	Params map[string]any `json:"params"`
}

// turn is a link to the page before or after.
type turn struct {
	URL   string `json:"url"`
	Label string `json:"label"`
}

// picture is the picture of the first page.
const picture = "docs/live-view.png"

// stage writes what Hugo reads into a directory: the theme, each page with its front matter, the navigation, what links lead to, and the
// files that links and pictures name.
func (s site) stage(dir string, sections []section) error {
	err := errors.Join(
		os.CopyFS(dir, os.DirFS(filepath.Join(s.root, module, "theme"))),
		write(dir, "data/navigation.json", sections),
		os.Symlink(filepath.Join(s.root, module, "web/node_modules"), filepath.Join(dir, "node_modules")),
	)
	for _, file := range [][2]string{
		{"pkg/look/inter.woff2", "static/assets/inter.woff2"},
		{"pkg/look/inter-LICENSE.txt", "static/assets/inter-LICENSE.txt"},
		{module + "/web/src/site.ts", "assets/site.ts"},
		{module + "/web/node_modules/minisearch/LICENSE.txt", "static/assets/minisearch-LICENSE.txt"}, // of the library in the script
		{picture, path.Join("static", picture)},
	} {
		err = errors.Join(err, s.publish(file[0], filepath.Join(dir, file[1])))
	}
	if err != nil {
		return err
	}
	all := pages(sections)
	targets, err := s.targets(dir, all)
	if err == nil {
		err = write(dir, "data/links.json", targets)
	}
	for i, p := range all {
		err = errors.Join(err, s.stagePage(dir, all, i, p))
	}
	return errors.Join(err, s.stageHome(dir))
}

// stageHome writes the first page's front matter, and the mark of the product.
func (s site) stageHome(dir string) error {
	look, err := os.ReadFile(filepath.Join(s.root, "pkg/look/look.go"))
	if err != nil {
		return fmt.Errorf("read the mark: %w", err)
	}
	mark := regexp.MustCompile(`const Mark = "([^"]+)"`).FindSubmatch(look)
	if mark == nil {
		return errors.New("read the mark: pkg/look has no constant Mark")
	}
	shown, err := os.Open(filepath.Join(s.root, picture))
	if err != nil {
		return fmt.Errorf("read the picture of the first page: %w", err)
	}
	size, _, err := image.DecodeConfig(shown)
	if err = errors.Join(err, shown.Close()); err != nil {
		return fmt.Errorf("read the picture of the first page: %w", err)
	}
	icon := `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><style>path{fill:#2f5bd0}@media(prefers-color-scheme:dark){path{fill:#8fb0ff}}</style><path fill-rule="evenodd" d="` + string(mark[1]) + `"/></svg>`
	return errors.Join(
		os.WriteFile(filepath.Join(dir, "static/mark.svg"), []byte(icon), 0o600),
		write(dir, "config/_default/params.json", map[string]any{
			"version": s.version, "mark": string(mark[1]), "picture": map[string]int{"width": size.Width, "height": size.Height},
		}),
		write(dir, "content/_index.md", front{Title: "Lodestone documentation", URL: "/index.html"}),
	)
}

// stagePage writes a page with its front matter. Pictures in HTML name files from the root of the site.
func (s site) stagePage(dir string, all []*page, i int, p *page) error {
	text, err := os.ReadFile(filepath.Join(s.root, p.File))
	if err != nil {
		return fmt.Errorf("read a page: %w", err)
	}
	f := front{Title: p.Title, URL: p.URL, Params: map[string]any{
		"file": p.File, "folder": path.Dir(p.File), "address": p.URL, "section": p.Section, "purpose": p.Purpose, "parent": p.Parent,
	}}
	for _, other := range all {
		if other.URL == p.Parent {
			f.Params["parentLabel"] = other.Label
		}
	}
	if i > 0 {
		f.Params["before"] = turn{all[i-1].URL, all[i-1].Label}
	}
	if i+1 < len(all) {
		f.Params["after"] = turn{all[i+1].URL, all[i+1].Label}
	}
	matter, err := json.Marshal(f)
	if err != nil {
		return fmt.Errorf("write a page: %w", err)
	}
	body := embedded.ReplaceAllStringFunc(string(text), func(attribute string) string {
		m := embedded.FindStringSubmatch(attribute)
		return m[1] + `="/` + path.Join(path.Dir(p.File), m[2]) + `"`
	})
	return write(dir, filepath.Join("content", strings.TrimSuffix(p.URL, ".html")+".md"), json.RawMessage(string(matter)+"\n"+body))
}

var (
	embedded = regexp.MustCompile(`\b(src|srcset)="([^":]+)"`)
	inText   = regexp.MustCompile(`\]\(([^)\s#:]+)(?:#[^)]*)?\)`)
)

// targets maps each file that a page links to, relative to the repository, to its address on the site: a page's own, that of a copy, or
// nothing for a folder, which the site does not have. Pictures are copied as well.
func (s site) targets(dir string, all []*page) (map[string]string, error) {
	links := map[string]string{"README.md": "/index.html", contents: "/index.html"}
	for _, p := range all {
		links[p.File] = p.URL
	}
	var errs []error
	for _, p := range all {
		text, err := os.ReadFile(filepath.Join(s.root, p.File))
		if err != nil {
			return nil, fmt.Errorf("read a page: %w", err)
		}
		for _, m := range append(inText.FindAllStringSubmatch(string(text), -1), embedded.FindAllStringSubmatch(string(text), -1)...) {
			file := path.Join(path.Dir(p.File), m[len(m)-1])
			info, err := os.Stat(filepath.Join(s.root, file))
			if _, known := links[file]; known || err != nil { // the template reports what is not there; the rest is no link, such as code
				continue
			}
			if info.IsDir() {
				links[file] = ""
				continue
			}
			links[file] = "/" + shown(file)
			errs = append(errs, s.publish(file, filepath.Join(dir, "static", shown(file))))
		}
	}
	return links, errors.Join(errs...)
}

// shown is the name of a copied file: browsers show it as text, and do not download it.
func shown(file string) string {
	switch path.Ext(file) {
	case ".png", ".svg", ".jpg", ".webp", ".txt", ".pdf", ".html", ".json":
		return file
	}
	return file + ".txt"
}

// publish copies a file of the repository.
func (s site) publish(file, to string) error {
	content, err := os.ReadFile(filepath.Join(s.root, file))
	if err == nil {
		if err = os.MkdirAll(filepath.Dir(to), 0o700); err == nil {
			err = os.WriteFile(to, content, 0o600)
		}
	}
	if err != nil {
		return fmt.Errorf("copy %s: %w", file, err)
	}
	return nil
}

// write writes a value as JSON, or text as it is.
func write(dir, name string, value any) error {
	content, ok := value.(json.RawMessage)
	if !ok {
		var err error
		if content, err = json.Marshal(value); err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
	}
	to := filepath.Join(dir, name)
	err := os.MkdirAll(filepath.Dir(to), 0o700)
	if err == nil {
		err = os.WriteFile(to, content, 0o600)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}

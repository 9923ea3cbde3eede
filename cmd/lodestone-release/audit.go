package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

type auditCommand struct {
	Source string `default:"." type:"existingdir" help:"The checkout."`
}

// dependency is one module or package.
type dependency struct{ kind, name, version, licence, dir string }

func (d dependency) String() string { return d.kind + " " + d.name + "@" + d.version }

// Run fails if a dependency has a licence that we do not take, or a vulnerability that is known.
// What could not be looked up is printed.
func (c auditCommand) Run(ctx context.Context) error {
	all, modules, err := dependencies(ctx, c.Source)
	if err != nil {
		return err
	}
	failed := 0
	unknown := 0
	for _, d := range all {
		switch {
		case d.kind == "pypi" && d.licence == "":
			unknown++ // it is not installed here
		case !d.allowed():
			failed++
			fmt.Printf("licence: %s has %q\n", d, d.licence)
		}
	}
	if unknown > 0 {
		fmt.Printf("not checked: licences of %d Python packages, which are not installed below .cache\n", unknown)
	}
	fmt.Printf("licences: %d dependencies\n", len(all))
	failed += c.vulnerabilities(ctx, modules, all)
	if failed > 0 {
		return fmt.Errorf("%d findings", failed)
	}
	return nil
}

// dependencies lists the Go modules that are compiled, in programs, tests and tools, the npm
// packages of the lock files, and the Python packages of the requirements, with the directories of
// the checkout's own modules. It needs no network.
func dependencies(ctx context.Context, source string) (all []dependency, modules []string, err error) {
	seen := map[string]bool{}
	add := func(d dependency) {
		if !seen[d.String()] {
			seen[d.String()] = true
			all = append(all, d)
		}
	}
	err = filepath.WalkDir(source, func(path string, e os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		switch name := e.Name(); {
		case e.IsDir() && (name == "node_modules" || strings.HasPrefix(name, ".") && path != source ||
			name == "bin" || name == "data"):
			return filepath.SkipDir
		case name == "go.mod":
			modules = append(modules, filepath.Dir(path))
			return goModule(ctx, filepath.Dir(path), add)
		case name == "package-lock.json":
			return npmLock(path, add)
		case strings.HasPrefix(name, "requirements") && strings.HasSuffix(name, ".txt"):
			return requirements(path, filepath.Join(source, ".cache"), add)
		}
		return nil
	})
	return all, modules, err
}

func goModule(ctx context.Context, dir string, add func(dependency)) error {
	list := exec.CommandContext(ctx, "go", "list", "-deps", "-test", "-f",
		"{{with .Module}}{{if not .Main}}{{with .Replace}}{{else}}{{.Path}}\t{{.Version}}\t{{.Dir}}{{end}}{{end}}{{end}}",
		"./...", "tool")
	var printed strings.Builder // also that there are no tools
	list.Dir, list.Stderr = dir, &printed
	out, err := list.Output()
	if err != nil {
		return fmt.Errorf("list the modules of %s: %w: %s", dir, err, &printed)
	}
	lines := strings.Split(string(out), "\n")
	slices.Sort(lines)
	for _, line := range slices.Compact(lines) { // one for each package
		fields := strings.Split(line, "\t")
		if len(fields) != 3 {
			continue
		}
		licence, err := licenceOf(fields[2])
		if err != nil {
			return err
		}
		add(dependency{"go", fields[0], fields[1], licence, ""})
	}
	return nil
}

func npmLock(path string, add func(dependency)) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var lock struct {
		Packages map[string]struct {
			Version, License string
			Link             bool
		}
	}
	if err := json.Unmarshal(text, &lock); err != nil {
		return fmt.Errorf("read %s: %w", path, err)
	}
	for at, p := range lock.Packages {
		const folder = "node_modules/"
		if i := strings.LastIndex(at, folder); i >= 0 && !p.Link {
			add(dependency{"npm", at[i+len(folder):], p.Version, p.License, filepath.Dir(path)})
		}
	}
	return nil
}

var requirement = regexp.MustCompile(`^([A-Za-z0-9_.-]+)==([^\s;\\]+)`)

// requirements reads exact versions, and their licences where they are installed below cache.
func requirements(path, cache string, add func(dependency)) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(text)) {
		if m := requirement.FindStringSubmatch(line); m != nil {
			add(dependency{"pypi", m[1], m[2], installed(cache, m[1], m[2]), path})
		}
	}
	return nil
}

// installed returns the licence that an installed Python package names, or "".
func installed(cache, name, version string) string {
	plain := strings.NewReplacer("-", "_", ".", "_").Replace(name)
	found, err := filepath.Glob(filepath.Join(cache, "*", "*", "lib", "python*", "site-packages",
		"*-"+version+".dist-info", "METADATA"))
	if err != nil {
		return ""
	}
	// the pattern is good
	more, _ := filepath.Glob(filepath.Join(cache, "*", "lib", "python*", "site-packages",
		"*-"+version+".dist-info", "METADATA"))
	for _, file := range append(found, more...) {
		folder := strings.TrimSuffix(filepath.Base(filepath.Dir(file)), "-"+version+".dist-info")
		if !strings.EqualFold(strings.NewReplacer("-", "_", ".", "_").Replace(folder), plain) {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return ""
		}
		for _, field := range []string{"License-Expression: ", "Classifier: License :: OSI Approved :: ", "License: "} {
			for line := range strings.Lines(string(text)) {
				if value, ok := strings.CutPrefix(strings.TrimSpace(line), field); ok && value != "" {
					return pythonLicence(value)
				}
			}
		}
	}
	return ""
}

// pythonLicence turns the words of classifiers into identifiers of SPDX.
func pythonLicence(text string) string {
	for words, id := range map[string]string{
		"MIT License": "MIT", "Apache Software License": "Apache-2.0", "BSD License": "BSD-3-Clause",
		"3-Clause BSD License": "BSD-3-Clause", "BSD": "BSD-3-Clause", "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
		"ISC License (ISCL)": "ISC", "Python Software Foundation License": "PSF-2.0", "Apache 2.0": "Apache-2.0",
		"Apache License 2.0": "Apache-2.0",
	} {
		if text == words {
			return id
		}
	}
	return text
}

// licences are those that we take.
var licences = []string{
	"MIT", "MIT-0", "BSD", "BSD-2-Clause", "BSD-3-Clause", "Apache-2.0", "ISC", "MPL-2.0", "0BSD", "BlueOak-1.0.0",
	"CC0-1.0", "CC-BY-4.0", "Unlicense", "Python-2.0",
	"PSF-2.0", "Zlib", "PostgreSQL",
}

// excepted are packages with a licence that we do not take otherwise. No release has them: who uses
// dbt installs them from the index.
var excepted = []dependency{{kind: "pypi", name: "text-unidecode", licence: "Artistic License"}} // dbt needs it

func (d dependency) allowed() bool {
	return allowed(d.licence) || slices.Contains(excepted, dependency{kind: d.kind, name: d.name, licence: d.licence})
}

// allowed judges an expression of SPDX: one side of each OR, and both of each AND.
func allowed(expression string) bool {
	expression = strings.TrimSpace(expression)
	for strings.HasPrefix(expression, "(") && strings.HasSuffix(expression, ")") &&
		!strings.Contains(expression[1:len(expression)-1], "(") {
		expression = expression[1 : len(expression)-1]
	}
	if either := strings.Split(expression, " OR "); len(either) > 1 {
		return slices.ContainsFunc(either, allowed)
	}
	if both := strings.Split(expression, " AND "); len(both) > 1 {
		return !slices.ContainsFunc(both, func(part string) bool { return !allowed(part) })
	}
	return slices.Contains(licences, expression)
}

// phrases are words of licences' texts. Those that we do not take come first: a file may have
// several.
var phrases = []struct{ words, id string }{
	{"gnu affero general public license", "AGPL"}, {"gnu lesser general public license", "LGPL"},
	{"gnu general public license", "GPL"}, {"business source license", "BUSL"},
	{"server side public license", "SSPL"}, {"mozilla public license", "MPL-2.0"}, {"apache license", "Apache-2.0"},
	{"permission is hereby granted, free of charge", "MIT"},
	{"redistribution and use in source and binary forms", "BSD"},
	{"permission to use, copy, modify, and/or distribute this software", "ISC"},
	{"permission to use, copy, modify, and distribute this software", "ISC"},
	{"free and unencumbered software released into the public domain", "Unlicense"},
	{"cc0 1.0 universal", "CC0-1.0"}, {"creative commons zero", "CC0-1.0"},
}

// licenceOf returns the licence of a Go module by the text in its folder, or "".
func licenceOf(dir string) (string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", fmt.Errorf("look for a licence: %w", err)
	}
	for _, e := range entries {
		name := strings.ToLower(e.Name())
		if e.IsDir() || !strings.HasPrefix(name, "licen") && !strings.HasPrefix(name, "copying") &&
			!strings.HasPrefix(name, "unlicense") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return "", fmt.Errorf("read a licence: %w", err)
		}
		if id := classify(string(text)); id != "" {
			return id, nil
		}
	}
	return "", nil
}

func classify(text string) string {
	text = strings.ToLower(strings.Join(strings.Fields(text), " "))
	first, at := "", len(text)
	for _, p := range phrases {
		// The licence of the module comes first. The MPL names the GPL further down.
		if i := strings.Index(text, p.words); i >= 0 && i < at {
			first, at = p.id, i
		}
	}
	return first
}

// vulnerabilities prints and counts those that are known, and prints what could not be looked up.
func (c auditCommand) vulnerabilities(ctx context.Context, modules []string, all []dependency) (found int) {
	for _, module := range modules {
		found += c.run(ctx, module, "Go modules of "+module, "govulncheck", "./...")
	}
	var locks []string
	for _, d := range all {
		if d.kind == "npm" && !slices.Contains(locks, d.dir) {
			locks = append(locks, d.dir)
		}
	}
	for _, dir := range locks {
		found += c.run(ctx, dir, "npm packages of "+dir, "npm", "audit", "--package-lock-only", "--audit-level=low")
	}
	var python []string
	for _, d := range all {
		if d.kind == "pypi" && !slices.Contains(python, d.dir) {
			python = append(python, d.dir)
		}
	}
	for _, file := range python {
		found += c.run(ctx, ".", "Python packages of "+file, "pip-audit", "--requirement", file)
	}
	return found
}

// noAnswer are words of tools that could not ask their database.
var noAnswer = regexp.MustCompile(
	`(?i)no such host|connection refused|i/o timeout|EAI_AGAIN|ENOTFOUND|ECONNREFUSED|endpoint is being retired|audit endpoint returned an error|405|403 Forbidden|fetching vulnerabilities|network`)

// run runs a tool that fails if it finds something.
func (c auditCommand) run(ctx context.Context, dir, what, tool string, args ...string) (found int) {
	path, err := exec.LookPath(tool)
	if err != nil {
		fmt.Printf("not checked: vulnerabilities of %s: there is no %s on the PATH\n", what, tool)
		return 0
	}
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	switch {
	case err == nil:
		fmt.Printf("vulnerabilities of %s: none known\n", what)
		return 0
	case noAnswer.Match(out):
		line, _, _ := strings.Cut(strings.TrimSpace(string(noAnswer.Find(out))), "\n")
		fmt.Printf("not checked: vulnerabilities of %s: %s does not get an answer (%s)\n", what, tool, line)
		return 0
	}
	fmt.Printf("vulnerabilities of %s:\n%s\n", what, out)
	return 1
}

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/CycloneDX/cyclonedx-go"
	"github.com/CycloneDX/cyclonedx-gomod/pkg/generate/bin"
	"github.com/google/uuid"
	"github.com/rs/zerolog"
)

// bom writes what is in the programs of a platform, as CycloneDX, and returns the file: the modules
// of Go that the linker recorded, and the npm packages of the front-ends.
func (r *release) bom(p platform) (string, error) {
	generator, err := bin.NewGenerator(filepath.Join(r.programs[p], programNames[0]),
		bin.WithIncludeStdlib(true), bin.WithVersionOverride("v"+r.Version), bin.WithLogger(zerolog.Nop()))
	if err != nil {
		return "", err
	}
	bom, err := generator.Generate()
	if err != nil {
		return "", fmt.Errorf("list the modules of %s: %w", p, err)
	}
	packages, err := npmPackages(r.Source)
	if err != nil {
		return "", err
	}
	all := append(slices.Clone(*bom.Components), packages...)
	bom.Components = &all
	bom.SerialNumber = uuid.NewSHA1(uuid.NameSpaceURL, []byte("lodestone/"+r.Version+"/"+r.Commit+"/"+p.String())).URN()
	bom.Metadata.Timestamp = r.Date.Format("2006-01-02T15:04:05Z")
	name := r.out("lodestone-" + r.Version + "-" + p.String() + ".cdx.json")
	return name, writeFile(name, func(to io.Writer) error {
		return cyclonedx.NewBOMEncoder(to, cyclonedx.BOMFileFormatJSON).SetPretty(true).Encode(bom)
	})
}

// bundler is the npm package that builds the front-ends, and is in no program.
const bundler = "esbuild"

// npmPackages are those of the front-ends' lock files that become part of scripts and styles.
func npmPackages(source string) (components []cyclonedx.Component, err error) {
	seen := map[string]bool{}
	for _, front := range fronts {
		file := filepath.Join(source, front, "web", "package-lock.json")
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		var lock struct {
			Packages map[string]struct {
				Version, License string
				Dev, Optional    bool
			}
		}
		if err := json.Unmarshal(text, &lock); err != nil {
			return nil, fmt.Errorf("read %s: %w", file, err)
		}
		for path, p := range lock.Packages {
			const folder = "node_modules/"
			at := strings.LastIndex(path, folder)
			if at < 0 {
				continue // the front-end itself
			}
			name := path[at+len(folder):]
			url := "pkg:npm/" + strings.Replace(name, "@", "%40", 1) + "@" + p.Version
			if p.Dev || p.Optional || name == bundler || seen[url] {
				continue
			}
			seen[url] = true
			c := cyclonedx.Component{BOMRef: url, Type: cyclonedx.ComponentTypeLibrary, Name: name, Version: p.Version, PackageURL: url}
			if p.License != "" {
				c.Licenses = &cyclonedx.Licenses{{Expression: p.License}}
			}
			components = append(components, c)
		}
	}
	slices.SortFunc(components, func(a, b cyclonedx.Component) int { return strings.Compare(a.BOMRef, b.BOMRef) })
	return components, nil
}

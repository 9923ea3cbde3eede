package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/CycloneDX/cyclonedx-go"
	"github.com/CycloneDX/cyclonedx-gomod/pkg/generate/bin"
	"github.com/google/uuid"
	"github.com/rs/zerolog"
)

type bomCommand struct {
	release
	Program  string `required:"" type:"existingfile" help:"The program."`
	Platform string `required:"" help:"Its platform, such as linux-amd64."`
	Out      string `required:"" type:"existingdir" help:"Directory to write to."`
}

// Run writes what is in a program, as CycloneDX: the modules of Go that the linker recorded, and
// the npm packages of the front-ends.
func (c *bomCommand) Run() error {
	generator, err := bin.NewGenerator(c.Program, bin.WithIncludeStdlib(true), bin.WithVersionOverride("v"+c.Version),
		bin.WithLogger(zerolog.Nop()))
	if err != nil {
		return err
	}
	bom, err := generator.Generate()
	if err != nil {
		return fmt.Errorf("list the modules of %s: %w", c.Program, err)
	}
	packages, err := npmPackages()
	if err != nil {
		return err
	}
	all := append(slices.Clone(*bom.Components), packages...)
	bom.Components = &all
	bom.SerialNumber = uuid.NewSHA1(uuid.NameSpaceURL, []byte("lodestone/"+c.Version+"/"+c.Commit+"/"+c.Platform)).URN()
	bom.Metadata.Timestamp = c.Date.UTC().Format(time.RFC3339)
	return writeFile(filepath.Join(c.Out, c.name(c.Platform+".cdx.json")), func(to io.Writer) error {
		return cyclonedx.NewBOMEncoder(to, cyclonedx.BOMFileFormatJSON).SetPretty(true).Encode(bom)
	})
}

// bundler is the npm package that builds the front-ends, and is in no program.
const bundler = "esbuild"

// fronts are the front-ends that the programs embed.
var fronts = []string{"crud/viewer", "crud/embed", "crud/dashboard/frame/island", "ingest/collector"}

// npmPackages are those of the front-ends' lock files that become part of scripts and styles.
func npmPackages() (components []cyclonedx.Component, err error) {
	seen := map[string]bool{}
	for _, front := range fronts {
		file := filepath.Join(front, "web", "package-lock.json")
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
			c := cyclonedx.Component{BOMRef: url, Type: cyclonedx.ComponentTypeLibrary, Name: name,
				Version: p.Version, PackageURL: url}
			if p.License != "" {
				c.Licenses = &cyclonedx.Licenses{{Expression: p.License}}
			}
			components = append(components, c)
		}
	}
	slices.SortFunc(components, func(a, b cyclonedx.Component) int { return strings.Compare(a.BOMRef, b.BOMRef) })
	return components, nil
}

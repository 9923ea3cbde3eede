package main

import (
	"fmt"
	"io"
	"path"

	"github.com/goreleaser/nfpm/v2"
	_ "github.com/goreleaser/nfpm/v2/deb" // registers the format
	"github.com/goreleaser/nfpm/v2/files"
	_ "github.com/goreleaser/nfpm/v2/rpm" // registers the format
)

// pack writes the files of a platform as a deb or an rpm. It has no scripts: nothing starts or
// restarts by an installation, since the order of an upgrade matters (docs/upgrade.md).
func (r *release) pack(format string, p platform, contents []entry) error {
	info := &nfpm.Info{
		Name: "lodestone", Arch: p.processor, Platform: "linux", Version: r.Version, Release: "1", MTime: r.Date,
		Section: "net", Priority: "optional", Maintainer: "Lodestone <lodestone@example.invalid>", License: "Apache-2.0", DisableGlobbing: true,
		Description: "Records how people read the documents you offer them.\nPages for lead magnets, personal links, and each event counted once.",
		Overridables: nfpm.Overridables{
			Recommends: []string{"ca-certificates"},
			RPM:        nfpm.RPM{BuildHost: "localhost", Summary: "Records how people read the documents you offer them"},
		},
	}
	for _, e := range contents {
		c := &files.Content{Source: e.source, Destination: "/usr/" + e.path, FileInfo: &files.ContentFileInfo{Mode: e.mode, MTime: r.Date, Owner: "root", Group: "root"}}
		if e.absolute {
			c.Destination = "/" + e.path
		}
		if e.config {
			c.Type = files.TypeConfigNoReplace
		}
		if path.Base(e.path) == "LICENSE" && format == "deb" {
			c.Destination = path.Dir(c.Destination) + "/copyright"
		}
		info.Contents = append(info.Contents, c)
	}
	info = nfpm.WithDefaults(info)
	packager, err := nfpm.Get(format)
	if err != nil {
		return err
	}
	if err := nfpm.PrepareForPackager(info, format); err != nil {
		return err
	}
	return writeFile(r.out(fmt.Sprintf("lodestone-%s-%s.%s", r.Version, p, format)), func(to io.Writer) error { return packager.Package(info, to) })
}

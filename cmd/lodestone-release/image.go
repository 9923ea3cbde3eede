package main

import (
	"bytes"
	"compress/gzip"
	"encoding/pem"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// user is the one that processes in containers run as, as in deploy/Dockerfile.
const user = 65532

// clickhouseUser is the one of ClickHouse's image.
const clickhouseUser = 101

type imageCommand struct {
	release
	Programs string `required:"" type:"existingdir" help:"Directory with the programs, as goreleaser lays them out."`
	Out      string `required:"" type:"existingdir" help:"Directory to write to."`
}

// Run writes the images of all processors as one archive of the OCI layout, which container engines
// and registry clients read, and a list of their digests: first that of the index, by which a
// registry has the image of every processor.
func (c *imageCommand) Run() error {
	programs, err := filepath.Glob(filepath.Join(c.Programs, "lodestone_linux_*", "bin", "lodestone"))
	if err != nil || len(programs) == 0 {
		return fmt.Errorf("%s has no programs for Linux (%w)", c.Programs, err)
	}
	system, err := c.layer(systemFiles)
	if err != nil {
		return err
	}
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	var digests strings.Builder
	for _, program := range programs {
		processor, _, _ := strings.Cut(strings.TrimPrefix(program, filepath.Join(c.Programs, "lodestone_linux_")), "_")
		image, err := c.platformImage(program, processor, system)
		if err != nil {
			return err
		}
		digest, err := image.Digest()
		if err != nil {
			return err
		}
		fmt.Fprintf(&digests, "%s  linux/%s\n", digest, processor)
		index = mutate.AppendManifests(index,
			mutate.IndexAddendum{Add: image,
				Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: processor}}})
	}
	digest, err := index.Digest()
	if err != nil {
		return err
	}
	err = writeFile(filepath.Join(c.Out, c.name("oci-digests.txt")), func(to io.Writer) error {
		_, err := fmt.Fprintf(to, "%s  lodestone:%s\n%s", digest, c.Version, digests.String())
		return err
	})
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "lodestone-image-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	outer := mutate.AppendManifests(mutate.IndexMediaType(empty.Index, types.OCIImageIndex), mutate.IndexAddendum{
		Add: index, Descriptor: v1.Descriptor{Annotations: map[string]string{
			"org.opencontainers.image.ref.name": c.Version, "io.containerd.image.name": "lodestone:" + c.Version,
		}},
	})
	if _, err := layout.Write(dir, outer); err != nil {
		return err
	}
	items, err := itemsBelow(dir)
	if err != nil {
		return err
	}
	return writeFile(filepath.Join(c.Out, c.name("oci.tar")),
		func(to io.Writer) error { return writeTar(to, items, c.Date) })
}

func (r *release) platformImage(file, processor string, system v1.Layer) (v1.Image, error) {
	program, err := r.layer(func() ([]item, error) {
		text, err := os.ReadFile(file)
		return []item{{path: "lodestone", text: text, mode: 0o755}}, err
	})
	if err != nil {
		return nil, err
	}
	base := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	image, err := mutate.Append(base,
		mutate.Addendum{Layer: system, History: r.history("certificates, time zones, directories")},
		mutate.Addendum{Layer: program, History: r.history("lodestone " + r.Version)})
	if err != nil {
		return nil, err
	}
	config, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture, config.Created, config.Author = "linux", processor, v1.Time{Time: r.Date}, "Lodestone"
	config.Config = v1.Config{
		Entrypoint: []string{"/lodestone"}, User: fmt.Sprintf("%[1]d:%[1]d", user),
		Env:          []string{"ZONEINFO=/usr/share/zoneinfo.zip"},
		ExposedPorts: map[string]struct{}{"8080/tcp": {}, "8081/tcp": {}, "8090/tcp": {}},
		Labels: map[string]string{
			"org.opencontainers.image.title": "Lodestone", "org.opencontainers.image.version": r.Version,
			"org.opencontainers.image.revision": r.Commit,
			"org.opencontainers.image.created":  r.Date.UTC().Format(time.RFC3339),
			"org.opencontainers.image.licenses": "Apache-2.0",
		},
		Healthcheck: &v1.HealthConfig{Test: []string{"CMD", "/lodestone", "healthcheck"}, Interval: 10e9, Timeout: 5e9,
			StartPeriod: 30e9, Retries: 3},
	}
	return mutate.ConfigFile(image, config)
}

func (r *release) history(what string) v1.History {
	return v1.History{Created: v1.Time{Time: r.Date}, CreatedBy: "lodestone-release: " + what}
}

func (r *release) layer(items func() ([]item, error)) (v1.Layer, error) {
	list, err := items()
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	if err := writeTar(&text, list, r.Date); err != nil {
		return nil, err
	}
	return tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(text.Bytes())),
			nil
	},
		tarball.WithMediaType(types.OCILayer), tarball.WithCompressionLevel(gzip.DefaultCompression))
}

// systemFiles are those of the image beside the program. They come from the checkout and from a
// module, whose version is pinned, and not from the machine that builds. A program that is built
// with -trimpath does not know where Go is.
func systemFiles() ([]item, error) {
	zones, err := os.ReadFile(filepath.Join("pkg", "timezone", "zoneinfo.zip"))
	if err != nil {
		return nil, err
	}
	var certificates bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint != nil {
			continue // trusted for some certificates only, which a file cannot say
		}
		if err := pem.Encode(&certificates, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}); err != nil {
			return nil, err
		}
	}
	return []item{
		{path: "etc/ssl/certs/ca-certificates.crt", text: certificates.Bytes(), mode: 0o644},
		{path: "etc/passwd", text: fmt.Appendf(nil, "lodestone:x:%[1]d:%[1]d::/:/sbin/nologin\n", user), mode: 0o644},
		{path: "usr/share/zoneinfo.zip", text: zones, mode: 0o644},
		{path: "tmp/", mode: 0o1777},
		{path: "var/lib/lodestone/spool/", mode: 0o750, owner: user},
		{path: "var/lib/lodestone/erasures/", mode: 0o750, owner: user},
		{path: "backups/", mode: 0o750, owner: clickhouseUser}, // which writes there as well
	}, nil
}

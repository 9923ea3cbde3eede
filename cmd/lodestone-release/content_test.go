package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/x509"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/CycloneDX/cyclonedx-go"
	"github.com/cavaliergopher/cpio"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/validate"
	"github.com/stretchr/testify/require"
)

// The image has the program, what it needs, and the settings of deploy/Dockerfile.
func TestTheImage(t *testing.T) {
	dir := t.TempDir()
	unpack(t, bytes.NewReader(readFile(t, filepath.Join(releases(t)[0], "lodestone-"+testVersion+"-oci.tar"))), dir)
	outer, err := layout.ImageIndexFromPath(dir)
	require.NoError(t, err)
	require.NoError(t, validate.Index(outer))
	manifest, err := outer.IndexManifest()
	require.NoError(t, err)
	require.Len(t, manifest.Manifests, 1)
	require.Equal(t, testVersion, manifest.Manifests[0].Annotations["org.opencontainers.image.ref.name"])
	inner, err := outer.ImageIndex(manifest.Manifests[0].Digest)
	require.NoError(t, err)
	images, err := inner.IndexManifest()
	require.NoError(t, err)
	require.NotEmpty(t, images.Manifests)
	digests := []string{manifest.Manifests[0].Digest.String() + "  lodestone:" + testVersion}
	for _, m := range images.Manifests {
		digests = append(digests, m.Digest.String()+"  linux/"+m.Platform.Architecture)
	}
	require.Equal(t, strings.Join(digests, "\n")+"\n",
		string(readFile(t, filepath.Join(releases(t)[0], "lodestone-"+testVersion+"-oci-digests.txt"))),
		"people pin the image by them")
	for _, m := range images.Manifests {
		require.Equal(t, "linux", m.Platform.OS)
		image, err := inner.Image(m.Digest)
		require.NoError(t, err)
		config, err := image.ConfigFile()
		require.NoError(t, err)
		require.Equal(t, m.Platform.Architecture, config.Architecture)
		require.Equal(t, []string{"/lodestone"}, config.Config.Entrypoint)
		require.Equal(t, "65532:65532", config.Config.User)
		require.Equal(t, built.commit, config.Config.Labels["org.opencontainers.image.revision"])
		require.Equal(t, []string{"CMD", "/lodestone", "healthcheck"}, config.Config.Healthcheck.Test)
		requireFiles(t, image, m.Platform.Architecture)
	}
}

func requireFiles(t *testing.T, image v1.Image, processor string) {
	t.Helper()
	layers, err := image.Layers()
	require.NoError(t, err)
	require.Len(t, layers, 2)
	found := map[string]*tar.Header{}
	texts := map[string][]byte{}
	for _, layer := range layers {
		from, err := layer.Uncompressed()
		require.NoError(t, err)
		r := tar.NewReader(from)
		for {
			h, err := r.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			require.NoError(t, err)
			found[h.Name] = h
			texts[h.Name], err = io.ReadAll(r)
			require.NoError(t, err)
		}
		require.NoError(t, from.Close())
	}
	require.Equal(t, 65532, found["var/lib/lodestone/spool/"].Uid)
	require.Equal(t, 101, found["backups/"].Uid, "the user of ClickHouse's image")
	require.EqualValues(t, 0o1777, found["tmp/"].Mode)
	require.True(t, x509.NewCertPool().AppendCertsFromPEM(texts["etc/ssl/certs/ca-certificates.crt"]))
	require.Greater(t, bytes.Count(texts["etc/ssl/certs/ca-certificates.crt"], []byte("BEGIN CERTIFICATE")), 80)
	zones, err := zip.NewReader(bytes.NewReader(texts["usr/share/zoneinfo.zip"]),
		int64(len(texts["usr/share/zoneinfo.zip"])))
	require.NoError(t, err)
	berlin, err := zones.Open("Europe/Berlin")
	require.NoError(t, err)
	require.NoError(t, berlin.Close())
	if processor != runtime.GOARCH {
		return
	}
	program := filepath.Join(t.TempDir(), "lodestone")
	require.NoError(t, os.WriteFile(program, texts["lodestone"], 0o700))
	out, err := exec.CommandContext(t.Context(), program, "version").Output()
	require.NoError(t, err)
	require.Contains(t, string(out), "lodestone "+testVersion+"\n")
}

// The archive of the documentation has the site in one directory.
func TestTheDocumentation(t *testing.T) {
	dir := t.TempDir()
	name := "lodestone-" + testVersion + "-docs"
	z, err := gzip.NewReader(bytes.NewReader(readFile(t, filepath.Join(releases(t)[0], name+".tar.gz"))))
	require.NoError(t, err)
	unpack(t, z, dir)
	require.Equal(t, "<h1>Start</h1>", string(readFile(t, filepath.Join(dir, name, "docs", "start.html"))))
}

// The manual has the commands and the settings, and the program that prints manuals has no
// complaint about its pages.
func TestTheManual(t *testing.T) {
	dir := t.TempDir()
	z, err := gzip.NewReader(bytes.NewReader(readFile(t, filepath.Join(releases(t)[0], archiveName("tar.gz")))))
	require.NoError(t, err)
	unpack(t, z, dir)
	for page, has := range map[string][]string{
		"man1/lodestone.1": {"lodestone dead-letters replay", "--engine-cache"},
		"man5/lodestone.5": {"--kafka-brokers", "LODESTONE_KAFKA_BROKERS"},
	} {
		file := filepath.Join(dir, strings.TrimSuffix(archiveName("tar.gz"), ".tar.gz"), "share", "man", page)
		for _, text := range has {
			require.Contains(t, string(readFile(t, file)), text, page)
		}
		if _, err := exec.LookPath("man"); err != nil {
			t.Log("no man on this machine: the pages are not rendered")
			continue
		}
		out, err := execute(t.Context(), dir, "", "env", "MANPAGER=cat", "LC_ALL=C.UTF-8", "man",
			"--warnings", "--local-file", file)
		require.NoError(t, err)
		require.NotContains(t, out, "warning:", page)
	}
}

// The list names the modules that the product's go.mod has, with their versions, and the packages
// of the front-ends.
func TestTheBillOfMaterials(t *testing.T) {
	var bom cyclonedx.BOM
	text := readFile(t, filepath.Join(releases(t)[0], archiveName("cdx.json")))
	require.NoError(t, cyclonedx.NewBOMDecoder(bytes.NewReader(text), cyclonedx.BOMFileFormatJSON).Decode(&bom))
	require.Equal(t, "lodestone", bom.Metadata.Component.Name)
	require.Equal(t, "v"+testVersion, bom.Metadata.Component.Version)
	listed := map[string]string{}
	for _, c := range *bom.Components {
		listed[c.Name] = c.Version
		require.NotEmpty(t, c.PackageURL, c.Name)
	}
	cmd := exec.CommandContext(t.Context(), "go", "mod", "edit", "-json")
	cmd.Dir = "../.."
	out, err := cmd.Output()
	require.NoError(t, err)
	var file struct {
		Require []struct{ Path, Version string }
		Replace []struct {
			Old, New struct{ Path, Version string }
		}
	}
	require.NoError(t, json.Unmarshal(out, &file))
	instead := map[string]string{}
	for _, r := range file.Replace {
		instead[r.Old.Path] = r.New.Version
	}
	agree := 0
	for _, r := range file.Require {
		if v, ok := listed[r.Path]; ok {
			agree++
			require.Equal(t, cmp.Or(instead[r.Path], r.Version), v, r.Path)
		}
	}
	require.Greater(t, agree, 25)
	require.Equal(t, strings.TrimPrefix(runtime.Version(), "go"), strings.TrimPrefix(listed["std"], "go"))
	require.Contains(t, listed, "pdfjs-dist")
	for _, name := range []string{"typescript", "esbuild", "vitepress"} {
		require.NotContains(t, listed, name, "it builds, or is of the documentation's site, and is in no program")
	}
}

// An rpm is a lead with the name, two headers, and an archive of cpio, compressed. No module that
// reads headers has a licence that we accept.
func TestTheRPM(t *testing.T) {
	text := readFile(t, filepath.Join(releases(t)[0], archiveName("rpm")))
	require.Equal(t, []byte{0xed, 0xab, 0xee, 0xdb}, text[:4])
	require.Equal(t, "lodestone-"+testVersion+"-1", string(bytes.TrimRight(text[10:76], "\x00")))
	at := bytes.Index(text, []byte{0x1f, 0x8b, 0x08})
	require.Positive(t, at)
	z, err := gzip.NewReader(bytes.NewReader(text[at:]))
	require.NoError(t, err)
	payload := cpio.NewReader(z)
	installed := map[string]*cpio.Header{}
	for {
		h, err := payload.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		installed[strings.TrimPrefix(h.Name, ".")] = h
	}
	for name, mode := range map[string]cpio.FileMode{
		"/usr/bin/lodestone": 0o755, "/usr/bin/lodestone-clickhouse": 0o755, "/etc/lodestone/lodestone.env": 0o600,
		"/usr/lib/systemd/system/lodestone-crud.service": 0o644,
		"/usr/share/man/man1/lodestone.1":                0o644,
	} {
		require.Contains(t, installed, name)
		require.Equal(t, mode, installed[name].Mode.Perm(), name)
	}
	require.Greater(t, installed["/usr/bin/lodestone"].Size, int64(30<<20))
	tool, err := exec.LookPath("rpm")
	if err != nil {
		t.Log("no rpm on this machine: it is not asked")
		return
	}
	out, err := exec.CommandContext(t.Context(), tool, "--query", "--package", "--queryformat",
		"%{NAME} %{VERSION} %{LICENSE}", filepath.Join(releases(t)[0], archiveName("rpm"))).Output()
	require.NoError(t, err)
	require.Equal(t, "lodestone "+testVersion+" Apache-2.0", string(out))
}

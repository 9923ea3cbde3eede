package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Whoever follows docs/release.md checks what was downloaded with the programs that the page names,
// and unpacks it.
func TestTheCommandsOfADownload(t *testing.T) {
	source := releases(t)[0]
	page := string(readFile(t, "../../docs/release.md"))
	block := func(beginning string) string {
		m := regexp.MustCompile("(?s)```sh\n(" + regexp.QuoteMeta(beginning) + ".*?)```").FindStringSubmatch(page)
		require.NotNil(t, m, beginning)
		return strings.ReplaceAll(m[1], "linux-amd64.tar.gz", strings.TrimPrefix(archiveName("tar.gz"), "lodestone-0.1.0-"))
	}
	dir, prefix := t.TempDir(), t.TempDir()
	archive := filepath.Join(dir, archiveName("tar.gz"))
	for _, name := range []string{archiveName("tar.gz"), "lodestone-0.1.0-sha256.txt"} { // not everything is downloaded
		for _, file := range []string{name, name + signature} {
			require.NoError(t, os.WriteFile(filepath.Join(dir, file), readFile(t, filepath.Join(source, file)), 0o600))
		}
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "minisign.pub"), readFile(t, built.public), 0o600))
	run := func(script string) (string, error) {
		cmd := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", script)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "PATH="+filepath.Join(prefix, "bin")+":"+os.Getenv("PATH"))
		out, err := cmd.CombinedOutput()
		return string(out), err
	}

	check := block("minisign -V")
	out, err := run(check)
	require.NoError(t, err, out)
	require.Contains(t, out, "Signature and comment signature verified")
	require.Contains(t, out, archiveName("tar.gz")+": OK")

	unpack, found := strings.CutSuffix(block("sudo tar"), "lodestone up\n") // TestTheArchiveRunsWithoutCompilers does so
	require.True(t, found)
	require.Contains(t, unpack, "/usr/local")
	out, err = run(`sudo() { "$@"; }` + "\n" + strings.ReplaceAll(unpack, "/usr/local", prefix))
	require.NoError(t, err, out)
	require.Contains(t, out, "lodestone 0.1.0\n")
	require.FileExists(t, filepath.Join(prefix, "share/man/man1/lodestone.1"))

	require.NoError(t, os.WriteFile(archive, append(readFile(t, archive), 'x'), 0o600))
	for command := range strings.SplitSeq(strings.TrimSpace(check), "\n") {
		out, err = run(command)
		require.Error(t, err, "%s\n%s", command, out)
	}
}

package doctor

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/crud/file"
	"lodestone/crud/person"
	"lodestone/pkg/objectstore"
)

func stores(t *testing.T, s Stores) *Report {
	t.Helper()
	var r Report
	s.Check(t.Context(), &r)
	return &r
}

// The directory of the log of erasures is one that crud can write, or make, and nothing is left there.
func TestErasureLogOnADisk(t *testing.T) {
	t.Parallel()
	require.Empty(t, stores(t, Stores{}).Findings, "nothing is set")
	dir := t.TempDir()
	revoked := filepath.Join(dir, "revoked")
	require.NoError(t, os.Mkdir(revoked, 0o700))
	r := stores(t, Stores{Erasure: person.Config{Log: dir}})
	require.Zero(t, r.Count(Fail), "%v", r.Findings)
	require.Contains(t, r.Findings[0].Found, "the log of erasures "+dir)
	for _, dir := range []string{dir, revoked} {
		left, err := filepath.Glob(filepath.Join(dir, ".*"))
		require.NoError(t, err)
		require.Empty(t, left)
	}

	missing := filepath.Join(dir, "a", "b")
	r = stores(t, Stores{Erasure: person.Config{Log: missing}})
	require.Contains(t, line(t, r, Warn, "the log of erasures "+missing+" does not exist").Remedy, "mount it")
	require.NoDirExists(t, filepath.Dir(missing))
	text := filepath.Join(dir, "file")
	require.NoError(t, os.WriteFile(text, nil, 0o600))
	for _, log := range []string{text, filepath.Join(text, "a"), "/proc/none/a"} { // root can write everywhere else
		require.Equal(t, 1, stores(t, Stores{Erasure: person.Config{Log: log}}).Count(Fail), log)
	}
}

// Settings of buckets that cannot be used are each named once, without their keys. Buckets themselves are in the tests of cmd/lodestone-lab/bucket.
func TestSettingsOfStores(t *testing.T) {
	t.Parallel()
	s3 := objectstore.Config{Endpoint: "http://" + gone(t), AccessKey: "hunter1", SecretKey: "hunter2", Region: "eu-central-1"}
	s := Stores{Files: file.Config{Store: "s3://documents/files", S3: s3}, Erasure: person.Config{Log: "s3://documents/erasures"}}
	r := stores(t, s)
	for _, name := range []string{"the bucket of files s3://documents/files", "the log of erasures s3://documents/erasures"} {
		f := line(t, r, Fail, "bucket: "+name+": the store does not answer")
		require.Contains(t, f.Remedy, "--file-s3-endpoint")
		require.NotContains(t, f.Found, "hunter")
	}
	s.Erasure.Log = ""
	line(t, stores(t, s), Fail, "bucket: the log of erasures s3://documents/files/erasures: the store does not answer")

	s.Erasure.Log, s.Files.S3.SecretKey = "s3://documents/erasures", ""
	r = stores(t, s)
	line(t, r, Fail, "settings: --file-s3-secret-key (LODESTONE_FILE_S3_SECRET_KEY)")
	require.Len(t, r.Findings, 1)
	line(t, stores(t, Stores{Erasure: person.Config{Log: "s3://user@documents"}}), Fail, "settings: --erasure-log (LODESTONE_ERASURE_LOG) is not an address of a bucket")
}

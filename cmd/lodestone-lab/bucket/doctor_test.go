package bucket_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/versity/versitygw/auth"

	"lodestone/cmd/lodestone/doctor"
	"lodestone/crud/file"
	"lodestone/crud/person"
	"lodestone/pkg/certificate/certificatetest"
	"lodestone/pkg/objectstore"
)

// examine returns what the doctor finds, and fails unless it has so many failures.
func examine(t *testing.T, s doctor.Stores, fails int) []doctor.Finding {
	t.Helper()
	var r doctor.Report
	s.Check(t.Context(), &r)
	require.Equal(t, fails, r.Count(doctor.Fail), "%v", r.Findings)
	return r.Findings
}

// serveUser runs an S3 server with a bucket named documents, and a key that may do only what the bucket's policy says.
func serveUser(t *testing.T, access string) (address, dir string) {
	t.Helper()
	accounts := newAccounts(t)
	require.NoError(t, accounts.CreateAccount(auth.Account{Access: access, Secret: "secret-of-" + access, Role: auth.RoleUser}))
	address, dir, _ = serveAccounts(t, "documents", region, accounts)
	return address, dir
}

// objects returns the names of what a directory of the store has in a bucket, also what is hidden.
func objects(t *testing.T, dir string) (names []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			names = append(names, path)
		}
		return err
	}))
	return names
}

// The doctor writes, reads, lists and removes an object, and says what is wrong without the keys.
func TestDoctorExaminesBuckets(t *testing.T) {
	address, dir := serveUser(t, "reader")
	well := doctor.Stores{
		Files:   file.Config{Store: "s3://documents/files", S3: objectstore.Config{Endpoint: address, Region: region, AccessKey: accessKey, SecretKey: secretKey}},
		Erasure: person.Config{Log: "s3://documents/log"},
	}
	found := examine(t, well, 0)
	require.Equal(t, []doctor.Finding{
		{Status: doctor.OK, Area: "bucket", Found: "the bucket of files s3://documents/files takes, returns, lists and removes an object"},
		{Status: doctor.OK, Area: "bucket", Found: "the log of erasures s3://documents/log takes, returns, lists and removes an object"},
	}, found)
	require.Empty(t, objects(t, dir))
	s := well
	s.Erasure.Log = ""
	require.Contains(t, examine(t, s, 0)[1].Found, "s3://documents/files/erasures takes")
	require.Empty(t, objects(t, dir))

	s = well
	s.Files.S3.Endpoint = "https://" + certificatetest.Proxy(t, strings.TrimPrefix(address, "http://"), certificatetest.NewAuthority(t).Issue("store"))
	require.Contains(t, examine(t, s, 2)[0].Found, "SSL_CERT_FILE")

	for _, c := range []struct {
		change        func(s *doctor.Stores)
		fails         int
		found, remedy string
	}{
		{func(s *doctor.Stores) { s.Files.S3.SecretKey = "hunter2" }, 2, "the store does not accept the keys (SignatureDoesNotMatch)", "--file-s3-secret-key"},
		{func(s *doctor.Stores) { s.Files.S3.AccessKey = "hunter2" }, 2, "the store does not accept the keys (InvalidAccessKeyId)", "--file-s3-access-key"},
		{func(s *doctor.Stores) { s.Files.Store = "s3://nowhere/files" }, 1, "the bucket nowhere does not exist", "name another one in --file-store"},
		{func(s *doctor.Stores) { s.Files.S3.AccessKey, s.Files.S3.SecretKey = "reader", "secret-of-reader" }, 2, "the keys may not write in s3://documents/files/", "s3:PutObject"},
		{func(s *doctor.Stores) { s.Files.S3.Region = "us-east-1" }, 2, "the bucket documents is in another region", "--file-s3-region"},
	} {
		s := well
		c.change(&s)
		f := examine(t, s, c.fails)[0]
		require.Contains(t, f.Found, c.found)
		require.Contains(t, f.Remedy, c.remedy)
		require.NotContains(t, f.Found+f.Remedy, "hunter2")
		require.NotContains(t, f.Found+f.Remedy, "secret-of-")
	}
	require.Empty(t, objects(t, dir))
}

// A key that may write and not remove is enough for the log of erasures, not for files. What stays is named.
func TestDoctorNamesWhatItCannotRemove(t *testing.T) {
	address, dir := serveUser(t, "writer")
	admin := objectstore.Config{Endpoint: address, Region: region, AccessKey: accessKey, SecretKey: secretKey}
	client, err := admin.Open()
	require.NoError(t, err)
	policy := func(actions string) {
		t.Helper()
		require.NoError(t, client.SetBucketPolicy(t.Context(), "documents", `{"Statement":[{"Effect":"Allow","Principal":{"AWS":["writer"]},"Action":[`+actions+`],"Resource":["arn:aws:s3:::documents","arn:aws:s3:::documents/*"]}]}`))
	}
	s := doctor.Stores{
		Files:   file.Config{Store: "s3://documents/files", S3: objectstore.Config{Endpoint: address, Region: region, AccessKey: "writer", SecretKey: "secret-of-writer"}},
		Erasure: person.Config{Log: "s3://documents/log"},
	}
	policy(`"s3:PutObject","s3:GetObject","s3:ListBucket"`)
	found := examine(t, s, 1)
	require.Len(t, found, 2)
	for i, status := range []doctor.Status{doctor.Fail, doctor.Warn} {
		require.Equal(t, status, found[i].Status, "%v", found)
		require.Contains(t, found[i].Found, "the keys may not remove in s3://documents/")
		require.Contains(t, found[i].Remedy, "s3:DeleteObject")
	}
	left := objects(t, dir)
	require.Len(t, left, 2)
	for _, path := range left {
		name, err := filepath.Rel(dir, path)
		require.NoError(t, err)
		require.Contains(t, found[0].Found+found[1].Found, "s3://documents/"+name+" stays")
		require.NoError(t, os.Remove(path))
	}

	policy(`"s3:PutObject","s3:DeleteObject"`)
	found = examine(t, s, 3)
	require.Contains(t, found[0].Found, "the keys may not read in s3://documents/files/")
	require.Equal(t, doctor.Warn, found[1].Status, "%v", found)
	require.Contains(t, found[1].Found, "the keys may not list in s3://documents/files/")
	require.Contains(t, found[3].Found, "the keys may not list in s3://documents/log/")
	require.Empty(t, objects(t, dir))
}

// A bucket that keeps old versions has none of the doctor's object, unless the key may not remove them.
func TestDoctorRemovesVersions(t *testing.T) {
	address, dir := serveUser(t, "writer")
	old := filepath.Join(dir, "..", "..", versions)
	s := doctor.Stores{Files: file.Config{Store: "s3://documents/files", S3: objectstore.Config{Endpoint: address, Region: region, AccessKey: accessKey, SecretKey: secretKey}}}
	s.Erasure.Log = t.TempDir()
	client, err := s.Files.S3.Open()
	require.NoError(t, err)
	require.NoError(t, client.EnableVersioning(t.Context(), "documents"))
	require.Equal(t, doctor.OK, examine(t, s, 0)[0].Status)
	require.Empty(t, objects(t, dir))
	require.Empty(t, objects(t, old))

	require.NoError(t, client.SetBucketPolicy(t.Context(), "documents", `{"Statement":[{"Effect":"Allow","Principal":{"AWS":["writer"]},
		"Action":["s3:PutObject","s3:GetObject","s3:DeleteObject","s3:ListBucket","s3:ListBucketVersions"],"Resource":["arn:aws:s3:::documents","arn:aws:s3:::documents/*"]}]}`))
	s.Files.S3.AccessKey, s.Files.S3.SecretKey = "writer", "secret-of-writer"
	found := examine(t, s, 0)[0]
	require.Equal(t, doctor.Warn, found.Status, "%v", found)
	require.Contains(t, found.Found, "the keys may not remove versions in s3://documents/files/")
	require.Contains(t, found.Remedy, "s3:DeleteObjectVersion")
	require.NotEmpty(t, objects(t, old))
}

package main

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/client"
	"lodestone/pkg/test/clienttest"
	"lodestone/pkg/test/enginetest"
)

// The drill of docs/backup.md, under load: an installation is backed up twice while events arrive.
// More events arrive, a person is erased, and both databases are destroyed. Restored from the
// second backup, it answers with every event that was ever acknowledged, once. The person stays
// erased, and links stay revoked. What was delivered is not delivered again, and new mails wait
// until the operator resumes.
func TestBackupDrill(t *testing.T) {
	t.Parallel()
	place := filepath.Join(t.TempDir(), "backups")
	u := newUp(t)
	u.more = []string{"--no-sample", "--sql-emails", "--erasure-interval", "1s"}
	u.start()
	api := client.New(client.Config{URL: u.env["LODESTONE_URL"], Key: u.env["LODESTONE_API_KEY"]})
	c := clienttest.New(client.Config{URL: u.env["LODESTONE_URL"], Key: u.env["LODESTONE_API_KEY"]})
	owner := func() asker { return asker{u.env["LODESTONE_URL"], u.env["LODESTONE_API_KEY"]} }
	var delivered atomic.Int64
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		delivered.Add(1)
	}))
	t.Cleanup(receiver.Close)
	owner().must(t, "POST", "/api/v1/webhooks", `{"url":"`+receiver.URL+`","kinds":["form.submitted"]}`)
	m := u.newGuide("Guide")
	form, err := c.CreateGenericLink(t.Context(), client.NewGenericLink{LeadMagnetID: m.ID})
	require.NoError(t, err)
	v := visitor{t, &http.Client{Timeout: time.Minute}}
	v.submit(form.URL, url.Values{"email": {"eve@example.com"}})
	v.submit(form.URL, url.Values{"email": {"bob@example.com"}})
	require.Eventually(t, func() bool { return delivered.Load() == 2 && u.mails() >= 2 }, enginetest.Timeout, interval)
	revoked, err := c.CreateAccessLinks(t.Context(), m.ID,
		clienttest.NewAccessLinks{Emails: []string{"rob@example.com", "roy@example.com"}})
	require.NoError(t, err)
	requireFilled := u.grow(c)
	l := newLoad(t, api, u.env["LODESTONE_COLLECTOR_URL"])
	l.start(2)
	l.awaitAcked(500)
	started := time.Now()
	note := func(what string) { // docs/bench/drills has the log of a run
		t.Helper()
		t.Logf("after %s, %d events acknowledged: %s", time.Since(started).Round(100*time.Millisecond), l.acked.Load(), what)
	}
	note("the installation runs")

	data := filepath.Join(u.dir, "data")
	succeeds := func(args ...string) string {
		t.Helper()
		p := launch(t, u.dir, nil, args...)
		began := time.Now()
		require.Zero(t, p.wait(), p.out.String())
		t.Logf("%v took %s and printed:\n%s", args, time.Since(began).Round(time.Millisecond), p.out)
		return p.out.String()
	}
	require.Contains(t, succeeds("backup", place), "token keys")
	l.awaitAcked(500)
	succeeds("backup", place)
	require.Equal(t, 3, strings.Count(succeeds("backup", "list", place), "\n"), "a heading and two backups")
	succeeds("backup", "check", place)

	l.awaitAcked(500)
	owner().must(t, "POST", "/api/v1/people/erase", `{"email":"eve@example.com"}`)
	owner().must(t, "PATCH", "/api/v1/access-links/"+revoked[0].ID, `{"is_active":false}`)
	require.NoError(t, c.DeleteAccessLink(t.Context(), revoked[1].ID))
	require.Eventually(t, func() bool {
		entries, err := filepath.Glob(filepath.Join(u.dir, "data", "erasures", "revoked", "*.json"))
		require.NoError(t, err)
		found := 0
		for _, path := range entries {
			content, err := os.ReadFile(path)
			require.NoError(t, err)
			found += strings.Count(string(content), revoked[0].ID) + strings.Count(string(content), revoked[1].ID)
		}
		return found == 2
	}, enginetest.Timeout, interval)
	note("a person is erased, a link is switched off and one deleted")
	u.kill() // clients try again until it is back
	mails := u.mails()
	for _, dir := range []string{"postgres", "clickhouse"} {
		require.NoError(t, os.RemoveAll(filepath.Join(data, dir)))
	}
	note("everything is killed, and both databases are gone")

	printed := succeeds("restore", place, "--data", data)
	require.Contains(t, printed, "lodestone restore resume")
	require.Contains(t, printed, "erasures since the backup, repeated: 1\n")
	p := launch(t, u.dir, nil, "restore", place, "--data", data)
	require.NotZero(t, p.wait())
	require.Contains(t, p.out.String(), "needs empty engines")
	began := time.Now()
	u.start()
	note("lodestone up serves, " + time.Since(began).Round(time.Millisecond).String() + " after its start")
	l.awaitAcked(500)
	l.stop()
	requireFilled()
	l.requireAnswered(u.env["LODESTONE_URL"], u.env["LODESTONE_API_KEY"])
	note("the API answers with every one of them, once")
	answer := u.command("verify")
	require.Zero(t, answer.code, answer.out)
	note("lodestone verify printed:\n" + answer.out)
	require.Eventually(t, func() bool { return u.command("verify", "--person", "eve@example.com").code == 0 },
		enginetest.Timeout, time.Second)
	note("lodestone verify --person finds nothing of the person")
	require.Equal(t, false, owner().must(t, "GET", "/api/v1/access-links/"+revoked[0].ID, "")["is_active"])
	status, _, _ := owner().send(t, "GET", "/api/v1/access-links/"+revoked[1].ID, "")
	require.Equal(t, http.StatusNotFound, status)
	require.Len(t, owner().must(t, "POST", "/api/v1/people/export", `{"email":"bob@example.com"}`)["submissions"], 1)

	// Nothing leaves before the operator resumes; then only what is new.
	v.submit(form.URL, url.Values{"email": {"new@example.com"}})
	require.Equal(t, mails, u.mails())
	require.EqualValues(t, 2, delivered.Load())
	answer = u.command("restore", "resume")
	require.Zero(t, answer.code, answer.out)
	require.Eventually(t, func() bool { return delivered.Load() == 3 }, enginetest.Timeout, interval)
	require.NotEmpty(t, u.mailTo("new@example.com", ""))
	require.Equal(t, 1, u.command("restore", "resume").code)
	note("revoked links stay revoked; mails and webhooks waited for lodestone restore resume")
	u.interrupt(enginetest.Timeout)
}

// A place in a bucket has the settings of the store: each command uses them, and says what is wrong
// with them.
func TestBackupsOfABucketUseTheSettingsOfTheStore(t *testing.T) {
	t.Parallel()
	gone := net.JoinHostPort("127.0.0.1", strconv.Itoa(enginetest.FreePort(t)))
	env := []string{
		"LODESTONE_POSTGRES_URL=postgres://u:secret@" + gone + "/x",
		"LODESTONE_CLICKHOUSE_URL=clickhouse://u:secret@" + gone + "/lodestone",
		"LODESTONE_KAFKA_BROKERS=" + gone, "LODESTONE_S3_REGION=x", "LODESTONE_S3_ACCESS_KEY=a",
		"LODESTONE_S3_SECRET_KEY=secret",
	}
	for _, command := range []string{"backup create", "backup list", "backup check", "restore run"} {
		args := append(strings.Fields(command), "s3://backups/lodestone")
		p := launch(t, t.TempDir(), append(env, "LODESTONE_S3_ENDPOINT=http://"+gone), args...)
		require.Equal(t, exitFailed, p.wait(), "%s: %s", command, p.out)
		require.Contains(t, p.out.String(), "connect", command)
		p = launch(t, t.TempDir(), append(env, "LODESTONE_S3_ENDPOINT=host:9000"), args...)
		require.Equal(t, exitSettings, p.wait(), "%s: %s", command, p.out)
		require.Contains(t, p.out.String(), "--s3-endpoint (LODESTONE_S3_ENDPOINT) cannot be used", command)
	}
}

// mails counts the mails in the mailbox.
func (u *up) mails() (n int) {
	entries, err := os.ReadDir(filepath.Join(u.dir, "data", "mailbox"))
	require.NoError(u.t, err)
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") {
			n++
		}
	}
	return n
}

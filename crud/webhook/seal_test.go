package webhook_test

import (
	"encoding/base64"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/token"
)

// secrets returns the secrets' table as a dump has it.
func (r *rig) secrets() string {
	r.t.Helper()
	var dump strings.Builder
	conn, err := r.db.Unscoped().Acquire(r.t.Context())
	require.NoError(r.t, err)
	defer conn.Release()
	_, err = conn.Conn().PgConn().CopyTo(r.t.Context(), &dump, "COPY webhook_secrets TO STDOUT")
	require.NoError(r.t, err)
	return dump.String()
}

func hexOf(t *testing.T, secret string) string {
	t.Helper()
	b, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	require.NoError(t, err)
	return hex.EncodeToString(b)
}

// Postgres does not have the secrets that sign.
func TestSecretsAreSealed(t *testing.T) {
	t.Parallel()
	r := newQuietRig(t)
	to := newReceiver(t, nil)
	id, secret := r.create(to.url)
	require.NotContains(t, r.secrets(), hexOf(t, secret))
	require.Equal(t, "delivered", r.must("POST", "/"+id+"/test", "")["state"])
	to.next(t).verify(t, secret)
}

// dump returns what a dump has of webhooks and their messages.
func (r *rig) dump() string {
	r.t.Helper()
	var dump strings.Builder
	conn, err := r.db.Unscoped().Acquire(r.t.Context())
	require.NoError(r.t, err)
	defer conn.Release()
	for _, table := range []string{"webhook_endpoints", "webhook_deliveries"} {
		_, err = conn.Conn().PgConn().CopyTo(r.t.Context(), &dump, "COPY "+table+" TO STDOUT")
		require.NoError(r.t, err)
	}
	return dump.String()
}

// A URL may be a secret: Postgres has its host, and neither its path nor its query, of the webhook
// and of each attempt. The owner sees the whole.
func TestURLsAreSealed(t *testing.T) {
	t.Parallel()
	r := newQuietRig(t)
	to := newReceiver(t, nil)
	whole := to.url + "/T0SECRETPATH?token=s3cretquery"
	id, secret := r.create(whole)
	read := func() {
		require.Equal(t, "delivered", r.must("POST", "/"+id+"/test", "")["state"])
		to.next(t).verify(t, secret)
		require.Equal(t, whole, r.must("GET", "/"+id, "")["url"])
		require.Equal(t, whole,
			attempt(r.must("GET", "/"+id+"/deliveries", "")["data"].([]any)[0].(map[string]any), 0)["url"])
	}
	hidden := func() {
		require.NotContains(t, r.dump(), "T0SECRETPATH")
		require.NotContains(t, r.dump(), "s3cretquery")
		require.Contains(t, r.dump(), "127.0.0.1")
	}
	read()
	hidden()
	whole += "2"
	r.must("PATCH", "/"+id, `{"url":"`+whole+`"}`)
	hidden()
	read()
}

// Webhooks sign with the same secrets when the token keys change, also once the key that sealed
// them is gone.
func TestSecretsOutliveTokenKeys(t *testing.T) {
	t.Parallel()
	r := newQuietRig(t)
	to := newReceiver(t, nil)
	first, second := token.NewKeys(1).Keys, token.NewKeys(2).Keys
	r.tokens = ring(t, first)
	r.serve(r.more(settings()))
	id, secret := r.create(to.url)

	r.tokens = ring(t, second, first)
	changed := r.more(settings())
	r.serve(changed)
	require.Equal(t, "delivered", r.must("POST", "/"+id+"/test", "")["state"])
	to.next(t).verify(t, secret)
	before := r.secrets()
	require.NoError(t, changed.Seal(t.Context()))
	require.NotEqual(t, before, r.secrets())

	r.tokens = ring(t, second)
	r.serve(r.more(settings()))
	require.Equal(t, "delivered", r.must("POST", "/"+id+"/test", "")["state"])
	to.next(t).verify(t, secret)

	// Without any key that opens them nothing is sent, and both logs say what to do; a new secret and
	// the URL repair it.
	r.tokens = ring(t, token.NewKeys(3).Keys)
	lost := r.more(settings())
	r.serve(lost)
	stop := r.deliver(lost)
	out := r.must("POST", "/"+id+"/test", "")
	require.Equal(t, "failed", out["state"])
	require.Equal(t, "Its secret cannot be read by this installation: make a new one with rotate-secret.",
		attempt(out, 0)["error"])
	require.Contains(t, r.log.String(), "add the token key that sealed it")
	require.Empty(t, to.got)
	fresh := r.must("POST", "/"+id+"/rotate-secret?keep_previous_hours=0", "")["secret"].(string)
	out = r.must("POST", "/"+id+"/test", "")
	require.Equal(t, "Its URL cannot be read by this installation: set it again.", attempt(out, 0)["error"])
	require.NotContains(t, r.must("GET", "/"+id, "")["url"], "hook", "the hint is shown")
	r.must("PATCH", "/"+id, `{"url":"`+to.url+`"}`)
	require.Equal(t, "delivered", r.must("POST", "/"+id+"/test", "")["state"])
	to.next(t).verify(t, fresh)
	stop()
}

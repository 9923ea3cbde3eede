package main

import (
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/test/enginetest"
)

// processes are those of one installation, by themselves.
type processes struct {
	t   *testing.T
	dir string
	env []string
}

func freeAddress(t *testing.T) string {
	t.Helper()
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(enginetest.FreePort(t)))
}

// run waits for a command that ends, and returns what it prints.
func (p processes) run(args ...string) string {
	p.t.Helper()
	c := launch(p.t, p.dir, p.env, args...)
	require.Zero(p.t, c.wait(), "%s", c.out)
	return strings.TrimSpace(c.out.String())
}

// key makes an account with a key.
func (p processes) key() string {
	p.t.Helper()
	account := p.run("account", "create", "--name", "Test", "--plan", "team")
	_, key, found := strings.Cut(p.run("key", "create", "--account", account), "key: ")
	require.True(p.t, found)
	return key
}

// unhurried are time-outs of every process that tests start: an engine of a busy machine answers
// late, which is no fault.
var unhurried = []string{"LODESTONE_COLLECTOR_ACK_TIMEOUT=50s", "LODESTONE_COLLECTOR_WRITE_TIMEOUT=60s",
	"LODESTONE_QUERY_TIMEOUT=50s"}

// serve starts a process and waits until it is ready.
func (p processes) serve(command string, more ...string) *program {
	p.t.Helper()
	admin := freeAddress(p.t)
	c := launch(p.t, p.dir, slices.Concat(unhurried, p.env, []string{"LODESTONE_ADMIN_LISTEN=" + admin}, more), command)
	require.Eventually(p.t, func() bool {
		status, _ := get(p.t, "http://"+admin+"/readyz", "")
		return status == http.StatusOK
	}, enginetest.Timeout, interval, "%s does not get ready: %s", command, c.out)
	c.admin = admin
	return c
}

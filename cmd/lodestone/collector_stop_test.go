package main

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/test/enginetest"
)

// Balancers that have not looked at /readyz yet still send requests, over connections that they
// keep.
func TestACollectorThatStopsIsUnreadyFirstAndStillServes(t *testing.T) {
	t.Parallel()
	s := newStation(t)
	s.kafka()
	p := s.collector("LODESTONE_DRAIN_DELAY=10m")
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport, Timeout: enginetest.Timeout}
	ask := func() (last bool) {
		t.Helper()
		body := strings.NewReader(`{"token":"` + s.token + `","event_type":"page_viewed"}`)
		res, err := client.Post("http://"+s.events+"/v1/events", "application/json", body)
		require.NoError(t, err)
		_, err = io.Copy(io.Discard, res.Body)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		require.Equal(t, http.StatusAccepted, res.StatusCode)
		return res.Close
	}
	require.False(t, ask())
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
	require.Contains(t, s.ready(false), "the process is stopping")
	for range 3 { // over the connection that was kept, and over new ones
		require.True(t, ask(), "the client goes on over this connection")
	}
}

// The volume of a collector that is scaled in may never be mounted again. What Kafka takes before
// the end need not be sent by hand.
func TestACollectorThatStopsSendsItsSpool(t *testing.T) {
	t.Parallel()
	s := newStation(t)
	p := s.collector("LODESTONE_SPOOL_AFTER=300ms", "LODESTONE_SPOOL_SEND_TIMEOUT=10m")
	ids := newIDs(50)
	got, err := s.post(10, ids...)
	require.NoError(t, err)
	require.Equal(t, http.StatusAccepted, got.status, got.text)
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGTERM))
	s.await("the listener is closed", func() bool {
		return strings.Contains(p.out.String(), "msg=stopped component=collector service=collector")
	})
	s.kafka()
	require.Zero(t, p.wait(), "%s", p.out)
	require.Contains(t, p.out.String(), "the spool is empty")
	rows, events := s.stored()
	require.EqualValues(t, len(ids), rows)
	require.EqualValues(t, len(ids), events)
}

// A pod is gone, and only its volume is left: another process sends what is on it, from wherever it
// is mounted.
func TestTheSpoolOfACollectorThatIsGoneIsSent(t *testing.T) {
	t.Parallel()
	s := newStation(t)
	p := s.collector("LODESTONE_SPOOL_AFTER=300ms")
	ids := newIDs(50)
	got, err := s.post(10, ids...)
	require.NoError(t, err)
	require.Equal(t, http.StatusAccepted, got.status, got.text)
	p.kill()
	volume := filepath.Join(t.TempDir(), "volume")
	require.NoError(t, os.Rename(filepath.Join(s.dir, "spool"), volume))
	s.kafka()
	send := launch(t, t.TempDir(), s.environment(), "spool", "send", "--spool-dir", volume)
	require.Zero(t, send.wait(), "%s", send.out)
	rows, events := s.stored()
	require.EqualValues(t, len(ids), rows)
	require.EqualValues(t, len(ids), events)
}

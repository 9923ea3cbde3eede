package main

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// ready waits until /readyz says so, or says that the process is not ready.
func (s *station) ready(want bool) string {
	s.t.Helper()
	var text string
	s.await("ready", func() bool {
		var status int
		status, text = get(s.t, "http://"+s.admin+"/readyz", "")
		return (status == http.StatusOK) == want
	})
	return text
}

// A collector that would answer 503 to everything leaves the balancer, and comes back when it can
// keep events again.
func TestACollectorThatCanKeepNothingIsNotReady(t *testing.T) {
	t.Parallel()
	t.Run("a spool that cannot be written", func(t *testing.T) {
		t.Parallel()
		s := newStation(t)
		cluster := s.kafka()
		s.collector()
		spool, elsewhere := filepath.Join(s.dir, "spool"), filepath.Join(s.dir, "elsewhere")
		require.NoError(t, os.Rename(spool, elsewhere))
		s.ready(true) // Kafka is there
		cluster.Close()
		require.Contains(t, s.ready(false), "the spool cannot be written")
		require.NoError(t, os.Rename(elsewhere, spool))
		s.ready(true)
		require.NoError(t, os.Rename(spool, elsewhere))
		s.ready(false)
		s.kafka()
		s.ready(true)
	})
	t.Run("a spool that is full", func(t *testing.T) {
		t.Parallel()
		s := newStation(t)
		s.collector("LODESTONE_SPOOL_AFTER=300ms", "LODESTONE_SPOOL_MAX_BYTES=4194304",
			"LODESTONE_SPOOL_SEGMENT_BYTES=1048576")
		for _, events := range []int{400, 20} { // large requests, then small ones for the remaining space
			for {
				got, err := s.post(1500, newIDs(events)...)
				require.NoError(t, err)
				if got.status == http.StatusServiceUnavailable {
					break
				}
				require.Equal(t, http.StatusAccepted, got.status, got.text)
			}
		}
		require.Contains(t, s.ready(false), "the spool is full")
		s.kafka()
		s.ready(true)
	})
	t.Run("a spool with space, and no events", func(t *testing.T) {
		t.Parallel()
		s := newStation(t)
		cluster := s.kafka()
		s.collector()
		says := func(failing float64, text string) {
			t.Helper()
			s.await("readiness says how Kafka is", func() bool {
				return strings.Contains(s.ready(true), text) &&
					metric(t, s.admin, `lodestone_check_failing{check="kafka"}`) == failing
			})
		}
		says(0, `"kafka":"ok"`)
		cluster.Close()
		says(1, `"kafka":"degraded: `)
		s.kafka()
		says(0, `"kafka":"ok"`)
	})
	t.Run("no spool", func(t *testing.T) {
		t.Parallel()
		s := newStation(t)
		cluster := s.kafka()
		s.collector("LODESTONE_SPOOL_DIR=")
		cluster.Close()
		s.ready(false)
		s.kafka()
		s.ready(true)
	})
}

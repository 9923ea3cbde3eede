package collector_test

import (
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lodestone/ingest/collector"
	"lodestone/pkg/config"
)

// A process that has run out of file descriptors does not end: the connection waits, and is
// answered when one is free. It does not run beside other tests, since the limit is that of the
// process.
func TestRunningOutOfDescriptorsEndsNothing(t *testing.T) {
	s := newStack(t)
	first, reader := s.dial(t,
		sized("POST", "/v1/events", "Content-Type: application/json\r\nConnection: close\r\n", s.event()))
	require.Equal(t, 202, status(t, reader))
	_, err := reader.ReadByte()
	require.ErrorIs(t, err, io.EOF) // the collector has closed it, so its descriptor does not become free below
	require.NoError(t, first.Close())

	var before syscall.Rlimit
	require.NoError(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &before))
	restored := false
	restore := func() {
		if !restored {
			restored = true
			require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &before))
		}
	}
	t.Cleanup(restore)
	client := exhaust(t, s.Addr().String(), before)
	require.Eventually(t, func() bool { return s.metric(t, "lodestone_collector_accept_failures_total") > 0 },
		waitLimit, time.Millisecond)
	require.Eventually(t, func() bool { return strings.Contains(s.log.String(), "cannot accept connections") },
		waitLimit, time.Millisecond)
	select {
	case err := <-s.Failed():
		require.Fail(t, "the collector ended", "%v", err)
	default:
	}

	restore()
	body := s.event()
	_, err = io.WriteString(client,
		"POST /v1/events HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nConnection: close\r\n"+
			"Content-Length: "+strconv.Itoa(len(body))+"\r\n\r\n"+body)
	require.NoError(t, err)
	text, err := io.ReadAll(client)
	require.NoError(t, err)
	require.Contains(t, string(text), "HTTP/1.1 202")
}

// exhaust connects to an address with the last file descriptor that the process may have.
func exhaust(t *testing.T, address string, limit syscall.Rlimit) net.Conn {
	t.Helper()
	lowest, err := os.Open(os.DevNull) // no descriptor below this one is free
	require.NoError(t, err)
	limit.Cur = uint64(lowest.Fd()) + 1
	require.NoError(t, syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit))
	for { // take those that have become free meanwhile
		f, err := os.Open(os.DevNull)
		if err != nil {
			require.ErrorIs(t, err, syscall.EMFILE)
			break
		}
		t.Cleanup(func() { _ = f.Close() })
	}
	require.NoError(t, lowest.Close())
	client, err := net.Dial("tcp", address)
	require.NoError(t, err)
	t.Cleanup(func() { _ = client.Close() })
	return client
}

func TestConnectionsFitTheLimitOfOpenFiles(t *testing.T) {
	t.Parallel()
	c := collectorConfig()
	c.MaxConnections = 65536
	for files, want := range map[uint64]int{1 << 20: 65536, 65536 + 512: 65536, 65536: 65536 - 512,
		4096: 4096 - 512, 576: 64} {
		got, err := collector.ConnectionsWithin(c, files)
		require.NoError(t, err)
		require.Equal(t, want, got, files)
	}
	_, err := collector.ConnectionsWithin(c, 256)
	require.True(t, config.IsInvalid(err))
	require.True(t, strings.Contains(err.Error(), "--collector-max-connections") &&
		strings.Contains(err.Error(), "ulimit -n"), err)
}

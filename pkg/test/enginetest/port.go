package enginetest

import (
	"net"
	"strconv"
	"sync"
	"testing"
)

// Ports that tests choose for their processes lie below the ephemeral ports of the system and below
// those of the engines: no other process takes one between the choice and its use, nor during a
// restart. Each test process owns blocks of ports; it claims a block by listening on its first
// port.
const (
	firstBlock = 10_000
	lastBlock  = 19_800
	blockSize  = 200
)

// block is package-wide for the same reason as shared.
var block struct {
	mu   sync.Mutex
	held []net.Listener // for as long as the process lives
	next int            // the first port of a block: all of the one before are given out
}

// FreePort returns a port of the loopback for a process that the test starts, and may restart
// there. Each port is returned once.
func FreePort(t testing.TB) int {
	t.Helper()
	block.mu.Lock()
	defer block.mu.Unlock()
	for {
		if block.next%blockSize == 0 {
			takeBlock(t)
		}
		port := block.next
		block.next++
		l, err := listen(port)
		if err != nil {
			continue // it is another program's
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		return port
	}
}

// takeBlock claims the next block that no test process holds.
func takeBlock(t testing.TB) {
	t.Helper()
	for first := firstBlock; first <= lastBlock; first += blockSize {
		if l, err := listen(first); err == nil {
			block.held, block.next = append(block.held, l), first+1
			return
		}
	}
	t.Fatalf("no block of ports from %d to %d is free", firstBlock, lastBlock)
}

func listen(port int) (net.Listener, error) {
	return net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port))) //nolint:noctx // a numeric address: nothing to wait for
}

package enginetest

import (
	"net"
	"strconv"
	"sync"
	"testing"
)

// Ports that tests choose for processes they start lie below those that the system gives to whoever asks
// for any, and below those of the engines: between the choice and its use nobody takes one. Each test process
// has a block of its own, which it holds by listening on the first port of it.
const (
	firstBlock = 10_000
	lastBlock  = 19_800
	blockSize  = 200
)

// block is package-wide for the same reason as shared.
var block struct {
	mu   sync.Mutex
	held net.Listener // for as long as the process lives
	next int
}

// FreePort returns a port of the loopback for a process that the test starts, and that may be started again
// there. It is given out once.
func FreePort(t testing.TB) int {
	t.Helper()
	block.mu.Lock()
	defer block.mu.Unlock()
	for first := firstBlock; block.held == nil; first += blockSize {
		if first > lastBlock {
			t.Fatalf("no block of ports from %d to %d is free", firstBlock, lastBlock)
		}
		if l, err := listen(first); err == nil {
			block.held, block.next = l, first+1
		}
	}
	for block.next%blockSize != 0 {
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
	t.Fatalf("all of the %d ports are given out", blockSize-1)
	return 0
}

func listen(port int) (net.Listener, error) {
	return net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port))) //nolint:noctx // a numeric address: nothing to wait for
}

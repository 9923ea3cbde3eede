package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// loopback is the only address that embedded engines listen on.
const loopback = "127.0.0.1"

func address(port int) string { return net.JoinHostPort(loopback, strconv.Itoa(port)) }

// portsFile stores an engine's ports for later starts, so that addresses that were copied elsewhere
// stay valid.
const portsFile = "ports.json"

// Limits of the wait for the port of the last start: a process that was killed holds it until the
// system has ended all its threads.
const (
	portWait = 3 * time.Second
	portPoll = 20 * time.Millisecond
)

// awaitFree reports whether a port is free, or becomes so soon.
func awaitFree(port int) bool {
	for begin := time.Now(); !free(port); <-time.After(portPoll) {
		if time.Since(begin) > portWait {
			return false
		}
	}
	return true
}

// choosePorts picks a free port for each name: the one used last time in dir, else the preferred
// one, else any. 0 means no preference.
func choosePorts(dir string, preferred map[string]int) (map[string]int, error) {
	last, err := readPorts(dir)
	if err != nil {
		return nil, err
	}
	chosen := make(map[string]int, len(preferred))
	taken := map[int]bool{}
	for name, want := range preferred {
		port := 0
		for _, p := range []int{last[name], want} {
			if p > 0 && port == 0 && !taken[p] && (free(p) || p == last[name] && awaitFree(p)) {
				port = p
			}
		}
		for port == 0 || taken[port] {
			if port, err = FreePort(); err != nil {
				return nil, err
			}
		}
		chosen[name], taken[port] = port, true
	}
	text, err := json.Marshal(chosen)
	if err != nil {
		return nil, err
	}
	if err := writeFile(filepath.Join(dir, portsFile), text); err != nil {
		return nil, fmt.Errorf("remember the ports: %w", explainFile(err))
	}
	return chosen, nil
}

func readPorts(dir string) (map[string]int, error) {
	text, err := os.ReadFile(filepath.Join(dir, portsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the last ports: %w", err)
	}
	var last map[string]int
	if json.Unmarshal(text, &last) != nil {
		return nil, nil //nolint:nilerr // torn by a crash, and no more than a preference
	}
	return last, nil
}

// Ports below those that the system hands out to outgoing connections, so that a child that is
// started again on its port does not find a connection there.
const (
	firstPort = 20000
	lastPort  = 32000
)

// Ports hands out ports of the loopback, in turn from a random one on, so that a process gets none
// twice before it is in use, and two processes seldom get the same. It is safe for concurrent use.
type Ports struct {
	first, last uint32
	from        uint32
	given       atomic.Uint32
}

// NewPorts returns those from the first to the last.
func NewPorts(first, last uint32) *Ports {
	return &Ports{first: first, last: last, from: rand.Uint32N(last - first + 1)}
}

// Free returns a port without a listener that it has not returned lately.
func (p *Ports) Free() (int, error) {
	for range 100 {
		port := int(p.first + (p.from+p.given.Add(1))%(p.last-p.first+1))
		l, err := net.Listen("tcp", address(port)) //nolint:noctx // a numeric address: nothing to wait for
		if errors.Is(err, syscall.EADDRINUSE) {
			continue
		}
		if err != nil {
			return 0, fmt.Errorf("look for a free port: %w", err)
		}
		return port, l.Close()
	}
	return 0, fmt.Errorf("no free port found between %d and %d on %s", p.first, p.last, loopback)
}

// enginePorts is global: all engines of a process share its ports.
var enginePorts = NewPorts(firstPort, lastPort)

// FreePort returns a port from those of engines. Another process may get the same port before it is
// in use; enginetest excludes that among tests.
func FreePort() (int, error) { return enginePorts.Free() }

func free(port int) bool {
	l, err := net.Listen("tcp", address(port)) //nolint:noctx // a numeric address: nothing to wait for
	if err != nil {
		return false
	}
	return l.Close() == nil
}

// isPortTaken reports whether a start failed because another process took the port after it was
// chosen.
func isPortTaken(err error) bool {
	return err != nil && strings.Contains(strings.ToLower(err.Error()), "address already in use")
}

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
)

// loopback is the only address that embedded engines listen on.
const loopback = "127.0.0.1"

func address(port int) string { return net.JoinHostPort(loopback, strconv.Itoa(port)) }

// portsFile remembers an engine's ports from one start to the next, so that what others wrote
// down stays right.
const portsFile = "ports.json"

// choosePorts picks a free port for each name: the one used last time in dir, else the preferred
// one, else any. A preferred port of 0 has no preference.
func choosePorts(dir string, preferred map[string]int) (map[string]int, error) {
	last, err := readPorts(dir)
	if err != nil {
		return nil, err
	}
	chosen := make(map[string]int, len(preferred))
	for name, want := range preferred {
		for _, port := range []int{last[name], want} {
			if port > 0 && chosen[name] == 0 && free(port) {
				chosen[name] = port
			}
		}
		if chosen[name] == 0 {
			if chosen[name], err = anyPort(); err != nil {
				return nil, err
			}
		}
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

func anyPort() (int, error) {
	for range 100 {
		if port := firstPort + rand.IntN(lastPort-firstPort); free(port) {
			return port, nil
		}
	}
	return 0, fmt.Errorf("no free port found between %d and %d on %s", firstPort, lastPort, loopback)
}

func free(port int) bool {
	l, err := net.Listen("tcp", address(port)) //nolint:noctx // a numeric address: nothing to wait for
	if err != nil {
		return false
	}
	return l.Close() == nil
}

// isPortTaken reports whether a start failed because somebody took the port after it was chosen.
func isPortTaken(err error) bool {
	return err != nil && strings.Contains(strings.ToLower(err.Error()), "address already in use")
}

// Package probe looks at processes of Lodestone from outside: at their admin addresses, and in
// /proc.
package probe

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/procfs"

	"lodestone/pkg/engine"
	"lodestone/pkg/service"
)

// client keeps no connection: processes are killed and started again.
var client = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 5 * time.Second}

func ask(ctx context.Context, admin, path string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+admin+path, http.NoBody)
	if err != nil {
		return nil, err
	}
	resp, err := client.Do(req)
	if err == nil && resp.StatusCode != http.StatusOK {
		_ = resp.Body.Close()
		return nil, fmt.Errorf("%s answers %s", path, resp.Status)
	}
	return resp, err
}

// FreeAddress returns an address of this machine that nothing listens on, and that the system gives
// to no outgoing connection.
func FreeAddress() (string, error) {
	port, err := engine.FreePort()
	if err != nil {
		return "", err
	}
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), nil
}

// Ready returns an error unless the process at an admin address can do its work.
func Ready(ctx context.Context, admin string) error {
	resp, err := ask(ctx, admin, "/readyz")
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

// Metric returns the value of a metric, by its name and labels, 0 if the process has no such
// metric.
func Metric(ctx context.Context, admin, name string) (int64, error) {
	resp, err := ask(ctx, admin, "/metrics")
	if err != nil {
		return 0, err
	}
	defer func() { _ = resp.Body.Close() }()
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		if value, ok := strings.CutPrefix(lines.Text(), name+" "); ok {
			n, err := strconv.ParseFloat(value, 64)
			return int64(n), err
		}
	}
	return 0, lines.Err()
}

// Listens returns an error unless connections to an address are accepted.
func Listens(ctx context.Context, address string) error {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	return conn.Close()
}

// Until repeats a look, every so often, until it returns no error, or returns its error when the
// time is over.
func Until(ctx context.Context, within, every time.Duration, what string, look func() error) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	for {
		err := look()
		if err == nil {
			return nil
		}
		if service.Sleep(ctx, every) != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
	}
}

// Descriptors returns how many files and connections a process has open, 0 if it is not known.
func Descriptors(pid int) int {
	p, err := procfs.NewProc(pid)
	if err != nil {
		return 0
	}
	n, err := p.FileDescriptorsLen()
	if err != nil {
		return 0
	}
	return n
}

// Resident returns the resident memory of a process in bytes, 0 if it is not known.
func Resident(pid int) uint64 {
	p, err := procfs.NewProc(pid)
	if err != nil {
		return 0
	}
	s, err := p.NewStatus()
	if err != nil {
		return 0
	}
	return s.VmRSS
}

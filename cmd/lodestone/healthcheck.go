package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

type healthcheckCommand struct {
	Admin adminConfig `embed:""`
}

// Run asks /readyz and fails unless the answer is that the process is ready.
func (c *healthcheckCommand) Run(ctx context.Context) (err error) {
	if err := validate(c.Admin); err != nil {
		return err
	}
	host, port, err := net.SplitHostPort(c.Admin.Listen)
	if err != nil {
		return err
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1" // it listens on every address, so on this one, too
	}
	ctx, cancel := context.WithTimeout(ctx, 4*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.Admin.TLS.Scheme()+"://"+net.JoinHostPort(host,
		port)+"/readyz", http.NoBody)
	if err != nil {
		return err
	}
	// As the probes of container platforms: it asks a process of the same container, whose certificate
	// has names for others, and tells it nothing.
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}} //nolint:gosec // because it trusts nothing that the answer says beyond the state
	resp, err := client.Do(req)
	if err != nil {
		return fmt.Errorf("ask the process: %w", err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 4096))
	if err != nil {
		return fmt.Errorf("ask the process: %w", err)
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("not ready: %s", strings.TrimSpace(string(body)))
	}
	return nil
}

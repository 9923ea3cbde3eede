package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"lodestone/pkg/engine/child"
	"lodestone/pkg/engine/install"
	"lodestone/pkg/engine/launcher"
)

// The users of the embedded ClickHouse: our own with all rights, and the data team's, which reads
// the database "analytics" and nothing else.
const (
	clickhouseUser    = "lodestone"
	clickhouseAnalyst = "analyst"
	// AnalyticsDatabase is what the analyst may read. The migrations make it.
	AnalyticsDatabase = "analytics"
)

// ClickHouseOptions say how to run a ClickHouse server.
type ClickHouseOptions struct {
	Runtime
	// Dir holds configuration, passwords, log and data.
	Dir string
	// TCPPort and HTTPPort are taken if they are free; 0 means any.
	TCPPort, HTTPPort int
	// MemoryBytes is what the server may use. Default: a quarter of the machine's memory, at
	// least 1 GiB and at most 4 GiB.
	MemoryBytes int64
	// Launcher is the program lodestone-clickhouse. Default: beside this program, else on the PATH.
	Launcher string
	// Installer brings the server. Required.
	Installer *install.Installer
}

// ClickHouse is an embedded ClickHouse server; it implements service.Service. The addresses are
// known after Start.
type ClickHouse struct {
	supervised
	o         ClickHouseOptions
	ports     map[string]int
	passwords map[string]string
	client    *http.Client
}

// NewClickHouse returns a server that is not started yet.
func NewClickHouse(o ClickHouseOptions) *ClickHouse {
	return &ClickHouse{o: o, client: &http.Client{Transport: &http.Transport{DisableKeepAlives: true, Proxy: nil}}}
}

// URL is the native address of our own user, with its password and the database "lodestone",
// which the migrations make.
func (c *ClickHouse) URL() string {
	return (&url.URL{Scheme: "clickhouse", User: c.user(clickhouseUser), Host: address(c.ports["tcp"]), Path: "/lodestone"}).String()
}

// HTTPURL is the HTTP address of our own user, with its password.
func (c *ClickHouse) HTTPURL() string {
	return (&url.URL{Scheme: "http", User: c.user(clickhouseUser), Host: address(c.ports["http"])}).String()
}

// SQLURL is the HTTP address of the analyst, who can only read the database "analytics".
func (c *ClickHouse) SQLURL() string {
	return (&url.URL{Scheme: "http", User: c.user(clickhouseAnalyst), Host: address(c.ports["http"]), Path: "/", RawQuery: "database=" + AnalyticsDatabase}).String()
}

func (c *ClickHouse) user(name string) *url.Userinfo {
	return url.UserPassword(name, c.passwords[name])
}

// Start implements service.Service. It installs the server if need be.
func (c *ClickHouse) Start(ctx context.Context) error {
	if err := c.start(ctx); err != nil {
		return fmt.Errorf("start ClickHouse: %w", err)
	}
	return nil
}

func (c *ClickHouse) start(ctx context.Context) error {
	server, err := c.o.Installer.ClickHouse(ctx)
	if err != nil {
		return err
	}
	program, err := c.program(server)
	if err != nil {
		return err
	}
	dir, err := filepath.Abs(c.o.Dir)
	if err != nil {
		return err
	}
	c.o.Dir = dir
	lock, err := lockDir(dir, 0o700)
	if err != nil {
		return err
	}
	if c.passwords, err = passwords(dir, clickhouseUser, clickhouseAnalyst); err != nil {
		return errors.Join(err, lock.Unlock())
	}
	return c.startOnPorts(lock, func() (*child.Process, error) {
		c.ports, err = choosePorts(dir, map[string]int{"tcp": c.o.TCPPort, "http": c.o.HTTPPort})
		if err != nil {
			return nil, err
		}
		if err := c.configure(); err != nil {
			return nil, explainFile(err)
		}
		p := child.New(child.Spec{
			Name:        "clickhouse",
			Dir:         dir,
			Command:     program,
			Probe:       c.probe,
			Explain:     remedyFor,
			DeathSignal: syscall.SIGKILL, // acknowledged rows survive it
			Stop:        []child.Step{{Signal: c.stopSignal(server), Wait: 1500 * time.Millisecond}},
			Log:         c.o.Log,
			Observe:     c.o.Observe,
		})
		return p, p.Start(ctx)
	})
}

// stopSignal is how the server is asked to end: the library by the end of its input.
func (c *ClickHouse) stopSignal(server install.ClickHouse) syscall.Signal {
	if server.Library != "" {
		return 0
	}
	return syscall.SIGTERM
}

func (c *ClickHouse) program(server install.ClickHouse) (func() *exec.Cmd, error) {
	if server.Library == "" {
		return func() *exec.Cmd {
			return c.in(exec.Command(server.Server, "server", "--config-file="+c.path("config.xml")))
		}, nil
	}
	launch := c.o.Launcher
	if launch == "" {
		var err error
		if launch, err = findLauncher(); err != nil {
			return nil, err
		}
	}
	return func() *exec.Cmd {
		cmd := c.in(exec.Command(launch, "--config-file="+c.path("config.xml"), "--log-level=error"))
		cmd.Env = append(os.Environ(), launcher.LibraryVariable+"="+server.Library, "TERM=dumb")
		return cmd
	}, nil
}

func (c *ClickHouse) in(cmd *exec.Cmd) *exec.Cmd {
	cmd.Dir = c.o.Dir
	return cmd
}

func (c *ClickHouse) path(name string) string { return filepath.Join(c.o.Dir, name) }

// launcherName is the program that runs the library; it is built beside lodestone.
const launcherName = "lodestone-clickhouse"

func findLauncher() (string, error) {
	self, err := os.Executable()
	if err == nil {
		if real, err := filepath.EvalSymlinks(self); err == nil {
			self = real
		}
		path := filepath.Join(filepath.Dir(self), launcherName)
		if _, err := os.Stat(path); err == nil {
			return path, nil
		}
	}
	path, err := exec.LookPath(launcherName)
	if err != nil {
		return "", fmt.Errorf("the program %s is neither beside %s nor on the PATH: build it with `make build`", launcherName, self)
	}
	return filepath.Abs(path)
}

// probe asks for a ping and then for an answer under our own user: with a wrong configuration the
// server may run, and even end with status 0, without serving.
func (c *ClickHouse) probe(ctx context.Context) error {
	if text, err := c.get(ctx, "http://"+address(c.ports["http"])+"/ping"); err != nil || text != "Ok." {
		return fmt.Errorf("ping: %q: %w", text, cmpErr(err))
	}
	if text, err := c.get(ctx, c.HTTPURL()+"/?query=SELECT+1"); err != nil || text != "1" {
		return fmt.Errorf("select 1: %q: %w", text, cmpErr(err))
	}
	return nil
}

func cmpErr(err error) error {
	if err == nil {
		return errors.New("not the answer of our server")
	}
	return err
}

func (c *ClickHouse) get(ctx context.Context, address string) (string, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return "", err
	}
	response, err := c.client.Do(request)
	if err != nil {
		var u *url.Error // its text holds the password
		if errors.As(err, &u) {
			err = u.Err
		}
		return "", err
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(response.Body, 1024))
	return strings.TrimSpace(string(text)), err
}

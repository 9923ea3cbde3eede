package engine

import (
	"context"
	"errors"
	"fmt"
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
)

// The users of the embedded ClickHouse: Lodestone's own with all rights, and the data team's, which
// reads the database "analytics" and nothing else.
const (
	clickhouseUser    = "lodestone"
	clickhouseAnalyst = "analyst"
	// AnalyticsDatabase is the database that the analyst may read. The migrations create it.
	AnalyticsDatabase = "analytics"
)

// ClickHouseConfig configure a ClickHouse server.
type ClickHouseConfig struct {
	Runtime
	// Dir holds configuration, passwords, log and data.
	Dir string
	// TCPPort and HTTPPort are taken if they are free; 0 means any.
	TCPPort, HTTPPort int
	// MemoryBytes limits the server's memory. Default: that of the profile for small machines, with
	// which the process stays within 2 GiB.
	MemoryBytes int64
	// Launcher is the program lodestone-clickhouse. Default: beside this program, else on the PATH.
	Launcher string
	// Installer provides the server. Required.
	Installer *install.Installer
	// Cluster has the native addresses of the servers of a cluster, one for each shard, this one
	// among them. They all take the password of Lodestone's user in their directories. Default: no
	// cluster.
	Cluster []string
	// Backups is the directory where the server may write backups. Default: backups in Dir.
	Backups string
}

// ClickHouse is an embedded ClickHouse server; it implements service.Service. The addresses are
// known after Start.
type ClickHouse struct {
	childEngine
	config    ClickHouseConfig
	ports     map[string]int
	passwords map[string]string
	library   bool          // the server is the library, in which keywords are removed
	hangAfter time.Duration // 0: the supervisor's default
	client    *http.Client
}

// NewClickHouse returns a server that is not started yet.
func NewClickHouse(c ClickHouseConfig) *ClickHouse {
	return &ClickHouse{config: c, client: &http.Client{Transport: &http.Transport{DisableKeepAlives: true, Proxy: nil}}}
}

// URL returns the native address of Lodestone's own user, with its password and the database
// "lodestone", which the migrations create.
func (c *ClickHouse) URL() string {
	return (&url.URL{Scheme: "clickhouse", User: c.user(clickhouseUser), Host: address(c.ports["tcp"]),
		Path: "/lodestone"}).String()
}

// HTTPURL returns the HTTP address of Lodestone's own user, with its password.
func (c *ClickHouse) HTTPURL() string {
	return (&url.URL{Scheme: "http", User: c.user(clickhouseUser), Host: address(c.ports["http"])}).String()
}

// SQLURL returns the HTTP address of the analyst, who can only read the database "analytics".
func (c *ClickHouse) SQLURL() string {
	return (&url.URL{Scheme: "http", User: c.user(clickhouseAnalyst), Host: address(c.ports["http"]), Path: "/",
		RawQuery: "database=" + AnalyticsDatabase}).String()
}

func (c *ClickHouse) user(name string) *url.Userinfo {
	return url.UserPassword(name, c.passwords[name])
}

// Start implements service.Service. It installs the server if necessary.
func (c *ClickHouse) Start(ctx context.Context) error {
	server, lock, err := c.prepare(ctx)
	if err != nil {
		return fmt.Errorf("start ClickHouse: %w", err)
	}
	return c.startOnPorts(lock, func() (*child.Process, error) { return c.launch(ctx, server) })
}

// prepare finds the server to run and takes the directory.
func (c *ClickHouse) prepare(ctx context.Context) (server install.ClickHouse, lock *dirLock, err error) {
	if server, err = c.config.Installer.ClickHouse(ctx); err != nil {
		return server, nil, err
	}
	c.library = server.Library != ""
	if c.library && c.config.Launcher == "" {
		if c.config.Launcher, err = findLauncher(); err != nil {
			return server, nil, err
		}
	}
	if c.config.Dir, err = filepath.Abs(c.config.Dir); err != nil {
		return server, nil, err
	}
	if lock, err = lockDir(c.config.Dir, 0o700); err != nil {
		return server, nil, err
	}
	if c.passwords, err = passwords(c.config.Dir, clickhouseUser, clickhouseAnalyst); err != nil {
		return server, nil, errors.Join(err, lock.Unlock())
	}
	return server, lock, nil
}

func (c *ClickHouse) launch(ctx context.Context, server install.ClickHouse) (_ *child.Process, err error) {
	if err := child.StopStale(ctx, c.config.Dir, "clickhouse", c.config.Log); err != nil {
		return nil, err
	}
	c.ports, err = choosePorts(c.config.Dir, map[string]int{"tcp": c.config.TCPPort, "http": c.config.HTTPPort})
	if err != nil {
		return nil, err
	}
	if err := c.configure(); err != nil {
		return nil, fmt.Errorf("configure ClickHouse: %w", explainFile(err))
	}
	p := child.New(child.Spec{
		Name:        "clickhouse",
		Dir:         c.config.Dir,
		Command:     func() *exec.Cmd { return c.command(server) },
		Probe:       c.probe,
		Explain:     remedyFor,
		Hopeless:    func(output string) bool { return isPortTaken(errors.New(output)) },
		Passing:     func(output string) bool { return strings.Contains(output, directoryLocked) },
		DeathSignal: syscall.SIGKILL, // acknowledged rows survive it
		Stop:        []child.Step{{Signal: stopSignal(server), Wait: 1500 * time.Millisecond}},
		// A library of half a gigabyte loads slowly from a cold and busy disk.
		StartTimeout: 2 * time.Minute,
		HangAfter:    c.hangAfter,
		Log:          c.config.Log,
		Observe:      c.config.Observe,
	})
	return p, p.Start(ctx)
}

// stopSignal asks the server to end; the library ends at the end of its input.
func stopSignal(server install.ClickHouse) syscall.Signal {
	if server.Library != "" {
		return 0
	}
	return syscall.SIGTERM
}

func (c *ClickHouse) command(server install.ClickHouse) *exec.Cmd {
	cmd := exec.Command(server.Server, "server", "--config-file="+c.path("config.xml"))
	cmd.Env = c.config.childEnvironment()
	if server.Library != "" {
		cmd = exec.Command(c.config.Launcher, "--config-file="+c.path("config.xml"), "--log-level=error")
		cmd.Env = append(c.config.childEnvironment(), LauncherLibrary+"="+server.Library, "TERM=dumb",
			"HOME="+c.config.Dir) // its console keeps a history, and would read a user's client settings
	}
	cmd.Dir = c.config.Dir
	return cmd
}

func (c *ClickHouse) path(name string) string { return filepath.Join(c.config.Dir, name) }

// launcherName is the program that runs the library; it is built beside lodestone.
const launcherName = "lodestone-clickhouse"

// LauncherLibrary is the environment variable in which the launcher finds the library's file.
const LauncherLibrary = "LODESTONE_CLICKHOUSE_LIBRARY"

func findLauncher() (string, error) {
	self, err := os.Executable()
	if err == nil {
		if target, err := filepath.EvalSymlinks(self); err == nil {
			self = target
		}
		path := filepath.Join(filepath.Dir(self), launcherName)
		if _, err := os.Stat(path); err == nil {
			return path, nil
		}
	}
	path, err := exec.LookPath(launcherName)
	if err != nil {
		return "", fmt.Errorf("the program %s is neither beside %s nor on the PATH: build it with `make build`", launcherName,
			self)
	}
	return filepath.Abs(path)
}

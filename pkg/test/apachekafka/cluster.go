// Package apachekafka runs the real Apache Kafka for tests and for the lab, on free ports, in child
// processes. `lodestone up` has an embedded broker instead.
package apachekafka

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"golang.org/x/sync/errgroup"

	"lodestone/pkg/engine"
	"lodestone/pkg/engine/install"
)

// Config selects the cluster.
type Config struct {
	engine.Runtime
	// Dir holds configuration, logs and data.
	Dir string
	// Nodes are brokers and controllers at once: 1 (the default) or 3.
	Nodes int
	// HeapMB is each node's Java heap. Default 512.
	HeapMB int
	// AsShipped starts nodes with the heap and the Java options of Kafka's own start scripts, instead
	// of those for a fast start and little memory: with these, collections of the small heap pause for
	// 5 ms five times a second under load.
	AsShipped bool
	// Listeners are additional addresses of every node, for tests that put a proxy in between.
	Listeners []Listener
	// Between names the listener by which the nodes reach each other as brokers. Default: their own
	// address.
	Between string
	// Installer provides the jars. Required.
	Installer *install.Installer
}

// Listener is an additional address of every node. Clients that connect there get the addresses
// that Advertise returns, and use no others.
type Listener struct {
	// Name is a word in capitals.
	Name string
	// Advertise returns the address to advertise for a node, counted from 1, that listens on the given
	// address. It is called for every node at each start, before any runs, and again for all if
	// another process took a port meanwhile; the last result counts.
	Advertise func(node int, listening string) (string, error)
	// Protocol is how clients connect, such as SASL_SSL. Default: PLAINTEXT.
	Protocol string
	// Properties are the listener's own settings, without its name.
	Properties map[string]string
}

// Cluster is an Apache Kafka of one or three nodes; it implements service.Service. With three
// nodes, topics have three replicas, and two must acknowledge. A node that dies is started again.
type Cluster struct {
	config   Config
	programs install.ApacheKafka

	mu      sync.Mutex
	ports   map[string]int // by what they are for; later starts use them again
	nodes   []*node
	failed  chan error
	stopped chan struct{}
	watches sync.WaitGroup
}

// New returns a cluster that is not started yet.
func New(c Config) *Cluster {
	c.Nodes, c.HeapMB = cmp.Or(c.Nodes, 1), cmp.Or(c.HeapMB, 512)
	return &Cluster{config: c, failed: make(chan error, c.Nodes)}
}

// Brokers returns the addresses of all nodes. They stay the same when a node or the cluster is
// restarted.
func (k *Cluster) Brokers() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	all := make([]string, len(k.nodes))
	for i, n := range k.nodes {
		all[i] = n.broker
	}
	return all
}

// PID returns the process id of a node, counted from 1; 0 while it does not run.
func (k *Cluster) PID(node int) int {
	k.mu.Lock()
	defer k.mu.Unlock()
	if node < 1 || node > len(k.nodes) || k.nodes[node-1].process == nil {
		return 0
	}
	return k.nodes[node-1].process.PID()
}

// Failed implements service.Service.
func (k *Cluster) Failed() <-chan error { return k.failed }

// portAttempts bounds the starts on other ports.
const portAttempts = 5

// Start implements service.Service. It installs the jars if necessary.
func (k *Cluster) Start(ctx context.Context) (err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.programs, err = k.config.Installer.ApacheKafka(ctx); err != nil {
		return fmt.Errorf("start Apache Kafka: %w", err)
	}
	if k.config.Dir, err = filepath.Abs(k.config.Dir); err != nil {
		return fmt.Errorf("start Apache Kafka: %w", err)
	}
	if err := os.MkdirAll(k.config.Dir, 0o700); err != nil {
		return fmt.Errorf("start Apache Kafka: %w", err)
	}
	for attempt := 1; ; attempt++ {
		err := k.start(ctx)
		if err == nil {
			break
		}
		err = errors.Join(fmt.Errorf("start Apache Kafka: %w", err), k.stop(context.WithoutCancel(ctx)))
		if attempt == portAttempts || ctx.Err() != nil || !k.lostPort() {
			return err
		}
		k.ports = nil
		k.config.Log.Warn("another process took a port of Apache Kafka, will try others", "error", err)
	}
	k.stopped = make(chan struct{})
	for _, n := range k.nodes {
		failed, stopped := n.process.Failed(), k.stopped
		k.watches.Go(func() {
			select {
			case err := <-failed:
				k.failed <- fmt.Errorf("%s: %w", n.name(), err)
			case <-stopped:
			}
		})
	}
	return nil
}

// lostPort reports whether another process has a port that was chosen for a node. No node runs
// then: a node binds its port seconds after the choice.
func (k *Cluster) lostPort() bool {
	for _, port := range k.ports {
		l, err := net.Listen("tcp", address(port)) //nolint:noctx // a numeric address: nothing to wait for
		if err != nil || l.Close() != nil {
			return true
		}
	}
	return false
}

func (k *Cluster) start(ctx context.Context) error {
	k.nodes = nil
	if err := k.choosePorts(); err != nil {
		return err
	}
	for id := 1; id <= k.config.Nodes; id++ {
		n, err := k.node(id)
		if err != nil {
			return err
		}
		k.nodes = append(k.nodes, n)
	}
	group, bounded := errgroup.WithContext(ctx)
	for _, n := range k.nodes {
		group.Go(func() error { return k.startNode(bounded, n) })
	}
	return group.Wait()
}

// choosePorts picks a port for each listener of each node, unless a start before this one did.
func (k *Cluster) choosePorts() (err error) {
	if k.ports != nil {
		return nil
	}
	names := []string{"broker", "controller"}
	for _, l := range k.config.Listeners {
		names = append(names, l.Name)
	}
	ports := map[string]int{}
	for id := 1; id <= k.config.Nodes; id++ {
		for _, name := range names {
			if ports[name+strconv.Itoa(id)], err = engine.FreePort(); err != nil {
				return fmt.Errorf("choose ports: %w", err)
			}
		}
	}
	k.ports = ports
	return nil
}

func address(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

// Stop implements service.Service. The cluster can be started again on its data.
func (k *Cluster) Stop(ctx context.Context) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.stop(ctx)
}

func (k *Cluster) stop(ctx context.Context) error {
	if k.stopped != nil {
		close(k.stopped)
		k.watches.Wait()
		k.stopped = nil
	}
	var group errgroup.Group
	for _, n := range k.nodes {
		if n.process != nil {
			group.Go(func() error { return n.process.Stop(ctx) })
		}
	}
	return group.Wait()
}

package engine

import (
	"bytes"
	"cmp"
	"context"
	_ "embed" // the template
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"text/template"
	"time"

	"github.com/gofrs/flock"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"golang.org/x/sync/errgroup"

	"lodestone/pkg/engine/child"
	"lodestone/pkg/engine/install"
)

//go:embed apache_kafka.properties
var kafkaProperties string

// ApacheKafkaOptions say how to run Apache Kafka.
type ApacheKafkaOptions struct {
	Runtime
	// Dir holds configuration, logs and data.
	Dir string
	// Nodes are brokers and controllers at once: 1 (the default) or 3.
	Nodes int
	// HeapMB is each node's Java heap. Default 512.
	HeapMB int
	// Listeners are further addresses of every node, for tests that put a proxy between.
	Listeners []KafkaListener
	// Between names the listener by which the nodes reach each other as brokers. Default: their
	// own address.
	Between string
	// Installer brings the jars. Required.
	Installer *install.Installer
}

// KafkaListener is a further address of every node. Clients that connect there are told the
// addresses that Advertise names, and use no others.
type KafkaListener struct {
	// Name is a word in capitals.
	Name string
	// Advertise returns the address to tell clients for a node, counted from 1, that listens on
	// the given one. It is called once a node and start, before the node runs.
	Advertise func(node int, listening string) (string, error)
}

// ApacheKafka is the real Apache Kafka, on free ports, in child processes; it implements
// service.Service. Tests and benchmarks hold Lodestone against it; `lodestone up` does not use it.
// With three nodes, topics have three replicas of which two must acknowledge.
type ApacheKafka struct {
	o        ApacheKafkaOptions
	programs install.ApacheKafka

	mu    sync.Mutex
	lock  *flock.Flock
	nodes []*kafkaNode
	watch *watch
}

type kafkaNode struct {
	id                 int
	dir                string
	broker, controller int
	more               []kafkaAddress
	process            *child.Process
}

// kafkaAddress is where a node listens besides its own address, and what it tells of that.
type kafkaAddress struct {
	Name, Listening, Advertised string
}

// NewApacheKafka returns a cluster that is not started yet.
func NewApacheKafka(o ApacheKafkaOptions) *ApacheKafka {
	if o.Nodes == 0 {
		o.Nodes = 1
	}
	if o.HeapMB == 0 {
		o.HeapMB = 512
	}
	return &ApacheKafka{o: o}
}

// Brokers are the addresses of all nodes. They stay the same when a node is started again.
func (k *ApacheKafka) Brokers() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	all := make([]string, len(k.nodes))
	for i, n := range k.nodes {
		all[i] = address(n.broker)
	}
	return all
}

// PID is the process number of a node, counted from 1; 0 while it does not run.
func (k *ApacheKafka) PID(node int) int {
	k.mu.Lock()
	defer k.mu.Unlock()
	if node < 1 || node > len(k.nodes) || k.nodes[node-1].process == nil {
		return 0
	}
	return k.nodes[node-1].process.PID()
}

// Start implements service.Service. It installs the jars if need be.
func (k *ApacheKafka) Start(ctx context.Context) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := k.start(ctx); err != nil {
		return errors.Join(fmt.Errorf("start Apache Kafka: %w", err), k.stop(context.WithoutCancel(ctx)))
	}
	parts := make([]part, len(k.nodes))
	for i, n := range k.nodes {
		parts[i] = part{n.name(), n.process}
	}
	k.watch = watchAll(parts)
	return nil
}

func (k *ApacheKafka) start(ctx context.Context) (err error) {
	if k.programs, err = k.o.Installer.ApacheKafka(ctx); err != nil {
		return err
	}
	if k.o.Dir, err = filepath.Abs(k.o.Dir); err != nil {
		return err
	}
	if k.lock, err = lockDir(k.o.Dir, 0o700); err != nil {
		return err
	}
	want := map[string]int{}
	for id := 1; id <= k.o.Nodes; id++ {
		want["broker"+strconv.Itoa(id)], want["controller"+strconv.Itoa(id)] = 0, 0
		for _, l := range k.o.Listeners {
			want[l.Name+strconv.Itoa(id)] = 0
		}
	}
	ports, err := choosePorts(k.o.Dir, want)
	if err != nil {
		return err
	}
	k.nodes = nil
	for id := 1; id <= k.o.Nodes; id++ {
		n := strconv.Itoa(id)
		node := &kafkaNode{id: id, dir: k.o.Dir, broker: ports["broker"+n], controller: ports["controller"+n]}
		for _, l := range k.o.Listeners {
			listening := address(ports[l.Name+n])
			advertised, err := l.Advertise(id, listening)
			if err != nil {
				return fmt.Errorf("advertise listener %s of node %d: %w", l.Name, id, err)
			}
			node.more = append(node.more, kafkaAddress{l.Name, listening, advertised})
		}
		k.nodes = append(k.nodes, node)
	}
	group, bounded := errgroup.WithContext(ctx)
	for _, n := range k.nodes {
		group.Go(func() error { return k.startNode(bounded, n) })
	}
	return group.Wait()
}

func (n *kafkaNode) name() string             { return "kafka" + strconv.Itoa(n.id) }
func (n *kafkaNode) configFile() string       { return filepath.Join(n.dir, n.name()+".properties") }
func (n *kafkaNode) dataDir() string          { return filepath.Join(n.dir, n.name()) }
func (n *kafkaNode) voter() string            { return fmt.Sprintf("%d@%s", n.id, address(n.controller)) }
func (n *kafkaNode) addresses() (a, b string) { return address(n.broker), address(n.controller) }
func (k *ApacheKafka) java(args ...string) []string {
	// The simple collector and compiler start sooner and need less memory than the defaults.
	return append([]string{
		"-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto", "-Djava.awt.headless=true",
		"-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-cp", filepath.Join(k.programs.Jars, "*"),
	}, args...)
}

func (k *ApacheKafka) startNode(ctx context.Context, n *kafkaNode) error {
	if err := k.configureNode(n); err != nil {
		return err
	}
	// A cluster's id is the same in every node and never changes.
	format := exec.CommandContext(ctx, k.programs.Java, k.java("kafka.tools.StorageTool", "format", "--ignore-formatted",
		"--cluster-id", "4L6g3nShT-eMCtK--X86sw", "--config", n.configFile())...)
	format.Env = k.o.childEnvironment()
	if said, err := format.CombinedOutput(); err != nil {
		return fmt.Errorf("format the log of %s (%w): %s", n.name(), err, said)
	}
	n.process = child.New(child.Spec{
		Name: n.name(),
		Dir:  k.o.Dir,
		Command: func() *exec.Cmd {
			heap := strconv.Itoa(k.o.HeapMB)
			cmd := exec.Command(k.programs.Java, append([]string{"-Xms64m", "-Xmx" + heap + "m"}, k.java("kafka.Kafka", n.configFile())...)...)
			cmd.Env, cmd.Dir = k.o.childEnvironment(), k.o.Dir
			return cmd
		},
		Probe:        func(ctx context.Context) error { return k.probe(ctx, n) },
		Explain:      remedyFor,
		DeathSignal:  syscall.SIGKILL,
		Stop:         []child.Step{{Signal: syscall.SIGTERM, Wait: 5 * time.Second}},
		StartTimeout: 90 * time.Second,
		Log:          k.o.Log,
		Observe:      k.o.Observe,
	})
	return n.process.Start(ctx)
}

func (k *ApacheKafka) configureNode(n *kafkaNode) error {
	var voters []string
	for _, other := range k.nodes {
		voters = append(voters, other.voter())
	}
	broker, controller := n.addresses()
	t, err := template.New("properties").Parse(kafkaProperties)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	err = t.Execute(&b, map[string]any{
		"ID": n.id, "Voters": strings.Join(voters, ","), "Broker": broker, "Controller": controller, "Dir": n.dataDir(),
		"Replicas": k.o.Nodes, "MinInSync": (k.o.Nodes + 2) / 2,
		"More": n.more, "Between": cmp.Or(k.o.Between, "PLAINTEXT"),
	})
	if err != nil {
		return err
	}
	return explainFile(writeFile(n.configFile(), b.Bytes()))
}

// probe asks one node, and no other, whether every broker is in the cluster.
func (k *ApacheKafka) probe(ctx context.Context, n *kafkaNode) error {
	client, err := kgo.NewClient(kgo.SeedBrokers(address(n.broker)), kgo.DialTimeout(time.Second), kgo.RequestRetries(0))
	if err != nil {
		return err
	}
	defer client.Close()
	brokers, err := kadm.NewClient(client).BrokerMetadata(ctx)
	if err != nil {
		return err
	}
	if have := len(brokers.Brokers); have < k.o.Nodes && n.process.PID() == 0 {
		return fmt.Errorf("%d of %d brokers are in the cluster", have, k.o.Nodes)
	}
	return nil
}

// Stop implements service.Service.
func (k *ApacheKafka) Stop(ctx context.Context) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.stop(ctx)
}

func (k *ApacheKafka) stop(ctx context.Context) error {
	if k.lock == nil {
		return nil
	}
	if k.watch != nil {
		k.watch.stop()
		k.watch = nil
	}
	var group errgroup.Group
	for _, n := range k.nodes {
		if n.process != nil {
			group.Go(func() error { return n.process.Stop(ctx) })
		}
	}
	err := errors.Join(group.Wait(), k.lock.Unlock())
	k.lock = nil
	return err
}

// Failed implements service.Service. It is nil before Start.
func (k *ApacheKafka) Failed() <-chan error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.watch == nil {
		return nil
	}
	return k.watch.failed
}

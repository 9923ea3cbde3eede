package engine

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	_ "embed" // the template
	"encoding/base64"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"text/template"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"golang.org/x/sync/errgroup"

	"lodestone/pkg/engine/child"
	"lodestone/pkg/engine/install"
)

//go:embed apache_kafka.properties
var kafkaProperties string

// ApacheKafkaOptions configure Apache Kafka.
type ApacheKafkaOptions struct {
	Runtime
	// Dir holds configuration, logs and data.
	Dir string
	// Nodes are brokers and controllers at once: 1 (the default) or 3.
	Nodes int
	// HeapMB is each node's Java heap. Default 512.
	HeapMB int
	// AsShipped starts nodes with the heap and the Java options of Kafka's own start scripts, instead of those for a
	// fast start and little memory: with these, collections of the small heap pause for 5 ms five times a second under
	// load.
	AsShipped bool
	// Listeners are additional addresses of every node, for tests that put a proxy in between.
	Listeners []KafkaListener
	// Between names the listener by which the nodes reach each other as brokers. Default: their own address.
	Between string
	// Installer provides the jars. Required.
	Installer *install.Installer
}

// KafkaListener is an additional address of every node. Clients that connect there get the addresses that Advertise
// returns, and use no others.
type KafkaListener struct {
	// Name is a word in capitals.
	Name string
	// Advertise returns the address to advertise for a node, counted from 1, that listens on the given address. It is
	// called for every node at each start, before any runs, and again for all if another process took a port meanwhile;
	// the last result counts.
	Advertise func(node int, listening string) (string, error)
}

// ApacheKafka runs the real Apache Kafka, on free ports, in child processes; it implements service.Service. Tests and
// benchmarks compare with it; `lodestone up` does not use it. With three nodes, topics have three replicas of which two
// must acknowledge.
type ApacheKafka struct {
	o        ApacheKafkaOptions
	programs install.ApacheKafka

	mu    sync.Mutex
	lock  *dirLock
	ports map[string]int // by what they are for
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

// kafkaAddress is an additional listener of a node and the address that it advertises.
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

// Brokers returns the addresses of all nodes. They stay the same when a node is restarted.
func (k *ApacheKafka) Brokers() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	all := make([]string, len(k.nodes))
	for i, n := range k.nodes {
		all[i] = address(n.broker)
	}
	return all
}

// PID returns the process id of a node, counted from 1; 0 while it does not run.
func (k *ApacheKafka) PID(node int) int {
	k.mu.Lock()
	defer k.mu.Unlock()
	if node < 1 || node > len(k.nodes) || k.nodes[node-1].process == nil {
		return 0
	}
	return k.nodes[node-1].process.PID()
}

// Start implements service.Service. It installs the jars if necessary.
func (k *ApacheKafka) Start(ctx context.Context) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	for attempt := 1; ; attempt++ {
		err := k.start(ctx)
		if err == nil {
			break
		}
		err = errors.Join(fmt.Errorf("start Apache Kafka: %w", err), k.stop(context.WithoutCancel(ctx)))
		if attempt == portAttempts || ctx.Err() != nil || !isPortTaken(err) && !k.lostPort() {
			return err
		}
		k.o.Log.Warn("another process took a port of Apache Kafka, will try others", "error", err)
	}
	parts := make([]part, len(k.nodes))
	for i, n := range k.nodes {
		parts[i] = part{n.name(), n.process}
	}
	k.watch = watchAll(parts)
	return nil
}

// lostPort reports whether another process has a port that was chosen for a node. No node runs then: a node binds its
// port seconds after the choice.
func (k *ApacheKafka) lostPort() bool {
	for _, port := range k.ports {
		if !free(port) {
			return true
		}
	}
	return false
}

func (k *ApacheKafka) start(ctx context.Context) (err error) {
	k.nodes, k.ports = nil, nil
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
	if k.ports, err = choosePorts(k.o.Dir, want); err != nil {
		return err
	}
	for id := 1; id <= k.o.Nodes; id++ {
		n := strconv.Itoa(id)
		node := &kafkaNode{id: id, dir: k.o.Dir, broker: k.ports["broker"+n], controller: k.ports["controller"+n]}
		for _, l := range k.o.Listeners {
			listening := address(k.ports[l.Name+n])
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

// The serial collector and the simple compiler start sooner and need less memory than the defaults.
var (
	javaSmall = []string{"-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto"}
	// As in bin/kafka-server-start.sh and bin/kafka-run-class.sh of Kafka 4.
	javaShipped = []string{
		"-Xmx1G", "-Xms1G", "-server", "-XX:+UseG1GC", "-XX:MaxGCPauseMillis=20", "-XX:InitiatingHeapOccupancyPercent=35",
		"-XX:+ExplicitGCInvokesConcurrent",
	}
)

// clusterID returns the id of the cluster in a directory: 16 bytes in Kafka's encoding.
func clusterID(dir string) string {
	sum := sha256.Sum256([]byte(dir))
	return base64.RawURLEncoding.EncodeToString(sum[:16])
}

func (k *ApacheKafka) java(options []string, args ...string) []string {
	return append(append(slices.Clip(options),
		"-Djava.awt.headless=true",
		"-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-cp", filepath.Join(k.programs.Jars, "*"),
	), args...)
}

func (k *ApacheKafka) startNode(ctx context.Context, n *kafkaNode) error {
	if err := k.configureNode(n); err != nil {
		return err
	}
	// A cluster's id is the same in every node and never changes. It may begin with a dash, as no argument of its own may.
	format := exec.CommandContext(ctx, k.programs.Java, k.java(javaSmall, "kafka.tools.StorageTool", "format", "--ignore-formatted",
		"--cluster-id="+clusterID(k.o.Dir), "--config", n.configFile())...)
	format.Env = k.o.childEnvironment()
	if output, err := format.CombinedOutput(); err != nil {
		return fmt.Errorf("format the log of %s (%w): %s", n.name(), err, output)
	}
	n.process = child.New(child.Spec{
		Name: n.name(),
		Dir:  k.o.Dir,
		Command: func() *exec.Cmd {
			options := append(slices.Clip(javaSmall), "-Xms64m", "-Xmx"+strconv.Itoa(k.o.HeapMB)+"m")
			if k.o.AsShipped {
				options = javaShipped
			}
			cmd := exec.Command(k.programs.Java, k.java(options, "kafka.Kafka", n.configFile())...)
			cmd.Env, cmd.Dir = k.o.childEnvironment(), k.o.Dir
			return cmd
		},
		Probe:        func(ctx context.Context) error { return k.probe(ctx, n) },
		Explain:      remedyFor,
		DeathSignal:  syscall.SIGKILL,
		Stop:         []child.Step{{Signal: syscall.SIGTERM, Wait: 5 * time.Second}},
		StartTimeout: 5 * time.Minute,
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

// probe asks one node, and no other, whether every broker is in the cluster, at each of its addresses: a node may
// answer at one of them shortly before it finds another one taken, and ends.
func (k *ApacheKafka) probe(ctx context.Context, n *kafkaNode) error {
	for _, l := range n.more {
		if err := k.probeAt(ctx, n, l.Listening); err != nil {
			return err
		}
	}
	return k.probeAt(ctx, n, address(n.broker))
}

func (k *ApacheKafka) probeAt(ctx context.Context, n *kafkaNode, address string) error {
	client, err := kgo.NewClient(kgo.SeedBrokers(address), kgo.DialTimeout(time.Second), kgo.RequestRetries(0))
	if err != nil {
		return err
	}
	defer client.Close()
	brokers, err := kadm.NewClient(client).BrokerMetadata(ctx)
	if err != nil {
		return err
	}
	if brokers.Cluster != clusterID(k.o.Dir) {
		return fmt.Errorf("on %s there is another Kafka", address) // whose port it is until it ends, or this one does
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

package apachekafka

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	_ "embed" // the template
	"encoding/base64"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"text/template"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/pkg/engine/child"
)

//go:embed server.properties
var propertiesText string

var properties = template.Must(
	template.New("properties").Funcs(template.FuncMap{"lower": strings.ToLower}).Parse(propertiesText))

// node is a broker and controller.
type node struct {
	id                 int
	dir                string
	broker, controller string // addresses
	more               []listener
	process            *child.Process
}

const plaintext = "PLAINTEXT"

// listener is an additional address of a node, with the address that it advertises.
type listener struct {
	Name, Listening, Advertised, Protocol string
	Properties                            map[string]string
}

func (k *Cluster) node(id int) (*node, error) {
	at := func(name string) string { return address(k.ports[name+strconv.Itoa(id)]) }
	n := &node{id: id, dir: k.config.Dir, broker: at("broker"), controller: at("controller")}
	for _, l := range k.config.Listeners {
		advertised, err := l.Advertise(id, at(l.Name))
		if err != nil {
			return nil, fmt.Errorf("advertise listener %s of node %d: %w", l.Name, id, err)
		}
		n.more = append(n.more, listener{l.Name, at(l.Name), advertised, cmp.Or(l.Protocol, plaintext), l.Properties})
	}
	return n, nil
}

func (n *node) name() string       { return "kafka" + strconv.Itoa(n.id) }
func (n *node) configFile() string { return filepath.Join(n.dir, n.name()+".properties") }
func (n *node) dataDir() string    { return filepath.Join(n.dir, n.name()) }
func (n *node) voter() string      { return fmt.Sprintf("%d@%s", n.id, n.controller) }

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

func (k *Cluster) java(options []string, args ...string) []string {
	return append(append(slices.Clip(options),
		"-Djava.awt.headless=true",
		"-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-cp", filepath.Join(k.programs.Jars, "*"),
	), args...)
}

func (k *Cluster) startNode(ctx context.Context, n *node) error {
	if err := k.configure(n); err != nil {
		return err
	}
	// A cluster's id is the same in every node and never changes. It may begin with a dash, as no
	// argument of its own may.
	format := exec.CommandContext(ctx, k.programs.Java, k.java(javaSmall, "kafka.tools.StorageTool",
		"format", "--ignore-formatted",
		"--cluster-id="+clusterID(k.config.Dir), "--config", n.configFile())...)
	if output, err := format.CombinedOutput(); err != nil {
		return fmt.Errorf("format the log of %s (%w): %s", n.name(), err, output)
	}
	n.process = child.New(child.Spec{
		Name: n.name(),
		Dir:  k.config.Dir,
		Command: func() *exec.Cmd {
			options := append(slices.Clip(javaSmall), "-Xms64m", "-Xmx"+strconv.Itoa(k.config.HeapMB)+"m")
			if k.config.AsShipped {
				options = javaShipped
			}
			cmd := exec.Command(k.programs.Java, k.java(options, "kafka.Kafka", n.configFile())...)
			cmd.Dir, cmd.Env = k.config.Dir, append(os.Environ(), k.config.Environment...)
			return cmd
		},
		Probe:        func(ctx context.Context) error { return k.probe(ctx, n) },
		DeathSignal:  syscall.SIGKILL,
		Stop:         []child.Step{{Signal: syscall.SIGTERM, Wait: 5 * time.Second}},
		StartTimeout: 5 * time.Minute,
		Log:          k.config.Log,
		Observe:      k.config.Observe,
	})
	return n.process.Start(ctx)
}

func (k *Cluster) configure(n *node) error {
	var voters []string
	for _, other := range k.nodes {
		voters = append(voters, other.voter())
	}
	var text bytes.Buffer
	err := properties.Execute(&text, map[string]any{
		"ID": n.id, "Voters": strings.Join(voters, ","), "Broker": n.broker, "Controller": n.controller, "Dir": n.dataDir(),
		"Replicas": k.config.Nodes, "MinInSync": (k.config.Nodes + 2) / 2,
		"More": n.more, "Between": cmp.Or(k.config.Between, plaintext),
	})
	if err != nil {
		return fmt.Errorf("write the settings of %s: %w", n.name(), err)
	}
	if err := os.WriteFile(n.configFile(), text.Bytes(), 0o600); err != nil {
		return fmt.Errorf("write the settings of %s: %w", n.name(), err)
	}
	return nil
}

// probe asks one node, and no other, whether every broker is in the cluster, at each of its
// addresses: a node may answer at one of them shortly before it finds another one taken, and ends.
func (k *Cluster) probe(ctx context.Context, n *node) error {
	for _, l := range n.more {
		if l.Protocol != plaintext { // it needs a login
			continue
		}
		if err := k.probeAt(ctx, n, l.Listening); err != nil {
			return err
		}
	}
	return k.probeAt(ctx, n, n.broker)
}

func (k *Cluster) probeAt(ctx context.Context, n *node, address string) error {
	client, err := kgo.NewClient(kgo.SeedBrokers(address), kgo.DialTimeout(time.Second), kgo.RequestRetries(0))
	if err != nil {
		return fmt.Errorf("create Kafka client: %w", err)
	}
	defer client.Close()
	brokers, err := kadm.NewClient(client).BrokerMetadata(ctx)
	if err != nil {
		return fmt.Errorf("ask %s for its brokers: %w", n.name(), err)
	}
	if brokers.Cluster != clusterID(k.config.Dir) {
		return fmt.Errorf("on %s there is another Kafka", address) // whose port it is until it ends, or this one does
	}
	if have := len(brokers.Brokers); have < k.config.Nodes && n.process.PID() == 0 {
		return fmt.Errorf("%d of %d brokers are in the cluster", have, k.config.Nodes)
	}
	return nil
}

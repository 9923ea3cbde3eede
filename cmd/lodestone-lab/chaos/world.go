package chaos

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"golang.org/x/sync/errgroup"

	"lodestone/cmd/lodestone-lab/chaos/machine"
	"lodestone/cmd/lodestone-lab/probe"
	"lodestone/pkg/clickhouse"
	"lodestone/pkg/engine"
	"lodestone/pkg/engine/install"
	"lodestone/pkg/test/apachekafka"
	"lodestone/pkg/test/pgbouncer"
	"lodestone/pkg/token"
)

// The shape of what is tried.
const (
	collectors     = 2
	consumers      = 2 // from the start; a fault adds and removes a third
	maxConsumers   = 3
	partitions     = 6
	linksInAll     = 300 // access links
	landingsInAll  = 30  // generic links
	accounts       = 3
	group          = "lodestone"
	sessionTimeout = 10 * time.Second // of the consumer group, by default
	startTimeout   = 2 * time.Minute
	retryInterval  = 100 * time.Millisecond
)

// world is everything that runs: the engines, the processes of Lodestone and the network between
// them.
type world struct {
	dir      string // of this run
	programs string // directory of lodestone and lodestone-clickhouse
	brokers  int
	spools   bool
	cluster  bool // see cluster.go
	soak     bool // see operation_fault.go
	log      *slog.Logger
	network  *machine.Network
	disks    *machine.Disks

	kafka    *apachekafka.Cluster
	shards   []*engine.ClickHouse // one, but in a cluster
	other    *other               // the second copy of the events; nil: none
	postgres *engine.Postgres
	pooler   *pgbouncer.Pooler // of a cluster

	collectors []*machine.Process
	consumers  []*machine.Process // of those, the first ones run all the time
	queries    []*machine.Process // unless there is nothing but the events' way (serving)
	site       *machine.Process   // of a soak: lead magnets, links and people
	reader     *reader            // asks them
	operations operations
	doing      atomic.Value // the name of the fault, a string
	own        []string     // the environment of commands that no fault is to reach
	addresses  []string     // addresses of the collectors, for clients
	admins     map[string]string

	direct *kgo.Client // to Kafka, past the network that is spoilt
	admin  *kadm.Client
	stores []driver.Conn // to each ClickHouse server alone, likewise
	ring   *token.Ring
	links  []link

	landings []link
	clocks   *machine.Clocks
}

func newWorld(o options) *world {
	w := &world{
		dir: o.Dir, programs: o.Programs, brokers: o.Brokers, spools: !o.NoSpool,
		cluster: o.Cluster, soak: o.Soak, log: o.Log,
		network: machine.NewNetwork(), disks: &machine.Disks{Dir: o.Dir, Wanted: o.fillsDisks(), Log: o.Log},
		admins: map[string]string{},
	}
	if o.Copies {
		w.other = &other{}
	}
	return w
}

// serving reports whether there are processes that serve the API.
func (w *world) serving() bool { return w.cluster || w.soak || w.other != nil }

// start brings everything up, with accounts and links to send events for.
func (w *world) start(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Minute) // a first start downloads the engines
	defer cancel()
	if err := w.startEngines(ctx); err != nil {
		return err
	}
	if err := w.connect(); err != nil {
		return err
	}
	env, err := w.environments()
	if err != nil {
		return err
	}
	w.own = env["direct"]
	if err := errors.Join(w.command(ctx, "migrate"), w.addCopy(ctx)); err != nil {
		return err
	}
	if err := w.makeLinks(ctx); err != nil {
		return err
	}
	return w.startProcesses(ctx, env)
}

func (w *world) startEngines(ctx context.Context) error {
	w.clocks = machine.NewClocks(w.dir)
	cache := os.Getenv("LODESTONE_ENGINE_CACHE")
	if cache == "" {
		var err error
		if cache, err = install.DefaultCache(); err != nil {
			return err
		}
	}
	quiet := slog.New(slog.NewTextHandler(w.logFile("engines"), nil))
	runtime := func(clock string) engine.Runtime {
		return engine.Runtime{Log: quiet, Environment: w.clocks.Environment(clock)}
	}
	installer := &install.Installer{Cache: cache, Log: quiet, Progress: func(line string) { w.log.Info(line) }}
	for i := range collectors {
		if err := w.disks.Mount("spool"+strconv.Itoa(i+1), w.spoolDir(i+1), spoolBytes); err != nil {
			return err
		}
	}
	if err := errors.Join(w.makeShards(runtime, installer), w.makeOther(runtime, installer)); err != nil {
		return err
	}
	w.postgres = engine.NewPostgres(engine.PostgresConfig{Runtime: runtime(""),
		Dir: filepath.Join(w.dir, "postgres"), Installer: installer})
	listener := func(name, from string) apachekafka.Listener {
		return apachekafka.Listener{Name: name, Advertise: func(node int, listening string) (string, error) {
			return w.network.Add(from+"-kafka"+strconv.Itoa(node), listening)
		}}
	}
	w.kafka = apachekafka.New(apachekafka.Config{
		Runtime: runtime(""), Dir: filepath.Join(w.dir, "kafka"), Nodes: w.brokers, HeapMB: 512, Installer: installer,
		Listeners: []apachekafka.Listener{listener("COLLECTOR", "collector"), listener("CONSUMER", "consumer"),
			listener("PEER", "broker")},
		Between: "PEER",
	})
	var all errgroup.Group
	for _, server := range w.servers() {
		all.Go(func() error { return server.Start(ctx) })
	}
	all.Go(func() error { return w.postgres.Start(ctx) })
	all.Go(func() error { return w.kafka.Start(ctx) })
	if err := all.Wait(); err != nil || !w.cluster {
		return err
	}
	return w.startPooler(ctx, runtime(""))
}

func (w *world) logFile(name string) *os.File {
	file, err := os.OpenFile(filepath.Join(w.dir, name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return os.Stderr
	}
	return file
}

func (w *world) connect() (err error) {
	w.direct, err = kgo.NewClient(kgo.SeedBrokers(w.kafka.Brokers()...), kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.MetadataMinAge(100*time.Millisecond), kgo.MetadataMaxAge(5*time.Second))
	if err != nil {
		return fmt.Errorf("make Kafka client: %w", err)
	}
	w.admin = kadm.NewClient(w.direct)
	for _, shard := range w.shards {
		store, err := clickhouse.Open(clickhouse.Config{URL: shard.URL()}, 4)
		if err != nil {
			return err
		}
		w.stores = append(w.stores, store)
	}
	return nil
}

// environments returns the settings of the processes by their names. "direct" is for commands
// that no fault is to reach.
func (w *world) environments() (map[string][]string, error) {
	keys := token.NewKeys(7)
	var err error
	if w.ring, err = keys.Ring(); err != nil {
		return nil, err
	}
	common := []string{
		"LODESTONE_TOKEN_KEYS=" + keys.Keys,
		"LODESTONE_KAFKA_PARTITIONS=" + strconv.Itoa(partitions),
	}
	env := map[string][]string{"direct": append([]string{
		"LODESTONE_KAFKA_BROKERS=" + strings.Join(w.kafka.Brokers(), ","),
		"LODESTONE_POSTGRES_URL=" + w.postgres.URL(),
	}, append(clickhouseSettings(w.shards[0].URL(), w.shardAddresses()), common...)...)}
	through := func(name, kind string) error {
		postgres, err := w.proxied(name+"-postgres", w.database())
		if err != nil {
			return err
		}
		servers, err := w.throughShards(name)
		if err != nil {
			return err
		}
		var seeds []string
		for _, proxy := range w.network.Names(kind + "-kafka") {
			seeds = append(seeds, w.network.Address(proxy))
		}
		if w.admins[name], err = probe.FreeAddress(); err != nil {
			return err
		}
		env[name] = append([]string{
			"LODESTONE_KAFKA_BROKERS=" + strings.Join(seeds, ","),
			"LODESTONE_POSTGRES_URL=" + postgres,
			"LODESTONE_ADMIN_LISTEN=" + w.admins[name],
		}, append(servers, common...)...)
		env[name] = append(env[name], w.clocks.Environment(name)...)
		return nil
	}
	for i := range collectors {
		name := "collector" + strconv.Itoa(i+1)
		if err := through(name, "collector"); err != nil {
			return nil, err
		}
		listen, err := probe.FreeAddress()
		if err != nil {
			return nil, err
		}
		env[name] = append(env[name],
			"LODESTONE_COLLECTOR_LISTEN="+listen,
			"LODESTONE_SPOOL_MAX_BYTES=67108864",
			"LODESTONE_SPOOL_SEGMENT_BYTES=1048576",
		)
		if w.spools {
			env[name] = append(env[name], "LODESTONE_SPOOL_DIR="+filepath.Join(w.spoolDir(i+1), "events"))
		}
		proxy, err := w.network.Add("client-"+name, listen)
		if err != nil {
			return nil, err
		}
		w.addresses = append(w.addresses, "http://"+proxy)
	}
	for i := range maxConsumers {
		if err := through("consumer"+strconv.Itoa(i+1), "consumer"); err != nil {
			return nil, err
		}
	}
	if w.serving() {
		return env, w.servingEnvironments(env, through)
	}
	return env, nil
}

// proxied puts a proxy before the server of an address and returns the address through it.
func (w *world) proxied(name, address string) (string, error) {
	u, err := url.Parse(address)
	if err != nil {
		return "", fmt.Errorf("parse the address of %s", name) // the cause would repeat the password
	}
	u.Host, err = w.network.Add(name, u.Host)
	return u.String(), err
}

// host returns host and port of an address.
func host(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Host
}

// command runs a command of lodestone. Its error has what it printed.
func (w *world) command(ctx context.Context, args ...string) error {
	_, err := w.output(ctx, args...)
	return err
}

// output runs a command of lodestone, and returns what it printed.
func (w *world) output(ctx context.Context, args ...string) (string, error) {
	return w.outputOf(ctx, w.own, args...)
}

// outputOf does so with other settings.
func (w *world) outputOf(ctx context.Context, env []string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, filepath.Join(w.programs, "lodestone"), args...)
	cmd.Env, cmd.Dir = append(os.Environ(), env...), w.dir
	output, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("lodestone %v: %w: %s", args, err, output)
	}
	return string(output), nil
}

func (w *world) startProcesses(ctx context.Context, env map[string][]string) error {
	add := func(command string, number int) *machine.Process {
		name := command + strconv.Itoa(number)
		return &machine.Process{Name: name, Command: command, Program: filepath.Join(w.programs, "lodestone"),
			Env: env[name], Dir: w.dir, Log: w.log}
	}
	for i := range collectors {
		w.collectors = append(w.collectors, add("collector", i+1))
	}
	for i := range maxConsumers {
		w.consumers = append(w.consumers, add("consumer", i+1))
	}
	w.other.addConsumers(add)
	if w.serving() {
		if err := w.addServingProcesses(ctx, add); err != nil {
			return err
		}
	}
	for _, p := range w.running() {
		if err := p.Start(); err != nil {
			return err
		}
	}
	for _, p := range w.running() {
		if err := w.ready(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

// ready waits until a process says that it can do its work.
func (w *world) ready(ctx context.Context, p *machine.Process) error {
	return probe.Until(ctx, startTimeout, retryInterval, p.Name+" does not get ready: see "+filepath.Join(w.dir,
		p.Name+".log"), func() error {
		return probe.Ready(ctx, w.admins[p.Name])
	})
}

// running returns the processes of Lodestone that run all the time.
func (w *world) running() []*machine.Process {
	all := slices.Concat(w.collectors, w.consumers[:min(consumers, len(w.consumers))], w.queries)
	if w.site != nil {
		all = append(all, w.site)
	}
	return append(all, w.other.filling()...)
}

// processes returns all processes of Lodestone.
func (w *world) processes() []*machine.Process {
	return slices.Concat(w.running(), w.consumers[min(consumers, len(w.consumers)):], w.other.notFilling())
}

// pids returns the processes that are to run, by name.
func (w *world) pids() map[string]int {
	all := map[string]int{"postgres": w.postgres.PID()}
	for i, shard := range w.shards {
		all[shardName(i)] = shard.PID()
	}
	if w.other != nil {
		all[otherName] = w.other.server.PID()
	}
	for i := range w.brokers {
		all["kafka"+strconv.Itoa(i+1)] = w.kafka.PID(i + 1)
	}
	for _, p := range w.processes() {
		all[p.Name] = p.Running()
	}
	return all
}

// stop ends everything.
func (w *world) stop() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	w.network.Heal(ctx)
	var all errgroup.Group
	for _, p := range w.processes() {
		all.Go(func() error { p.Stop(30 * time.Second); return nil })
	}
	err := all.Wait()
	if w.direct != nil {
		w.direct.Close()
	}
	for _, store := range w.stores {
		err = errors.Join(err, store.Close())
	}
	if w.pooler != nil {
		err = errors.Join(err, w.pooler.Stop(ctx))
	}
	var engines errgroup.Group
	if w.kafka != nil {
		engines.Go(func() error { return w.kafka.Stop(ctx) })
	}
	for _, server := range w.servers() {
		engines.Go(func() error { return server.Stop(ctx) })
	}
	if w.postgres != nil {
		engines.Go(func() error { return w.postgres.Stop(ctx) })
	}
	err = errors.Join(err, engines.Wait())
	w.network.Stop()
	return errors.Join(err, w.disks.Unmount())
}

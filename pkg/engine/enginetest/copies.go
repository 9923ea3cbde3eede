package enginetest

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ClickHouse/ch-go/proto"
	native "github.com/ClickHouse/clickhouse-go/v2"

	"lodestone/pkg/clickhouse"
	"lodestone/pkg/engine"
)

// Copies are shards of several servers, which stand for replicas. The embedded ClickHouse has neither Keeper nor replicated tables, so a
// proxy before each server plays both: replicated tables are plain ones, SYSTEM SYNC REPLICA copies the rows that the server lacks from the
// others, an ALTER also goes to the others, and system.replicas says which servers run. Everything else is real: the programs under test
// have no part in this. It proves routing, fences, and what the protocol does; it proves nothing about ClickHouse's own replication.
type Copies struct {
	Servers [][]*Copy // of each shard
	Config  clickhouse.Config
	Backups string // where all of them may write backups
}

// Copy is a server, and the proxy before it.
type Copy struct {
	Name   string
	Server *engine.ClickHouse

	t       testing.TB
	address string // of the proxy
	port    string // of the server
	shard   *[]*Copy
	copying *sync.Mutex // one of a shard

	mu       sync.Mutex
	listener net.Listener
	conns    map[net.Conn]bool
	cut      bool
	session  bool // in Keeper, also while it is cut off
	lag      time.Duration
	missed   []change // that it makes before it copies rows again
}

const copyPassword = "of all shards"

// NewCopies returns shards of so many servers each, without a schema; the end of the test stops them.
func NewCopies(t testing.TB, shards, replicas int) *Copies {
	t.Helper()
	c := &Copies{Backups: Dir(t)}
	var peers, proxied []string
	for range shards {
		var servers []*Copy
		var others, addresses []string
		copying := &sync.Mutex{}
		for i := range replicas {
			r := &Copy{
				Name: "r" + strconv.Itoa(i), t: t, copying: copying, conns: map[net.Conn]bool{}, session: true,
				address: net.JoinHostPort("127.0.0.1", strconv.Itoa(FreePort(t))), port: net.JoinHostPort("127.0.0.1", strconv.Itoa(FreePort(t))),
			}
			servers, others, addresses = append(servers, r), append(others, r.listenForPeers()), append(addresses, r.address)
		}
		c.Servers, peers, proxied = append(c.Servers, servers), append(peers, strings.Join(others, ",")), append(proxied, strings.Join(addresses, ","))
	}
	for i := range c.Servers {
		for _, r := range c.Servers[i] {
			r.shard = &c.Servers[i]
			r.start(peers, c.Backups)
		}
	}
	c.Config = clickhouse.Config{
		URL:    "clickhouse://lodestone:" + strings.ReplaceAll(copyPassword, " ", "%20") + "@" + c.Servers[0][0].address + "/lodestone",
		Shards: strings.Join(proxied, ";"),
	}
	return c
}

func (r *Copy) start(cluster []string, backups string) {
	r.t.Helper()
	dir := Dir(r.t)
	if err := os.WriteFile(filepath.Join(dir, "passwords.json"), []byte(`{"lodestone":"`+copyPassword+`","analyst":"of the analyst"}`), 0o600); err != nil {
		r.t.Fatal(err)
	}
	_, text, _ := net.SplitHostPort(r.port)
	port, err := strconv.Atoi(text)
	if err != nil {
		r.t.Fatal(err)
	}
	r.Server = engine.NewClickHouse(engine.ClickHouseConfig{
		Runtime: Runtime(), Dir: dir, TCPPort: port, HTTPPort: FreePort(r.t), MemoryBytes: ClickHouseMemory,
		Launcher: Launcher(r.t), Installer: Installer(r.t), Cluster: cluster, Replica: r.Name, Backups: backups,
	})
	Run(r.t, r.Server)
	r.listen()
	r.t.Cleanup(r.Cut)
}

// Cut ends the connections of the server with everyone who uses its address, and refuses new ones. Its session in Keeper ends as well.
func (r *Copy) Cut() {
	r.CutFromClients()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.session = false
}

// CutFromClients leaves the server its session in Keeper.
func (r *Copy) CutFromClients() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cut = true
	if r.listener != nil {
		_ = r.listener.Close()
		r.listener = nil
	}
	for conn := range r.conns {
		_ = conn.Close()
	}
}

// EndSession ends the session of the server in Keeper, until Heal. Everyone can still use its address.
func (r *Copy) EndSession() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.session = false
}

// Heal undoes Cut and EndSession.
func (r *Copy) Heal() {
	r.mu.Lock()
	r.cut, r.session = false, true
	listens := r.listener != nil
	r.mu.Unlock()
	if !listens {
		r.listen()
	}
}

// Conn opens a connection to the server itself, which the end of the test closes. Who asks often keeps it: the server takes 2 MiB for each.
func (r *Copy) Conn() native.Conn { return Open(r.t, clickhouse.Config{URL: r.Server.URL()}) }

// Address returns that of the proxy, which programs use.
func (r *Copy) Address() string { return r.address }

// Proxied returns the settings of the server behind its proxy, alone.
func (r *Copy) Proxied() clickhouse.Config {
	return clickhouse.Config{URL: strings.Replace(r.Server.URL(), r.port, r.address, 1)}
}

func (r *Copy) listen() {
	l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", r.address)
	if err != nil {
		r.t.Errorf("listen for replica %s: %v", r.Name, err)
		return
	}
	r.mu.Lock()
	r.listener = l
	r.mu.Unlock()
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go r.serve(conn)
		}
	}()
}

// serve passes a connection on.
func (r *Copy) serve(client net.Conn) {
	server, err := (&net.Dialer{Timeout: 5 * time.Second}).DialContext(context.Background(), "tcp", r.port)
	if err != nil {
		_ = client.Close()
		return
	}
	r.mu.Lock()
	if r.cut {
		_ = client.Close()
	}
	r.conns[client], r.conns[server] = true, true
	r.mu.Unlock()
	var both sync.WaitGroup
	end := func() { _, _ = client.Close(), server.Close() }
	both.Go(func() { defer end(); _, _ = io.Copy(client, server) })
	both.Go(func() { defer end(); r.rewrite(client, server) })
	both.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.conns, client)
	delete(r.conns, server)
}

// rewrite passes on what a client sends. A client begins each statement with a write of its own.
func (r *Copy) rewrite(client io.Reader, server io.Writer) {
	version := 0
	for buffer := make([]byte, 4<<20); ; {
		n, err := client.Read(buffer)
		if err != nil {
			return
		}
		sent := buffer[:n]
		if version == 0 {
			var hello proto.ClientHello
			if err := hello.Decode(proto.NewReader(bytes.NewReader(sent[1:]))); err != nil {
				return
			}
			version = hello.ProtocolVersion
		} else if emulated.Match(sent) {
			sent = r.statement(sent, version)
		}
		if _, err := server.Write(sent); err != nil {
			return
		}
	}
}

var (
	emulated   = regexp.MustCompile(`Replicated|replicated_deduplication_window|SYSTEM SYNC REPLICA|SYSTEM DROP REPLICA|system\.replicas|ALTER TABLE lodestone\.|OPTIMIZE TABLE lodestone\.`)
	replicated = regexp.MustCompile(`ENGINE = Replicated(\w*)MergeTree\('[^']*', '\{replica\}'(?:, )?`)
	window     = regexp.MustCompile(`\breplicated_deduplication_window\b`)
	syncs      = regexp.MustCompile(`^SYSTEM SYNC REPLICA lodestone\.(\w+)( LIGHTWEIGHT)?$`)
)

// statement returns what the server gets instead of a statement about replicas, and does the rest.
func (r *Copy) statement(sent []byte, version int) []byte {
	at := bytes.IndexByte(sent, byte(proto.ClientCodeQuery)) // after what a client adds to its greeting
	if at < 0 || at > 1 {
		return sent
	}
	var q proto.Query
	if err := q.DecodeAware(proto.NewReader(bytes.NewReader(sent[at+1:])), version); err != nil {
		return sent // rows
	}
	body := q.Body
	switch table := syncs.FindStringSubmatch(body); {
	case table != nil:
		body = r.done(r.sync(table[1], table[2] != ""))
	case strings.HasPrefix(body, "SYSTEM DROP REPLICA"):
		body = r.done(r.forget(body))
	case removes.MatchString(body):
		body = r.done(r.alter(change{body, q.Parameters}, true))
	case strings.HasPrefix(strings.TrimSpace(body), "ALTER TABLE lodestone."):
		body = window.ReplaceAllString(body, "non_replicated_deduplication_window")
		if err := r.alter(change{body, q.Parameters}, false); err != nil {
			body = r.done(err)
		}
	default:
		body = window.ReplaceAllString(replicated.ReplaceAllString(body, "ENGINE = ${1}MergeTree("), "non_replicated_deduplication_window")
		body = strings.ReplaceAll(body, "system.replicas", r.replicas())
		if strings.Contains(body, "startsWith(engine, 'Replicated')") {
			body = strings.ReplaceAll(body, "FROM system.tables",
				"FROM (SELECT * REPLACE (if(endsWith(engine, 'MergeTree'), 'Replicated' || engine, engine) AS engine) FROM system.tables)")
		}
	}
	return bytes.Replace(sent, text(q.Body), text(body), 1)
}

// text returns a text as the protocol has it.
func text(s string) []byte { return append(binary.AppendUvarint(nil, uint64(len(s))), s...) }

// done returns a statement without a result, or one that fails.
func (r *Copy) done(err error) string {
	if err != nil {
		return "SELECT throwIf(1, '" + strings.ReplaceAll(err.Error(), "'", "") + "')"
	}
	return "SET max_threads = 2"
}

// others returns the replicas that run, without this one.
func (r *Copy) others() []*Copy {
	return slices.DeleteFunc(slices.Clone(*r.shard), func(o *Copy) bool { return o == r || !o.runs() })
}

func (r *Copy) runs() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.session
}

// replicas returns what stands for system.replicas: it says which replicas have a session in Keeper, as far as a server knows that has one.
func (r *Copy) replicas() string {
	var active []string
	for _, o := range *r.shard {
		if r.runs() {
			active = append(active, "'"+o.Name+"', toUInt8("+strconv.FormatBool(o.runs())+")")
		}
	}
	ended := strconv.FormatBool(!r.runs())
	return "(SELECT database, name AS table, '" + r.Name + "' AS replica_name, CAST(map(" + strings.Join(active, ", ") + "), 'Map(String, UInt8)') AS replica_is_active, " +
		"toUInt64(0) AS absolute_delay, toUInt32(0) AS parts_to_check, toUInt8(" + ended + ") AS is_readonly, toUInt8(" + ended + ") AS is_session_expired, '' AS zookeeper_exception " +
		"FROM system.tables WHERE database = 'lodestone' AND endsWith(engine, 'MergeTree'))"
}

// open returns a pool of connections to the server itself.
func (r *Copy) open() (native.Conn, error) {
	o, err := native.ParseDSN(r.Server.URL())
	if err != nil {
		return nil, err
	}
	return native.Open(o)
}

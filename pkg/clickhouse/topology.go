package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/ClickHouse/ch-go"
	"github.com/ClickHouse/ch-go/proto"

	"lodestone/pkg/config"
)

// The servers that store events are shards: each event is on one of them, and each has an id, which it keeps in its table
// lodestone.shard. A shard can have several servers, its replicas, which copy its rows to each other; each has a name of its own in Keeper, the
// macro replica of its settings. Other packages see shards and replicas by ids and names, never hosts. One server is a topology of one
// shard.

const shardsSetting = "--clickhouse-shards"

// Replicated reports whether any shard has several servers.
func (c Config) Replicated() bool { return strings.Contains(c.Shards, ",") }

// Replicas returns the settings of each replica of each shard, in the order of the setting.
func (c Config) Replicas() ([][]Config, error) {
	o, err := c.Options()
	if err != nil || c.Shards == "" {
		return [][]Config{{{URL: c.URL, Secret: c.Secret, TLS: c.TLS}}}, err
	}
	var shards [][]Config
	var seen []string
	for shard := range strings.SplitSeq(c.Shards, ";") {
		var replicas []Config
		for address := range strings.SplitSeq(shard, ",") {
			address = strings.TrimSpace(address)
			server, err := c.at(address)
			if err != nil {
				return nil, err
			}
			if slices.Contains(seen, address) {
				return nil, config.Invalid(shardsSetting, "has "+address+" twice", "give each server once")
			}
			seen = append(seen, address)
			replicas = append(replicas, server)
		}
		shards = append(shards, replicas)
	}
	if len(o.Addr) != 1 || !slices.Contains(seen, o.Addr[0]) {
		return nil, config.Invalid("--clickhouse-url", "has an address that is not in "+shardsSetting, "use the address of one of the servers")
	}
	return shards, nil
}

// at returns the settings of the server at an address.
func (c Config) at(address string) (Config, error) {
	host, port, err := net.SplitHostPort(address)
	if n, wrong := strconv.ParseUint(port, 10, 16); err != nil || host == "" || wrong != nil || n == 0 || strings.ContainsAny(host, "/@?#% ") {
		return Config{}, config.Invalid(shardsSetting, fmt.Sprintf("has %q, which is no address", address), "write host:port,host:port;host:port,host:port")
	}
	u, err := url.Parse(c.URL)
	if err != nil { // Options would have failed
		return Config{}, config.Invalid("--clickhouse-url", "cannot be parsed", "write clickhouse://user:password@host:port/lodestone")
	}
	u.Host = address
	return Config{URL: u.String(), Secret: c.Secret, TLS: c.TLS}, nil
}

// FirstReplicas returns the settings of the same shards with one server each, the one that the setting names first.
func (c Config) FirstReplicas() (Config, error) {
	if !c.Replicated() {
		return c, nil
	}
	shards, err := c.Replicas()
	if err != nil {
		return c, err
	}
	var addresses []string
	for _, replicas := range shards {
		o, err := replicas[0].Options()
		if err != nil {
			return c, err
		}
		addresses = append(addresses, o.Addr[0])
	}
	c.URL, c.Shards, c.Writers = shards[0][0].URL, strings.Join(addresses, ";"), nil
	if len(shards) == 1 {
		c.Shards = "" // one server is no cluster
	}
	return c, nil
}

// Servers returns the settings of each server, in the order of the setting.
func (c Config) Servers() ([]Config, error) {
	shards, err := c.Replicas()
	return slices.Concat(shards...), err
}

// Topology finds servers by the ids of their shards and their names. It is safe for concurrent use.
type Topology struct {
	config  Config
	servers []server
	shards  int

	mu    sync.Mutex
	known map[Member]ch.Options
}

// server is an address of the setting.
type server struct {
	ch.Options
	shard      int  // its index in the setting
	replicated bool // its shard has other servers
}

// Member is what a server says of itself.
type Member struct {
	Shard   uint16
	Replica string // "" if the server is the only one of its shard
}

// NewTopology returns the topology of the settings without connecting.
func NewTopology(c Config) (*Topology, error) {
	shards, err := c.Replicas()
	if err != nil {
		return nil, err
	}
	t := &Topology{config: c, shards: len(shards), known: map[Member]ch.Options{}}
	for i, replicas := range shards {
		for _, s := range replicas {
			o, err := s.BlockOptions()
			if err != nil {
				return nil, err
			}
			t.servers = append(t.servers, server{o, i, len(replicas) > 1})
		}
	}
	return t, nil
}

// Size returns the number of shards.
func (t *Topology) Size() int { return t.shards }

// Compresses reports whether connections to a shard compress.
func (t *Topology) Compresses() bool {
	return slices.ContainsFunc(t.servers, func(s server) bool { return s.Compression != ch.CompressionDisabled })
}

// Dial connects to the shard with an id. The server has shown that it is that shard. Of several replicas it is any.
func (t *Topology) Dial(ctx context.Context, id uint16) (*ch.Client, error) {
	return t.DialReplica(ctx, Member{Shard: id})
}

// DialReplica connects to a replica, which has shown that it is that one.
func (t *Topology) DialReplica(ctx context.Context, m Member) (*ch.Client, error) {
	t.mu.Lock()
	o, known := t.known[m]
	t.mu.Unlock()
	if known {
		if conn, err := t.dial(ctx, o, m); err == nil || !isOther(err) && m.Replica != "" {
			return conn, err
		}
		t.mu.Lock()
		delete(t.known, m) // another server has its address now, or another replica may answer
		t.mu.Unlock()
	}
	var errs []error
	for _, s := range t.servers {
		conn, err := t.dial(ctx, s.Options, m)
		if err == nil {
			t.mu.Lock()
			t.known[m] = s.Options
			t.mu.Unlock()
			return conn, nil
		}
		if !isOther(err) {
			errs = append(errs, err)
		}
	}
	if len(errs) == 0 {
		return nil, fmt.Errorf("no server of %s is %s", shardsSetting, m)
	}
	return nil, fmt.Errorf("connect to %s of ClickHouse: %w", m, errors.Join(errs...))
}

// String names the member in errors.
func (m Member) String() string {
	if m.Replica == "" {
		return fmt.Sprint("shard ", m.Shard)
	}
	return fmt.Sprintf("replica %s of shard %d", m.Replica, m.Shard)
}

// Dialer returns Dial for one shard.
func (t *Topology) Dialer(id uint16) func(context.Context) (*ch.Client, error) {
	return t.ReplicaDialer(Member{Shard: id})
}

// ReplicaDialer returns DialReplica for one replica.
func (t *Topology) ReplicaDialer(m Member) func(context.Context) (*ch.Client, error) {
	return func(ctx context.Context) (*ch.Client, error) { return t.DialReplica(ctx, m) }
}

// Dialers returns a function for each server that connects to it, whichever it is.
func (t *Topology) Dialers() (all []func(context.Context) (*ch.Client, error)) {
	for _, s := range t.servers {
		all = append(all, func(ctx context.Context) (*ch.Client, error) {
			conn, _, err := t.dialServer(ctx, s)
			return conn, err
		})
	}
	return all
}

// Each calls fn with a connection to each server and what it is, and stops at an error. Of a shard with several replicas, a majority has to
// answer: what counts as stored is on one of any majority.
func (t *Topology) Each(ctx context.Context, fn func(m Member, conn *ch.Client) error) error {
	silent, all := make([][]error, t.shards), make([]int, t.shards)
	members := map[Member]bool{}
	ids := map[uint16]int{}
	for _, s := range t.servers {
		all[s.shard]++
		conn, m, err := t.dialServer(ctx, s)
		if err != nil {
			silent[s.shard] = append(silent[s.shard], err)
			continue
		}
		other, known := ids[m.Shard]
		switch ids[m.Shard] = s.shard; {
		case known && other != s.shard:
			err = fmt.Errorf("two shards of %s are shard %d", shardsSetting, m.Shard)
		case members[m]:
			err = fmt.Errorf("two servers of %s are %s", shardsSetting, m)
		default:
			err = fn(m, conn)
		}
		members[m] = true
		if err := errors.Join(err, conn.Close()); err != nil {
			return err
		}
	}
	for i, errs := range silent {
		if answered := all[i] - len(errs); answered < all[i]/2+1 {
			return errors.Join(errs...)
		}
	}
	return nil
}

func (t *Topology) dialServer(ctx context.Context, s server) (*ch.Client, Member, error) {
	conn, err := t.config.connect(ctx, s.Options)
	if err != nil {
		return nil, Member{}, fmt.Errorf("connect to ClickHouse at %s: %w", s.Address, err)
	}
	m, err := identify(ctx, conn, s.replicated)
	if err != nil {
		return nil, Member{}, errors.Join(fmt.Errorf("ask ClickHouse at %s which shard it is: %w", s.Address, err), conn.Close())
	}
	return conn, m, nil
}

// otherError says that a server is not the one that was looked for.
type otherError struct{ is, want Member }

func (e *otherError) Error() string {
	return fmt.Sprintf("the server is %s, not %s", e.is, e.want)
}

func isOther(err error) bool {
	_, yes := errors.AsType[*otherError](err)
	return yes
}

// dial connects to a server if it is the one that is wanted.
func (t *Topology) dial(ctx context.Context, o ch.Options, want Member) (*ch.Client, error) {
	conn, err := t.config.connect(ctx, o)
	if err != nil {
		return nil, fmt.Errorf("connect to ClickHouse: %w", err)
	}
	is, err := identify(ctx, conn, want.Replica != "")
	if err == nil && is != want {
		err = &otherError{is, want}
	}
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

// identify asks a server for the id of its shard, and for its name if its shard has others. It has no id until `lodestone migrate` was run.
func identify(ctx context.Context, conn *ch.Client, named bool) (Member, error) {
	var id proto.ColUInt16
	var name proto.ColStr
	result := proto.Results{{Name: "id", Data: &id}}
	fields := "id"
	if named {
		fields, result = fields+", getMacro('replica') AS name", append(result, proto.ResultColumn{Name: "name", Data: &name})
	}
	if err := conn.Do(ctx, ch.Query{Body: "SELECT " + fields + " FROM lodestone.shard", Result: result}); err != nil {
		return Member{}, fmt.Errorf("read the shard's id: %w", err)
	}
	if id.Rows() != 1 {
		return Member{}, errors.New("the server has no id: run `lodestone migrate` of this version")
	}
	m := Member{Shard: id.Row(0)}
	if named {
		m.Replica = name.Row(0)
	}
	return m, nil
}

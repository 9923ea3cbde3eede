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

// The servers that store events are shards: each event is on one of them, and each has an id, which
// it keeps in its table lodestone.shard. Other packages see shards by ids, never hosts. One server
// is a topology of one shard.

const shardsSetting = "--clickhouse-shards"

// Servers returns the settings of the server of each shard, in the order of the setting.
func (c Config) Servers() ([]Config, error) {
	o, err := c.Options()
	if err != nil || c.Shards == "" {
		return []Config{{URL: c.URL, Copy: c.Copy}}, err
	}
	if strings.Contains(c.Shards, ",") {
		return nil, config.Invalid(shardsSetting,
			"has a comma: Lodestone stores on one server of each shard, and does not use replicas of it yet",
			"give one server for each shard, with semicolons between them")
	}
	var servers []Config
	var seen []string
	for address := range strings.SplitSeq(c.Shards, ";") {
		address = strings.TrimSpace(address)
		server, err := c.at(address)
		if err != nil {
			return nil, err
		}
		if slices.Contains(seen, address) {
			return nil, config.Invalid(shardsSetting, "has "+address+" twice", "give each server once")
		}
		seen, servers = append(seen, address), append(servers, server)
	}
	if len(o.Addr) != 1 || !slices.Contains(seen, o.Addr[0]) {
		return nil, config.Invalid("--clickhouse-url", "has an address that is not in "+shardsSetting,
			"use the address of one of the servers")
	}
	return servers, nil
}

// at returns the settings of the server at an address.
func (c Config) at(address string) (Config, error) {
	host, port, err := net.SplitHostPort(address)
	if n, wrong := strconv.ParseUint(port, 10, 16); err != nil || host == "" || wrong != nil || n == 0 ||
		strings.ContainsAny(host, "/@?#% ") {
		return Config{}, config.Invalid(shardsSetting, fmt.Sprintf("has %q, which is no address", address),
			"write host:port;host:port")
	}
	u, err := url.Parse(c.URL)
	if err != nil { // Options would have failed
		return Config{}, config.Invalid("--clickhouse-url", "cannot be parsed",
			"write clickhouse://user:password@host:port/lodestone")
	}
	u.Host = address
	return Config{URL: u.String(), Copy: c.Copy}, nil
}

// DistinctServers returns Servers once each has shown that it is another shard.
func (c Config) DistinctServers(ctx context.Context) ([]Config, error) {
	servers, err := c.Servers()
	if err != nil || len(servers) == 1 {
		return servers, err
	}
	t, err := NewTopology(c)
	if err != nil {
		return nil, err
	}
	return servers, t.Each(ctx, func(uint16, *ch.Client) error { return nil })
}

// Topology finds servers by the ids of their shards. It is safe for concurrent use.
type Topology struct {
	config  Config
	servers []ch.Options

	mu    sync.Mutex
	known map[uint16]ch.Options
}

// NewTopology returns the topology of the settings without connecting.
func NewTopology(c Config) (*Topology, error) {
	servers, err := c.Servers()
	if err != nil {
		return nil, err
	}
	t := &Topology{config: c, known: map[uint16]ch.Options{}}
	for _, s := range servers {
		o, err := s.BlockOptions()
		if err != nil {
			return nil, err
		}
		t.servers = append(t.servers, o)
	}
	return t, nil
}

// Copy returns the number of the copy of the events.
func (t *Topology) Copy() int32 { return t.config.Number() }

// Size returns the number of shards.
func (t *Topology) Size() int { return len(t.servers) }

// Compresses reports whether connections to a shard compress.
func (t *Topology) Compresses() bool {
	return slices.ContainsFunc(t.servers, func(o ch.Options) bool { return o.Compression != ch.CompressionDisabled })
}

// Dial connects to the shard with an id. The server has shown that it is that shard.
func (t *Topology) Dial(ctx context.Context, shard uint16) (*ch.Client, error) {
	t.mu.Lock()
	o, known := t.known[shard]
	t.mu.Unlock()
	if known {
		if conn, err := t.dial(ctx, o, shard); err == nil {
			return conn, nil
		}
		t.mu.Lock()
		delete(t.known, shard) // another server may have its address now
		t.mu.Unlock()
	}
	var errs []error
	for _, o := range t.servers {
		conn, err := t.dial(ctx, o, shard)
		if err == nil {
			t.mu.Lock()
			t.known[shard] = o
			t.mu.Unlock()
			return conn, nil
		}
		if !isOther(err) {
			errs = append(errs, err)
		}
	}
	if len(errs) == 0 {
		return nil, fmt.Errorf("no server of %s is shard %d", shardsSetting, shard)
	}
	return nil, fmt.Errorf("connect to shard %d of ClickHouse: %w", shard, errors.Join(errs...))
}

// Dialer returns Dial for one shard.
func (t *Topology) Dialer(shard uint16) func(context.Context) (*ch.Client, error) {
	return func(ctx context.Context) (*ch.Client, error) { return t.Dial(ctx, shard) }
}

// Dialers returns a function for each server that connects to it, whichever it is.
func (t *Topology) Dialers() (all []func(context.Context) (*ch.Client, error)) {
	for _, o := range t.servers {
		all = append(all, func(ctx context.Context) (*ch.Client, error) {
			conn, _, err := t.dialServer(ctx, o)
			return conn, err
		})
	}
	return all
}

// Each calls fn with a connection to each shard and its id, and stops at an error.
func (t *Topology) Each(ctx context.Context, fn func(shard uint16, conn *ch.Client) error) error {
	ids := shardIDs{}
	for _, o := range t.servers {
		conn, id, err := t.dialServer(ctx, o)
		if err != nil {
			return err
		}
		if err = ids.add(id); err == nil {
			err = fn(id, conn)
		}
		if err := errors.Join(err, conn.Close()); err != nil {
			return err
		}
	}
	return nil
}

// shardIDs are the shards that were found so far. Two addresses may lead to one server, and then
// none to another.
type shardIDs map[uint16]bool

func (ids shardIDs) add(id uint16) error {
	if ids[id] {
		return fmt.Errorf("two addresses of %s lead to shard %d", shardsSetting, id)
	}
	ids[id] = true
	return nil
}

func (t *Topology) dialServer(ctx context.Context, o ch.Options) (*ch.Client, uint16, error) {
	conn, err := ch.Dial(ctx, o)
	if err != nil {
		return nil, 0, fmt.Errorf("connect to ClickHouse at %s: %w", o.Address, err)
	}
	id, err := identify(ctx, conn)
	if err == nil {
		err = t.config.requireCopy(id)
	}
	if err != nil {
		return nil, 0, errors.Join(fmt.Errorf("ask ClickHouse at %s which shard it is: %w", o.Address, err), conn.Close())
	}
	return conn, id, nil
}

// otherError says that a server is not the shard that was looked for.
type otherError struct{ is, want uint16 }

func (e *otherError) Error() string {
	return fmt.Sprintf("the server is shard %d, not %d", e.is, e.want)
}

func isOther(err error) bool {
	_, yes := errors.AsType[*otherError](err)
	return yes
}

// dial connects to a server if it is the shard that is wanted.
func (t *Topology) dial(ctx context.Context, o ch.Options, want uint16) (*ch.Client, error) {
	conn, err := ch.Dial(ctx, o)
	if err != nil {
		return nil, fmt.Errorf("connect to ClickHouse: %w", err)
	}
	is, err := identify(ctx, conn)
	if err == nil && is != want {
		err = &otherError{is, want}
	}
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

// identify asks a server for the id of its shard. It has none until `lodestone migrate` was run.
func identify(ctx context.Context, conn *ch.Client) (uint16, error) {
	var id proto.ColUInt16
	if err := conn.Do(ctx, ch.Query{Body: "SELECT id FROM lodestone.shard",
		Result: proto.Results{{Name: "id", Data: &id}}}); err != nil {
		return 0, fmt.Errorf("read the shard's id: %w", err)
	}
	if id.Rows() != 1 {
		return 0, errors.New("the server has no id: run `lodestone migrate` of this version")
	}
	return id.Row(0), nil
}

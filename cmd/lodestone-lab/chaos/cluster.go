package chaos

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"lodestone/cmd/lodestone-lab/chaos/machine"
	"lodestone/cmd/lodestone-lab/probe"
	"lodestone/pkg/engine"
	"lodestone/pkg/engine/install"
	"lodestone/pkg/test/pgbouncer"
)

// A cluster has two ClickHouse shards, two processes of the query service, and a PgBouncer between
// processes and PostgreSQL.
const (
	clusterShards = 2
	queries       = 2
	shardPassword = "of all shards"
)

// shardName names a ClickHouse server, its directory, its clock and, after a dash, the proxies
// before it.
func shardName(i int) string {
	if i == 0 {
		return "clickhouse"
	}
	return "clickhouse" + strconv.Itoa(i+1)
}

// makeShards makes the ClickHouse servers. Those of a cluster reach each other through the network.
func (w *world) makeShards(runtime func(clock string) engine.Runtime, installer *install.Installer) error {
	n := 1
	if w.cluster {
		n = clusterShards
	}
	ports := make([]int, n)
	for i := range ports {
		var err error
		if ports[i], err = engine.FreePort(); err != nil {
			return err
		}
	}
	for i := range n {
		c := engine.ClickHouseConfig{
			Runtime: runtime(shardName(i)), Dir: filepath.Join(w.dir, shardName(i)), MemoryBytes: 3 << 30,
			TCPPort: ports[i], Installer: installer,
			Launcher: filepath.Join(w.programs, "lodestone-clickhouse"),
		}
		if err := w.disks.Mount(shardName(i), c.Dir, 8<<30); err != nil {
			return err
		}
		if w.cluster {
			c.MemoryBytes = 2 << 30
			passwords := fmt.Sprintf(`{"lodestone":%q,"analyst":"of the analyst"}`, shardPassword)
			if err := os.WriteFile(filepath.Join(c.Dir, "passwords.json"), []byte(passwords), 0o600); err != nil {
				return err
			}
			for j, port := range ports {
				address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
				if j != i {
					var err error
					if address, err = w.network.Add("server"+strconv.Itoa(i+1)+"-"+shardName(j), address); err != nil {
						return err
					}
				}
				c.Cluster = append(c.Cluster, address)
			}
		}
		w.shards = append(w.shards, engine.NewClickHouse(c))
	}
	return nil
}

// shardAddresses returns the addresses of the servers of a cluster; of one server alone, none.
func (w *world) shardAddresses() (addresses []string) {
	if !w.cluster {
		return nil
	}
	for _, shard := range w.shards {
		addresses = append(addresses, host(shard.URL()))
	}
	return addresses
}

// clickhouseSettings returns the variables of an address of ClickHouse, and of those of all shards.
func clickhouseSettings(url string, shards []string) []string {
	settings := []string{"LODESTONE_CLICKHOUSE_URL=" + url}
	if len(shards) > 0 {
		settings = append(settings, "LODESTONE_CLICKHOUSE_SHARDS="+strings.Join(shards, ";"))
	}
	return settings
}

// throughShards puts proxies before the ClickHouse servers for a process, and returns its settings.
func (w *world) throughShards(name string) ([]string, error) {
	var first string
	var addresses []string
	for i, shard := range w.shards {
		url, err := w.proxied(name+"-"+shardName(i), shard.URL())
		if err != nil {
			return nil, err
		}
		if i == 0 {
			first = url
		}
		if w.cluster {
			addresses = append(addresses, host(url))
		}
	}
	return clickhouseSettings(first, addresses), nil
}

// database returns the address of Postgres for processes.
func (w *world) database() string {
	if w.pooler != nil {
		return w.pooler.URL()
	}
	return w.postgres.URL()
}

func (w *world) startPooler(ctx context.Context, runtime engine.Runtime) error {
	dir := filepath.Join(w.dir, "pgbouncer")
	if err := os.Mkdir(dir, 0o755); err != nil { //nolint:gosec // the user that it runs as passes through
		return err
	}
	port, err := engine.FreePort()
	if err != nil {
		return err
	}
	if w.pooler, err = pgbouncer.New(pgbouncer.Config{Runtime: runtime, Dir: dir, Database: w.postgres.URL(),
		Port: port, Pool: 12}); err != nil {
		return err
	}
	return w.pooler.Start(ctx)
}

// servingEnvironments adds the settings of the processes that serve the API. Only a cluster has
// several query processes, and only a soak has one of lead magnets, links and people.
func (w *world) servingEnvironments(env map[string][]string, through func(name, kind string) error) error {
	w.reader = &reader{}
	n := 1
	if w.cluster {
		n = queries
	}
	for i := range n {
		name := "query" + strconv.Itoa(i+1)
		listen, err := w.serves(env, name, through)
		if err != nil {
			return err
		}
		w.reader.queries = append(w.reader.queries, "http://"+listen)
	}
	if w.other != nil {
		return w.otherSettings(env, through)
	}
	if !w.soak {
		return nil
	}
	listen, err := w.serves(env, "crud1", through)
	if err != nil {
		return err
	}
	w.reader.site = "http://" + listen
	return w.operations.settings(w, env)
}

// serves adds the settings of a process that serves the API.
func (w *world) serves(env map[string][]string, name string, through func(name, kind string) error) (listen string,
	err error) {
	if err := through(name, "consumer"); err != nil {
		return "", err
	}
	if listen, err = probe.FreeAddress(); err != nil {
		return "", err
	}
	env[name] = append(env[name], "LODESTONE_LISTEN="+listen, "LODESTONE_LIMIT_REQUESTS_PER_MINUTE=100000",
		"LODESTONE_LIMIT_ANALYTICS_QUERY_PER_MINUTE=100000")
	return listen, nil
}

// addServingProcesses makes the processes that serve the API, and creates keys of the accounts.
func (w *world) addServingProcesses(ctx context.Context, add func(command string, number int) *machine.Process) error {
	for i := range w.reader.queries {
		w.queries = append(w.queries, add("query", i+1))
	}
	if w.soak {
		w.site = add("crud", 1)
	}
	return w.makeKeys(ctx)
}

// makeKeys creates an API key for each account.
func (w *world) makeKeys(ctx context.Context) error {
	w.reader.keys = map[string]string{}
	for _, l := range w.links {
		account := l.account.String()
		if w.reader.keys[account] != "" {
			continue
		}
		printed, err := w.output(ctx, "key", "create", "--account", account, "--scopes", "read,write,people:privacy")
		if err != nil {
			return err
		}
		_, key, found := strings.Cut(printed, "key: ")
		if !found {
			return fmt.Errorf("lodestone key create printed no key: %s", printed)
		}
		w.reader.keys[account] = strings.TrimSpace(key)
	}
	return nil
}

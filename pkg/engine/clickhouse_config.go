package engine

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	_ "embed" // the templates
	"encoding/hex"
	"encoding/xml"
	"net"
	"os"
	"text/template"
)

//go:embed clickhouse_config.xml
var clickhouseConfig string

// clickhouseSmall is the profile of a small machine, the same file that deploy/clickhouse offers to
// servers.
//
//go:embed clickhouse_small.xml
var clickhouseSmall string

// clickhouseMemory overrides it where another limit of memory was requested.
const clickhouseMemory = "<clickhouse><max_server_memory_usage>{{.Memory}}</max_server_memory_usage></clickhouse>\n"

// clickhouseCluster names the servers of a cluster, as docs/shards.md shows it.
//
//go:embed clickhouse_cluster.xml
var clickhouseCluster string

//go:embed clickhouse_users.xml
var clickhouseUsers string

// fileSwitchedOff hides the function file('/path'), which reads any file that the server can: the
// library runs as a command-line tool and checks no right for it. A user-defined function takes
// precedence over a built-in one; the table function file() checks a right and is not affected.
const fileSwitchedOff = "CREATE FUNCTION file AS x -> throwIf(1 = 1, 'the function file is switched off')\n"

// configure writes the server's configuration, again at each start.
func (c *ClickHouse) configure() error {
	// Left-over logs of another version of the server can prevent its start.
	for _, dir := range []string{"data/data/system", "data/metadata/system"} {
		if err := os.RemoveAll(c.path(dir)); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(c.path("data/user_defined"), 0o700); err != nil {
		return err
	}
	if err := writeFile(c.path("data/user_defined/function_file.sql"), []byte(fileSwitchedOff)); err != nil {
		return err
	}
	values := map[string]any{
		"Dir":       c.config.Dir,
		"Backups":   cmp.Or(c.config.Backups, c.path("backups")),
		"TCPPort":   c.ports["tcp"],
		"HTTPPort":  c.ports["http"],
		"Memory":    c.config.MemoryBytes,
		"Lodestone": sha(c.passwords[clickhouseUser]),
		"Analyst":   sha(c.passwords[clickhouseAnalyst]),
		"Library":   c.library,
	}
	var shards []map[string]string
	for _, server := range c.config.Cluster {
		host, port, err := net.SplitHostPort(server)
		if err != nil {
			return err
		}
		shards = append(shards, map[string]string{"Host": host, "Port": port, "Password": c.passwords[clickhouseUser]})
	}
	values["Shards"] = shards
	// Files of config.d are merged in the order of their names.
	files := map[string]string{"config.xml": clickhouseConfig, "users.xml": clickhouseUsers,
		"config.d/small.xml": clickhouseSmall}
	if len(shards) > 0 {
		files["config.d/cluster.xml"] = clickhouseCluster
	}
	if c.config.MemoryBytes != 0 {
		files["config.d/small_memory.xml"] = clickhouseMemory
	}
	if err := os.RemoveAll(c.path("config.d")); err != nil {
		return err
	}
	if err := os.Mkdir(c.path("config.d"), 0o700); err != nil {
		return err
	}
	for name, text := range files {
		t, err := template.New(name).Funcs(template.FuncMap{"xml": xmlText}).Parse(text)
		if err != nil {
			return err
		}
		var b bytes.Buffer
		if err := t.Execute(&b, values); err != nil {
			return err
		}
		if err := writeFile(c.path(name), b.Bytes()); err != nil {
			return err
		}
	}
	return nil
}

func sha(password string) string {
	sum := sha256.Sum256([]byte(password))
	return hex.EncodeToString(sum[:])
}

func xmlText(s string) (string, error) {
	var b bytes.Buffer
	err := xml.EscapeText(&b, []byte(s))
	return b.String(), err
}

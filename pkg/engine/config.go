package engine

import (
	"errors"
	"net/url"
	"slices"
	"strconv"

	"lodestone/pkg/config"
)

// Config selects which engines are given by address, and how to run the others.
type Config struct {
	Data  string `name:"data" default:"./data" help:"Directory for all data. Only one process can use it at a time."`
	Cache string `name:"engine-cache" placeholder:"DIR" help:"Directory for the engines' programs, shared by all data directories. Default: lodestone in the user's cache directory; for root /var/cache/lodestone."`

	PostgresURL       string   `name:"postgres-url" placeholder:"URL" help:"Postgres to use instead of the embedded one, as postgres://user:password@host:port/database. Secret."`
	KafkaBrokers      []string `name:"kafka-brokers" placeholder:"HOST:PORT" help:"Kafka to use instead of the embedded broker."`
	ClickHouseURL     string   `name:"clickhouse-url" placeholder:"URL" help:"ClickHouse to use instead of the embedded one, over its native protocol, as clickhouse://user:password@host:port/lodestone. Secret."`
	ClickHouseHTTPURL string   `name:"clickhouse-http-url" placeholder:"URL" help:"HTTP address of the ClickHouse of --clickhouse-url, as http://user:password@host:port. Secret."`
	SQLURL            string   `name:"sql-url" placeholder:"URL" help:"HTTP address of the read-only SQL user on the ClickHouse of --clickhouse-url, as http://user:password@host:port/?database=analytics. Secret."`

	PostgresPort       int `name:"postgres-port" default:"15432" help:"Port of the embedded Postgres. If the port is not free, or 0, any free port is used."`
	KafkaPort          int `name:"kafka-port" default:"19092" help:"Port of the embedded Kafka broker. If the port is not free, or 0, any free port is used."`
	ClickHousePort     int `name:"clickhouse-port" default:"19000" help:"Native port of the embedded ClickHouse. If the port is not free, or 0, any free port is used."`
	ClickHouseHTTPPort int `name:"clickhouse-http-port" default:"18123" help:"HTTP port of the embedded ClickHouse. If the port is not free, or 0, any free port is used."`

	// NoSync trades the safety of the data for speed, in tests.
	NoSync bool `kong:"-"`
	// Launcher is the program lodestone-clickhouse; "" finds it beside this program or on the PATH.
	Launcher string `kong:"-"`
}

// Validate returns every problem of the settings.
func (c Config) Validate() error {
	var errs []error
	wrong := func(setting, wrong, remedy string) { errs = append(errs, config.Invalid(setting, wrong, remedy)) }
	if c.Data == "" {
		wrong("--data", "is empty", "name a directory")
	}
	for _, a := range []struct {
		setting, value, form string
		schemes              []string
	}{
		{"--postgres-url", c.PostgresURL, "postgres://user:password@host:port/database", []string{"postgres", "postgresql"}},
		{"--clickhouse-url", c.ClickHouseURL, "clickhouse://user:password@host:port/lodestone",
			[]string{"clickhouse", "tcp"}},
		{"--clickhouse-http-url", c.ClickHouseHTTPURL, "http://user:password@host:port", []string{"http", "https"}},
		{"--sql-url", c.SQLURL, "http://user:password@host:port/?database=analytics", []string{"http", "https"}},
	} {
		if a.value != "" && !isAddress(a.value, a.schemes) {
			wrong(a.setting, "is not a valid address", "write "+a.form)
		}
	}
	if c.ClickHouseURL == "" {
		if c.ClickHouseHTTPURL != "" {
			wrong("--clickhouse-http-url", "is given without --clickhouse-url", "give both or neither")
		}
		if c.SQLURL != "" {
			wrong("--sql-url", "is given without --clickhouse-url", "give both or neither")
		}
	}
	used := map[int]string{}
	for _, p := range []struct {
		setting string
		port    int
	}{
		{"--postgres-port", c.PostgresPort}, {"--kafka-port", c.KafkaPort},
		{"--clickhouse-port", c.ClickHousePort}, {"--clickhouse-http-port", c.ClickHouseHTTPPort},
	} {
		switch other := used[p.port]; {
		case p.port < 0 || p.port > 65535:
			wrong(p.setting, "is "+strconv.Itoa(p.port), "give a port from 1 to 65535, or 0 for any")
		case p.port != 0 && other != "":
			wrong(p.setting, "is the same as "+other, "give each its own port")
		}
		used[p.port] = p.setting
	}
	return errors.Join(errs...)
}

func isAddress(text string, schemes []string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Host != "" && slices.Contains(schemes, u.Scheme)
}

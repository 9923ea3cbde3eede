package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"lodestone/pkg/clickhouse"
	"lodestone/pkg/config"
	"lodestone/pkg/engine"
	"lodestone/pkg/postgres"
)

// reachTimeout is for connecting to one address of an engine.
const reachTimeout = 5 * time.Second

// checkReach returns every engine given by address that takes no connection. The usual reason is a
// shell into which the settings of an earlier start were read: then the remedy says so.
func checkReach(ctx context.Context, c engine.Config) error {
	var errs []error
	for _, e := range []struct {
		setting, variable, value string
		addresses                func() ([]string, error)
	}{
		{"--postgres-url", "LODESTONE_POSTGRES_URL", c.PostgresURL, postgres.Config{URL: c.PostgresURL}.Addresses},
		{"--kafka-brokers", "LODESTONE_KAFKA_BROKERS", strings.Join(c.KafkaBrokers, ","),
			func() ([]string, error) { return c.KafkaBrokers, nil }},
		{"--clickhouse-url", "LODESTONE_CLICKHOUSE_URL", c.ClickHouseURL, func() ([]string, error) {
			o, err := clickhouse.Config{URL: c.ClickHouseURL}.Options()
			if err != nil {
				return nil, err
			}
			return o.Addr, nil
		}},
	} {
		if e.value == "" {
			continue
		}
		addresses, err := e.addresses()
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if err := dialAny(ctx, addresses); err != nil {
			unset := e.variable
			if e.setting == "--clickhouse-url" {
				unset += " LODESTONE_CLICKHOUSE_HTTP_URL LODESTONE_SQL_URL" // which are refused without it
			}
			remedy := "start that engine, or leave the setting out and it runs here"
			if last, fileErr := readEnvFile(c.Data, e.variable); fileErr == nil && last == e.value {
				remedy = fmt.Sprintf(
					"the address is that of the last start here, from %s: `unset %s`, and the engine runs here again", envFile, unset)
			}
			errs = append(errs, config.Invalid(e.setting, "cannot be reached ("+err.Error()+")", remedy))
		}
	}
	return errors.Join(errs...)
}

// dialAny returns nil if one of the addresses takes a connection, else the error of the first.
func dialAny(ctx context.Context, addresses []string) error {
	var first error
	for _, address := range addresses {
		dial, cancel := context.WithTimeout(ctx, reachTimeout)
		conn, err := new(net.Dialer).DialContext(dial, "tcp", address)
		cancel()
		if err == nil {
			return conn.Close()
		}
		if first == nil {
			first = err
		}
	}
	return first
}

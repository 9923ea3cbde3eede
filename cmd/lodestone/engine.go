package main

import (
	"context"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"lodestone/ingest/stream"
	"lodestone/pkg/clickhouse"
	"lodestone/pkg/config"
	"lodestone/pkg/postgres"
)

// addPostgres opens the pool that the parts of a process share, and closes it after them.
func (p *process) addPostgres(ctx context.Context, c postgres.Config) (*postgres.Pool, error) {
	pool, err := postgres.Open(ctx, c)
	if err != nil {
		return nil, err
	}
	pool.Watch(p.metrics, "main")
	p.checks["postgres"] = pool.CheckSchema
	p.stack.Add("Postgres pool", closing(func() error { pool.Close(); return nil }))
	return pool, nil
}

// addShardCheck refuses to run without a shard that stores events, and makes the process unready
// when one is added that it lacks. Without an answer of Postgres the process starts: nothing is
// read or stored meanwhile.
func (p *process) addShardCheck(ctx context.Context, c clickhouse.Config, pool *postgres.Pool) error {
	p.checks["shards"] = func(ctx context.Context) error { return stream.CheckPlacements(ctx, pool, c) }
	ctx, cancel := context.WithTimeout(ctx, reachTimeout)
	defer cancel()
	if err := stream.CheckPlacements(ctx, pool, c); config.IsInvalid(err) {
		return err
	}
	return nil
}

// addClickHouseCheck makes the process unready while ClickHouse does not answer or its schema does
// not suit this program.
func (p *process) addClickHouseCheck(c clickhouse.Config) error {
	conn, err := clickhouse.Open(c, 1)
	if err != nil {
		return err
	}
	p.checks["clickhouse"] = func(ctx context.Context) error {
		return clickhouse.EachServer(conn, func(server driver.Conn) error { return clickhouse.CheckSchema(ctx, server) })
	}
	p.stack.Add("ClickHouse check", closing(conn.Close))
	return nil
}

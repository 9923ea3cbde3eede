package main

import (
	"context"

	"lodestone/pkg/clickhouse"
	"lodestone/pkg/postgres"
)

// addPostgres opens the pool that the parts of a process share, and closes it after them.
func (p *process) addPostgres(ctx context.Context, c postgres.Config) (*postgres.Pool, error) {
	pool, err := postgres.Open(ctx, c)
	if err != nil {
		return nil, err
	}
	p.checks["postgres"] = pool.CheckSchema
	p.stack.Add("Postgres pool", closing(func() error { pool.Close(); return nil }))
	return pool, nil
}

// addReadingPostgres is addPostgres with a replica for what reads much, if there is one.
func (p *process) addReadingPostgres(ctx context.Context, c postgres.Config, reads postgres.ReadConfig) (*postgres.Pool, error) {
	pool, err := p.addPostgres(ctx, c)
	if err != nil {
		return nil, err
	}
	return pool, pool.AddReplica(ctx, reads, c.MaxConns, p.log, p.metrics)
}

// addClickHouseCheck makes the process unready while ClickHouse does not answer or its schema does not suit this program.
func (p *process) addClickHouseCheck(c clickhouse.Config) error {
	conn, err := clickhouse.Open(c, 1)
	if err != nil {
		return err
	}
	p.checks["clickhouse"] = func(ctx context.Context) error { return clickhouse.CheckSchema(ctx, conn) }
	p.stack.Add("ClickHouse check", closing(conn.Close))
	return nil
}

package clickhouse

import (
	"context"
	"fmt"
	"time"

	native "github.com/ClickHouse/clickhouse-go/v2"

	"lodestone/pkg/schema"
)

// Server is the state of a ClickHouse server that can be read without a schema.
type Server struct {
	Address string
	Now     time.Time
	Disks   []Disk
}

// Disk is one of ClickHouse's.
type Disk struct {
	Name string
	Free uint64 // bytes
}

// Describe asks one server.
func Describe(ctx context.Context, c Config) (s Server, err error) {
	o, err := c.Options()
	if err != nil {
		return s, err
	}
	s.Address = o.Addr[0]
	o.Auth.Database = "" // it may not exist yet
	conn, err := open(o, 1)
	if err != nil {
		return s, err
	}
	defer func() { _ = conn.Close() }() // nothing was written
	if err := conn.QueryRow(ctx, "SELECT now64(3, 'UTC')").Scan(&s.Now); err != nil {
		return s, fmt.Errorf("describe ClickHouse at %s: %w", s.Address, err)
	}
	if s.Disks, err = disks(ctx, conn); err != nil {
		return s, fmt.Errorf("describe ClickHouse at %s: %w", s.Address, err)
	}
	return s, nil
}

// disks returns none if the user may not read the system's table.
func disks(ctx context.Context, conn native.Conn) (all []Disk, err error) {
	rows, err := conn.Query(ctx, "SELECT name, free_space FROM system.disks ORDER BY name")
	if code, _ := IsException(err); code == accessDenied {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for rows.Next() {
		var d Disk
		if err := rows.Scan(&d.Name, &d.Free); err != nil {
			return nil, err
		}
		all = append(all, d)
	}
	return all, rows.Err()
}

// Pending returns the migrations that Migrate would apply to some server. It changes nothing.
func Pending(ctx context.Context, c Config) ([]schema.Migration, error) {
	servers, err := c.Servers()
	if err != nil {
		return nil, err
	}
	everywhere := map[int64]int{}
	for _, server := range servers {
		versions, err := applied(ctx, server)
		if err != nil {
			return nil, err
		}
		for _, v := range versions {
			everywhere[v]++
		}
	}
	done := map[int64]bool{}
	for version, n := range everywhere {
		done[version] = n == len(servers)
	}
	return schema.Pending(migrations, done)
}

// applied returns the numbers of the migrations of a server, each once.
func applied(ctx context.Context, c Config) (versions []int64, err error) {
	o, err := c.Options()
	if err != nil {
		return nil, err
	}
	o.Auth.Database = ""
	conn, err := open(o, 1)
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close() }() // nothing was written
	// Goose writes a row for each change of a migration's state.
	rows, err := conn.Query(ctx,
		"SELECT version_id FROM lodestone.goose_db_version GROUP BY version_id HAVING argMax(is_applied, tstamp) = 1")
	if code, _ := IsException(err); code == unknownTable || code == unknownDatabase {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the migrations of ClickHouse: %w", err)
	}
	for rows.Next() {
		var version int64
		if err := rows.Scan(&version); err != nil {
			return nil, fmt.Errorf("read the migrations of ClickHouse: %w", err)
		}
		versions = append(versions, version)
	}
	return versions, rows.Err()
}

package clickhouse

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	native "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"

	"lodestone/pkg/service"
)

// BackupPlace is where ClickHouse itself writes a backup of one server, and reads it.
type BackupPlace struct {
	Path                      string // on the server's disk, below its setting backups.allowed_path
	URL, AccessKey, SecretKey string // of an object store, if there is no path
}

func (p BackupPlace) String() string {
	literal := func(s string) string { return "'" + quoted.Replace(s) + "'" }
	switch {
	case p.Path != "":
		return "File(" + literal(p.Path) + ")"
	case p.AccessKey != "":
		return "S3(" + literal(p.URL) + ", " + literal(p.AccessKey) + ", " + literal(p.SecretKey) + ")"
	default:
		return "S3(" + literal(p.URL) + ")" // by the role of the server
	}
}

// BackupSize is the size of a backup.
type BackupSize struct {
	Files      uint64 `json:"files"`
	Bytes      uint64 `json:"bytes"`        // of the tables
	Compressed uint64 `json:"bytes_stored"` // of what was written
}

// backupPoll is the time between two looks at a backup that runs.
const backupPoll = 200 * time.Millisecond

// Backup writes our databases of a server to a place.
func Backup(ctx context.Context, server Config, to BackupPlace) (size BackupSize, err error) {
	err = administer(server, func(conn driver.Conn) error {
		names, err := ownDatabases(ctx, conn)
		if err != nil {
			return err
		}
		size, err = runBackup(ctx, conn, "BACKUP DATABASE "+strings.Join(names, ", DATABASE ")+" TO "+to.String())
		return err
	})
	if err != nil {
		return size, fmt.Errorf("back up ClickHouse: %w", err)
	}
	return size, nil
}

// Restore brings the databases of a backup to a server that has none of ours, or none with rows:
// see HasRows.
func Restore(ctx context.Context, server Config, from BackupPlace) error {
	err := administer(server, func(conn driver.Conn) error {
		names, err := ownDatabases(ctx, conn)
		if err != nil {
			return err
		}
		for _, name := range names {
			if err := conn.Exec(ctx, "DROP DATABASE "+name+" SYNC"); err != nil {
				return fmt.Errorf("drop the empty database %s: %w", name, err)
			}
		}
		_, err = runBackup(ctx, conn, "RESTORE ALL FROM "+from.String())
		return err
	})
	if err != nil {
		return fmt.Errorf("restore ClickHouse: %w", err)
	}
	return nil
}

// CheckTables reads every table of our databases on a server whole. The error names one that is
// damaged, and what the server says of it.
func CheckTables(ctx context.Context, server Config) error {
	err := administer(server, func(conn driver.Conn) error {
		tables, err := Strings(ctx, conn, `SELECT concat(database, '.', name) FROM system.tables
			WHERE database IN ('lodestone', 'analytics') AND engine LIKE '%MergeTree' ORDER BY 1`, nil)
		if err != nil {
			return err
		}
		for _, table := range tables {
			if err := checkTable(ctx, conn, table); err != nil {
				return fmt.Errorf("check the table %s: %w", table, err)
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("read ClickHouse whole: %w", err)
	}
	return nil
}

func checkTable(ctx context.Context, conn driver.Conn, table string) error {
	rows, err := conn.Query(ctx,
		"CHECK TABLE "+table+" SETTINGS check_query_single_value_result = 0, max_execution_time = 0")
	if err != nil {
		return err
	}
	var damaged []error
	for rows.Next() {
		var part, reason string
		var passed uint8
		if err := rows.Scan(&part, &passed, &reason); err != nil {
			return errors.Join(err, rows.Close())
		}
		if passed == 0 {
			damaged = append(damaged, fmt.Errorf("its part %s is damaged: %s", part, reason))
		}
	}
	return errors.Join(append(damaged, rows.Err(), rows.Close())...)
}

// PrepareRestore creates what views need and backups of databases lack.
func PrepareRestore(ctx context.Context, server Config) error {
	o, err := server.Options()
	if err != nil {
		return err
	}
	o.Auth.Database = ""
	db := native.OpenDB(o)
	return errors.Join(createFunctions(ctx, db), closed(db))
}

func closed(db *sql.DB) error { return db.Close() }

// HasRows reports whether a server stores anything of ours.
func HasRows(ctx context.Context, server Config) (yes bool, err error) {
	err = administer(server, func(conn driver.Conn) error {
		var rows uint64
		// The id of the shard and the versions of the schema are written before anything else.
		err := conn.QueryRow(ctx, `SELECT sum(rows) FROM system.parts
			WHERE database = 'lodestone' AND active AND table NOT IN ('shard', 'pulse', 'goose_db_version')`).Scan(&rows)
		yes = rows > 0
		return err
	})
	if err != nil {
		return false, fmt.Errorf("look whether ClickHouse is empty: %w", err)
	}
	return yes, nil
}

// ServerState is a backup's record of a server.
type ServerState struct {
	Shard          uint16
	Version        string
	Oldest, Newest time.Time // of events; zero if there are none
}

// State returns the state of a migrated server.
func State(ctx context.Context, server Config) (s ServerState, err error) {
	err = administer(server, func(conn driver.Conn) error {
		err := conn.QueryRow(ctx, "SELECT id, version() FROM lodestone.shard").Scan(&s.Shard, &s.Version)
		if err != nil {
			return err
		}
		var rows uint64
		err = conn.QueryRow(ctx, `SELECT sum(rows), min(min_time), max(max_time) FROM system.parts
			WHERE database = 'lodestone' AND table = 'events' AND active`).Scan(&rows, &s.Oldest, &s.Newest)
		if rows == 0 {
			s.Oldest, s.Newest = time.Time{}, time.Time{}
		}
		return err
	})
	if err != nil {
		return s, fmt.Errorf("look at ClickHouse: %w", err)
	}
	return s, nil
}

// administer calls fn with a connection that is in no database: ours may be missing.
func administer(server Config, fn func(conn driver.Conn) error) error {
	o, err := server.Options()
	if err != nil {
		return err
	}
	o.Auth.Database = ""
	conn, err := open(o, 1)
	if err != nil {
		return err
	}
	return errors.Join(fn(conn), conn.Close())
}

func ownDatabases(ctx context.Context, conn driver.Conn) ([]string, error) {
	names, err := Strings(ctx, conn, "SELECT name FROM system.databases ORDER BY name", nil)
	return slices.DeleteFunc(names, func(name string) bool {
		return name != Database && name != "analytics" && name != AllDatabase
	}), err
}

// runBackup runs a command in the background of the server, where no connection has to last as long
// as it takes, and waits for its end.
func runBackup(ctx context.Context, conn driver.Conn, command string) (size BackupSize, err error) {
	id := uuid.NewString()
	if err := conn.Exec(ctx, command+" SETTINGS id = '"+id+"' ASYNC"); err != nil {
		return size, backupError(err)
	}
	for {
		var status, reason string
		err := conn.QueryRow(ctx,
			"SELECT status, error, num_files, total_size, compressed_size FROM system.backups WHERE id = ?", id).
			Scan(&status, &reason, &size.Files, &size.Bytes, &size.Compressed)
		switch {
		case ctx.Err() != nil:
			return size, errors.Join(ctx.Err(), stopBackup(ctx, conn, id))
		case err != nil:
			return size, fmt.Errorf("look at the backup: %w", err)
		case status == "BACKUP_CREATED" || status == "RESTORED":
			return size, nil
		case reason != "" || strings.HasSuffix(status, "FAILED") || strings.HasSuffix(status, "CANCELLED"):
			reason, _, _ = strings.Cut(reason, "Stack trace")
			return size, fmt.Errorf("%s: %s", status, strings.TrimRight(reason, " ,.\n"))
		}
		_ = service.Sleep(ctx, backupPoll) // the end of ctx is seen above
	}
}

const stopTimeout = 5 * time.Second

// stopBackup ends what the server does in the background.
func stopBackup(ctx context.Context, conn driver.Conn, id string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer cancel()
	return conn.Exec(ctx, "KILL QUERY WHERE query_id IN (SELECT query_id FROM system.backups WHERE id = '"+id+"') ASYNC")
}

// backupError says what to do about settings of the server that forbid backups.
func backupError(err error) error {
	const invalidConfigParameter = 318
	if code, _ := IsException(err); code == invalidConfigParameter {
		return fmt.Errorf("the server may not write there: add the directory to its setting backups.allowed_path (docs/backup.md): %w", err)
	}
	return err
}

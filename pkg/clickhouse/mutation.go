package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"time"

	native "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

const mutationPoll = time.Second

// AwaitMutations waits until ClickHouse has made all changes of a table of lodestone that were
// asked for, by whichever process, with a command that begins with a text, as system.mutations
// lists it. The error is that of one that cannot be made, if there is one.
func AwaitMutations(ctx context.Context, conn driver.Conn, table, command string) error {
	ticker := time.NewTicker(mutationPoll)
	defer ticker.Stop()
	for {
		// Those that cannot be made come first.
		failed, err := Strings(ctx, conn, `SELECT latest_fail_reason FROM system.mutations
			WHERE database = 'lodestone' AND table = {table:String} AND NOT is_done AND NOT is_killed AND startsWith(command, {command:String})
			ORDER BY latest_fail_reason DESC`,
			native.Parameters{"table": table, "command": command})
		switch {
		case err != nil:
			return fmt.Errorf("look for changes of %s: %w", table, err)
		case len(failed) == 0:
			return nil
		case failed[0] != "":
			return errors.New("ClickHouse cannot change rows of " + table + ": " + failed[0])
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return fmt.Errorf("wait for ClickHouse to change rows: %w", ctx.Err())
		}
	}
}

// Strings returns a result of one column of texts.
func Strings(ctx context.Context, conn driver.Conn, query string,
	parameters native.Parameters) (list []string, err error) {
	rows, err := conn.Query(native.Context(ctx, native.WithParameters(parameters)), query)
	if err != nil {
		return nil, fmt.Errorf("ask ClickHouse: %w", err)
	}
	for rows.Next() && err == nil {
		var text string
		err = rows.Scan(&text)
		list = append(list, text)
	}
	if err = errors.Join(err, rows.Err(), rows.Close()); err != nil {
		return nil, fmt.Errorf("ask ClickHouse: %w", err)
	}
	return list, nil
}

package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"

	native "github.com/ClickHouse/clickhouse-go/v2"
)

// confining are the first versions of each release that check rights also where PARALLEL WITH joins
// statements, as of ClickHouse's pull request 119848 and its backports. They also check settings of
// subqueries (115397) and settings that are reset (115334), the newer versions of a release
// included. Releases after the last one have the check from their first version. 26.3 and 26.6 have
// it too, and are not here: they may not know all that deploy/clickhouse sets, and a server does
// not start with a setting that it does not know.
var confining = [][]int{{26, 7, 11, 12}, {26, 8, 7, 16}, {26, 9, 1, 1600}}

var fourNumbers = regexp.MustCompile(`(\d+)\.(\d+)\.(\d+)\.(\d+)`)

// Confines reports whether a server of a version, which may be part of a longer text, can have SQL
// users: it prevents read-only users from creating databases, views and dictionaries, and knows the
// settings of their profile.
func Confines(version string) bool {
	found := fourNumbers.FindStringSubmatch(version)
	if found == nil {
		return false
	}
	var v []int
	for _, text := range found[1:] {
		n, err := strconv.Atoi(text)
		if err != nil {
			return false
		}
		v = append(v, n)
	}
	for _, first := range confining {
		if slices.Equal(v[:2], first[:2]) {
			return slices.Compare(v, first) >= 0
		}
	}
	return slices.Compare(v, confining[len(confining)-1]) > 0
}

// Unconfined asks each server that answers for its version and reports whether one lacks this
// check. A server that does not know the statement does not lack it.
func Unconfined(ctx context.Context, c Config) (yes bool, version string, err error) {
	conn, err := Open(c, 1)
	if err != nil {
		return false, "", err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	err = EachServer(conn, func(server native.Conn) error {
		var known bool
		var is string
		if err := server.QueryRow(ctx,
			"SELECT formatQueryOrNull('CREATE DATABASE a PARALLEL WITH CREATE DATABASE b') IS NOT NULL, version()").Scan(&known,
			&is); err != nil {
			return fmt.Errorf("ask ClickHouse for its version: %w", err)
		}
		if lacks := known && !Confines(is); lacks || !yes {
			yes, version = lacks, is
		}
		return nil
	})
	return yes, version, err
}

// Package schema says whether the schema of a store and a program fit each other.
package schema

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/pressly/goose/v3"
)

// migrateFirst is the remedy for a schema that is absent or too old.
const migrateFirst = "run `lodestone migrate` of this version"

// Error says that a program and the schema of a store do not fit each other, and what to do.
type Error struct {
	Store  string // "Postgres" or "ClickHouse"
	Wrong  string
	Remedy string
}

// Error implements error.
func (e *Error) Error() string { return e.Store + " " + e.Wrong + ": " + e.Remedy }

// IsMismatch reports whether an error says that the schema of a store is absent, incomplete, too
// old or too new for this program.
func IsMismatch(err error) bool {
	_, yes := errors.AsType[*Error](err)
	return yes
}

// Compare returns an *Error unless a store's schema has all migrations below the folder migrations
// of known. A version of 0 says that there is no schema. A newer version is accepted: migrations
// add, and what is not used any more is removed one minor version later.
func Compare(store string, version int64, known fs.FS) error {
	if err := CompareOrigin(store, version, known); err != nil {
		return err
	}
	newest, err := Newest(known)
	if err != nil {
		return err
	}
	switch {
	case version == 0:
		return &Error{Store: store, Wrong: "has no schema of Lodestone", Remedy: migrateFirst}
	case version < newest:
		return &Error{Store: store, Wrong: fmt.Sprintf("has schema %d, and this program needs %d", version,
			newest), Remedy: migrateFirst}
	}
	return nil
}

// CompareOrigin returns an *Error if a store's schema is older than the first migration: a checkout
// from before the first release made it, and nothing leads from there to here.
func CompareOrigin(store string, version int64, known fs.FS) error {
	first, _, err := bounds(known)
	if err != nil || version == 0 || version >= first {
		return err
	}
	return &Error{
		Store:  store,
		Wrong:  fmt.Sprintf("has schema %d, of a checkout from before the first release", version),
		Remedy: "export its leads and events with that checkout, and start with empty databases or an empty data directory (docs/upgrade.md)",
	}
}

// Incomplete returns the error of a store that lost a part of its schema, for example because a
// dump was restored only in part.
func Incomplete(store, wrong string) error {
	return &Error{Store: store, Wrong: wrong, Remedy: migrateFirst + ", which repairs it"}
}

// Newest returns the highest number of the migrations below the folder migrations of files.
func Newest(files fs.FS) (version int64, err error) {
	_, version, err = bounds(files)
	return version, err
}

// bounds returns the lowest and the highest number of the migrations.
func bounds(files fs.FS) (first, newest int64, err error) {
	entries, err := fs.ReadDir(files, "migrations")
	if err != nil {
		return 0, 0, fmt.Errorf("read migrations: %w", err)
	}
	for i, e := range entries {
		number, err := goose.NumericComponent(e.Name())
		if err != nil {
			return 0, 0, fmt.Errorf("read the number of migration %s: %w", e.Name(), err)
		}
		if i == 0 {
			first = number
		}
		first, newest = min(first, number), max(newest, number)
	}
	return first, newest, nil
}

// Migration is one that a store lacks.
type Migration struct {
	Number int64  `json:"number"`
	Name   string `json:"name"`
}

// Pending returns the migrations of the folder migrations that are not applied, in their order.
func Pending(files fs.FS, applied map[int64]bool) (pending []Migration, err error) {
	entries, err := fs.ReadDir(files, "migrations")
	if err != nil {
		return nil, fmt.Errorf("read migrations: %w", err)
	}
	for _, e := range entries {
		number, err := goose.NumericComponent(e.Name())
		if err != nil {
			return nil, fmt.Errorf("read the number of migration %s: %w", e.Name(), err)
		}
		if applied[number] {
			continue
		}
		_, name, _ := strings.Cut(strings.TrimSuffix(e.Name(), path.Ext(e.Name())), "_")
		pending = append(pending, Migration{Number: number, Name: strings.ReplaceAll(name, "_", " ")})
	}
	return pending, nil
}

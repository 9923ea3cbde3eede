package install

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// patch changes installed files. Its name is part of the name of the directory, so that another
// patch is another installation.
type patch struct {
	name string
	do   func(dir string) error
}

// removedKeywords are removed from the library: each begins a way around the limits of read-only
// users. A control character replaces one letter, so no statement can spell the keyword. The
// terminating zeros restrict the match to the keyword itself.
//
// PARALLEL WITH: ClickHouse 26.7.2, the newest version available as a library, executes the
// statements that it joins without checking rights, so these users could create databases, views
// and dictionaries, and with those reach the network (ClickHouse's pull request 119848 fixes it,
// see clickhouse.Confines).
//
// RECURSIVE: a recursive common table expression runs queries within a query. In a workload with a
// bound on threads, the outer query keeps its thread while the inner ones wait for theirs, without
// a timeout: one statement stops all SQL users for good. No bound is high enough, since a statement
// may have any number of such expressions.
var removedKeywords = []struct{ keyword, text string }{
	{"PARALLEL WITH\x00", "PARALLEL\x01WITH\x00"},
	{"\x00RECURSIVE\x00", "\x00RECURS\x01VE\x00"},
}

// instructions are machine code of the library, replaced by other code of the same length.
// ClickHouse 26.7.2 applies two kinds of settings without a look at the constraints of the user, so
// that SQL users could leave read-only mode, lift their limits, read rows of other accounts, and
// read and write any file.
//
// A SETTINGS clause of a subquery (QueryTreeBuilder::buildSelectExpression): before settings are
// applied to the subquery, they are checked as those of the whole query are. A comparison that is
// never true makes room for the call of Context::checkSettingsConstraints (ClickHouse's pull
// request 115397 fixes it).
//
// SET name = DEFAULT (Context::resetSettingsToDefaultValue): the function returns at its beginning,
// so a reset changes nothing (ClickHouse's pull request 115334 fixes it).
//
// clickhouse.Confines accepts the versions that have both fixes.
var instructions = map[string][]struct{ closes, code, text string }{
	"lib-linux-x64-gnu": {{
		closes: "settings of subqueries",
		code: "\x49\x8b\x44\x24\x28\x49\x3b\x44\x24\x30\x74\x4c" +
			"\x48\x8b\xbc\x24\x30\x03\x00\x00\x48\x89\xde\xe8\xb2\xe7\x96\x00" + // apply
			"\x48\x8d\x84\x24\xf0\x03\x00\x00\x48\x39\xd8\x74\x2f",
		text: "\x48\x8b\x03\x48\x3b\x43\x08\x74\x4f" +
			"\x4c\x8b\xbc\x24\x30\x03\x00\x00\x4c\x89\xff\x48\x89\xde\x31\xd2\xe8\xb0\xf0\x96\x00" + // check
			"\x4c\x89\xff\x48\x89\xde\xe8\xa5\xe7\x96\x00", // apply
	}, {
		closes: "SET DEFAULT",
		code:   "\x41\x57\x41\x56\x41\x54\x53\x50\x49\x89\xf7\x49\x89\xfe\x48\x8d\x9f\xf0\x0c\x00\x00\x48\x89\xdf",
		text:   "\xc3\x57\x41\x56\x41\x54\x53\x50\x49\x89\xf7\x49\x89\xfe\x48\x8d\x9f\xf0\x0c\x00\x00\x48\x89\xdf",
	}},
}

var confined = patch{name: "without PARALLEL WITH, RECURSIVE and SET DEFAULT, settings of subqueries checked",
	do: func(dir string) error {
		return eachLibrary(dir, func(path string) error {
			known := instructions[filepath.Base(filepath.Dir(path))]
			if known == nil {
				return fmt.Errorf("%s cannot confine SQL users: the instructions to replace are not known", path)
			}
			for _, i := range known {
				n, err := overwrite(path, []byte(i.code), []byte(i.text))
				if err == nil && n != 1 {
					err = fmt.Errorf("it has the code %d times", n)
				}
				if err != nil {
					return fmt.Errorf("close %s in %s: %w", i.closes, path, err)
				}
			}
			for _, r := range removedKeywords {
				n, err := overwrite(path, []byte(r.keyword), []byte(r.text))
				if err == nil && n == 0 {
					err = errors.New("it has no such keyword")
				}
				if err != nil {
					return fmt.Errorf("remove %s from %s: %w", strings.Trim(r.keyword, "\x00"), path, err)
				}
			}
			return nil
		})
	}}

// libraryNames are the files that contain the server.
var libraryNames = []string{"libchdb.so", "libchdb.dylib"}

func eachLibrary(dir string, do func(path string) error) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		for _, name := range libraryNames {
			if d.Type().IsRegular() && d.Name() == name {
				return do(path)
			}
		}
		return nil
	})
}

// overwrite replaces each occurrence of old in a file by text of the same length, and returns the
// number of replacements.
func overwrite(path string, old, text []byte) (n int, err error) {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	chunk := make([]byte, 1<<20)
	carried := 0 // bytes at the beginning of chunk from the last read, since an occurrence may begin there
	for at := int64(0); ; {
		read, err := io.ReadFull(file, chunk[carried:])
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return n, err
		}
		have := chunk[:carried+read]
		for from := 0; ; {
			i := bytes.Index(have[from:], old)
			if i < 0 {
				break
			}
			if _, err := file.WriteAt(text, at+int64(from+i)); err != nil {
				return n, err
			}
			n++
			from += i + len(old)
		}
		if err != nil { // the end
			return n, file.Sync()
		}
		carried = copy(chunk, have[len(have)-len(old)+1:])
		at += int64(len(have) - carried)
	}
}

package flush

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// settle is how long a directory may change without a change of its modification time: twice the
// resolution of the coarsest clock of a file system. For so long it is listed again.
const settle = 4 * time.Second

// lazy is the minimum time between two syncs of an index. Acknowledged records are in the segment;
// the index beside it only lists transactions that are open, which are not used here, and is
// treated as empty where it is missing.
const lazy = time.Second

// indexKind is the extension of an index.
const indexKind = ".idx"

// folder is a directory in whose files the broker appends. Its open files cannot be mistaken for
// new ones of the same name.
type folder struct {
	path  string
	kinds []string // of files that are appended to, by their extension

	dir      *os.File // nil: it is not there
	info     os.FileInfo
	seen     time.Time // when its time of change was first what it is
	listed   time.Time
	names    []string
	unheard  bool // names were listed and not returned yet
	appended map[string]*growingFile
	segments bool // of its files, only those of the last segment grow
}

// growingFile is a file that grows.
type growingFile struct {
	file   *os.File // nil: it grows no more, and is synced
	info   os.FileInfo
	synced int64 // bytes
	last   bool  // false: another one grows in its place
	index  bool
	at     time.Time // when it was last synced
}

// due reports whether a file of size bytes is to be synced now.
func (a *growingFile) due(size int64, now time.Time) bool {
	return size != a.synced && (!a.index || !a.last || now.Sub(a.at) >= lazy)
}

func newFolder(path string, kinds ...string) *folder {
	return &folder{path: path, kinds: kinds, appended: map[string]*growingFile{}}
}

// look adds to work the directory if it has changed, and the files that have grown.
func (f *folder) look(work []*os.File) ([]*os.File, error) {
	changed, err := f.check()
	if err != nil || f.dir == nil {
		return work, err
	}
	if changed || f.listed.Sub(f.seen) < settle {
		names, err := f.list()
		if err != nil {
			return work, err
		}
		changed = changed || !slices.Equal(names, f.names)
		f.names, f.unheard = names, true
	}
	if changed {
		work = append(work, f.dir)
	}
	now := time.Now()
	for _, a := range f.appended {
		if a.file == nil {
			continue
		}
		info, err := a.file.Stat()
		if err != nil {
			return work, err
		}
		switch {
		case a.due(info.Size(), now):
			a.synced, a.at = info.Size(), now
			work = append(work, a.file)
		case !a.last: // and synced
			_ = a.file.Close() // it was only read
			a.file = nil
		}
	}
	return work, nil
}

// check finds out whether the directory has changed.
func (f *folder) check() (bool, error) {
	info, err := os.Stat(f.path)
	if gone := errors.Is(err, fs.ErrNotExist); gone || err == nil && f.dir != nil && !os.SameFile(info, f.info) {
		f.close()
		if gone {
			return false, nil
		}
	}
	if err != nil {
		return false, err
	}
	if f.dir == nil {
		if f.dir, err = os.Open(f.path); err != nil {
			f.dir = nil
			if errors.Is(err, fs.ErrNotExist) {
				return false, nil
			}
			return false, err
		}
		if info, err = f.dir.Stat(); err != nil {
			return false, err
		}
	} else if info.ModTime().Equal(f.info.ModTime()) {
		return false, nil
	}
	f.info, f.seen = info, time.Now()
	return true, nil
}

// list reads the names in the directory, and opens files that are new.
func (f *folder) list() ([]string, error) {
	f.listed = time.Now()
	if _, err := f.dir.Seek(0, 0); err != nil {
		return nil, err
	}
	names, err := f.dir.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	slices.Sort(names)
	for name, a := range f.appended {
		if _, there := slices.BinarySearch(names, name); !there {
			a.close()
			delete(f.appended, name)
		}
	}
	last := f.lastOf(names)
	for _, name := range names {
		if !slices.Contains(f.kinds, filepath.Ext(name)) {
			continue
		}
		if err := f.take(name, last); err != nil {
			return nil, err
		}
	}
	return names, nil
}

// take registers a file of the directory, and opens it if it may grow.
func (f *folder) take(name, last string) error {
	grows := !f.segments || strings.TrimSuffix(name, filepath.Ext(name)) == last
	path := filepath.Join(f.path, name)
	if a := f.appended[name]; a != nil {
		a.last = grows
		if a.file == nil {
			return nil
		}
		if info, err := os.Stat(path); err == nil && os.SameFile(info, a.info) {
			return nil
		}
		a.close() // another one is there now
		delete(f.appended, name)
	}
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // gone since the directory was listed
	}
	if err != nil {
		return err
	}
	info, err := file.Stat()
	if err != nil {
		return errors.Join(err, file.Close())
	}
	f.appended[name] = &growingFile{file: file, info: info, synced: -1, last: grows,
		index: filepath.Ext(name) == indexKind}
	return nil
}

// lastOf returns the name of the last segment, without its extension.
func (f *folder) lastOf(names []string) string {
	last := int64(-1)
	for _, name := range names {
		if base, err := strconv.ParseInt(strings.TrimSuffix(name, filepath.Ext(name)), 10, 64); err == nil {
			last = max(last, base)
		}
	}
	return strconv.FormatInt(last, 10)
}

// fresh returns the names in the directory if they were listed since it was last called.
func (f *folder) fresh() []string {
	if !f.unheard {
		return nil
	}
	f.unheard = false
	return f.names
}

// close forgets everything.
func (f *folder) close() {
	for _, a := range f.appended {
		a.close()
	}
	clear(f.appended)
	if f.dir != nil {
		_ = f.dir.Close() // it was only read
	}
	f.dir, f.names, f.unheard = nil, nil, false
}

func (a *growingFile) close() {
	if a.file != nil {
		_ = a.file.Close() // it was only read
		a.file = nil
	}
}

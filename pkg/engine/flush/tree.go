package flush

import (
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"
)

// atOnce is how many files are synced at the same time: the disk takes many writes together.
const atOnce = 16

// tree is the log's directories: the broker's own, with the logs of groups and producers, and one
// for each partition.
type tree struct {
	own        *folder
	partitions *folder
	each       map[string]*folder // of a partition, by its name
}

func newTree(dir string) *tree {
	return &tree{
		own:        newFolder(dir, ".log"),
		partitions: newFolder(filepath.Join(dir, "partitions")),
		each:       map[string]*folder{},
	}
}

// flush syncs everything that has changed since the last call. A directory is checked before its
// files: no caller waits for files that appear meanwhile.
func (t *tree) flush(sync func(*os.File) error) error {
	work, err := t.look()
	if err != nil {
		return err
	}
	var all errgroup.Group
	all.SetLimit(atOnce)
	for _, file := range work {
		all.Go(func() error { return sync(file) })
	}
	return all.Wait()
}

// look returns the files to sync.
func (t *tree) look() (work []*os.File, err error) {
	if work, err = t.own.look(work); err != nil {
		return nil, err
	}
	if work, err = t.partitions.look(work); err != nil {
		return nil, err
	}
	for _, name := range t.partitions.fresh() {
		if t.each[name] == nil {
			p := newFolder(filepath.Join(t.partitions.path, name), ".dat", indexKind)
			p.segments = true
			t.each[name] = p
		}
	}
	for name, p := range t.each {
		if work, err = p.look(work); err != nil {
			return nil, err
		}
		if p.dir == nil { // its topic was deleted
			delete(t.each, name)
		}
	}
	return work, nil
}

// finish marks everything as due for the next look.
func (t *tree) finish() {
	for _, p := range t.each {
		for _, a := range p.appended {
			a.at = time.Time{}
		}
	}
}

func (t *tree) close() {
	t.own.close()
	t.partitions.close()
	for _, p := range t.each {
		p.close()
	}
}

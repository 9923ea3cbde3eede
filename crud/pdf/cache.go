package pdf

import (
	"fmt"
	"os"
	"path/filepath"
)

// cache is the directory in which the compiled reader is kept. Whoever can write there decides what
// the process that reads does, so it is ours alone.
type cache struct {
	dir       string
	temporary bool
}

// openCache returns the user's own cache directory if there is one, so that the reader is compiled
// once on a machine, and else one that is removed with the reader.
func openCache() (*cache, error) {
	if base, err := os.UserCacheDir(); err == nil {
		dir := filepath.Join(base, "lodestone", "pdf-reader")
		if os.MkdirAll(dir, 0o700) == nil && private(dir) {
			return &cache{dir: dir}, nil
		}
	}
	dir, err := os.MkdirTemp("", "lodestone-pdf-reader-*")
	if err != nil {
		return nil, fmt.Errorf("make a directory for the compiled reader of PDFs: %w", err)
	}
	return &cache{dir: dir, temporary: true}, nil
}

func (c *cache) close() {
	if c.temporary {
		_ = os.RemoveAll(c.dir)
	}
}

package doctor

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"lodestone/pkg/config"
	"lodestone/pkg/token"
)

// tokenKeys examines the keys of tokens: those that are given, else those of the data directory. Processes without tokens need none.
func (m Machine) tokenKeys(r *Report) {
	keys, where := m.TokenKeys, "--token-keys ("+config.EnvName("--token-keys")+")"
	if keys == "" && m.Data != "" {
		where = filepath.Join(m.Data, "token-keys")
		text, err := os.ReadFile(where)
		if errors.Is(err, fs.ErrNotExist) && m.ranHere() {
			r.warn("secrets", "write them back from a copy, or give --token-keys as the processes have it", "%s does not exist, and --token-keys is not given: what the keys signed and encrypted is lost without them", where)
		} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
			r.fail("secrets", "give it to the user of the process", "%s cannot be read: %v", where, err)
		}
		keys = strings.TrimSpace(string(text))
	}
	if keys == "" {
		return // an empty file is reported
	}
	ring, err := token.Config{Keys: keys}.Ring()
	for _, p := range config.Problems(err) {
		r.fail("settings", p.Remedy, "%s %s", where, p.Wrong)
	}
	if err != nil {
		return
	}
	ids := ring.IDs()
	r.ok("settings", "%s has %d keys, and key %d signs", where, len(ids), ids[0])
}

// ranHere reports whether a `lodestone up` ran in the data directory.
func (m Machine) ranHere() bool {
	_, err := os.Stat(filepath.Join(m.Data, "lodestone.env"))
	return err == nil
}

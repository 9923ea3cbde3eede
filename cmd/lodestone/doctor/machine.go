package doctor

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"lodestone/pkg/config"
	"lodestone/pkg/engine/install"
)

// Limits.
const (
	maxSkew  = time.Second // between two clocks: sessions and tokens are counted in seconds
	warnSkew = 200 * time.Millisecond

	minClickHouse = 1 << 30 // bytes; it refuses inserts below 256 MiB
	minSpool      = 256 << 20
	minData       = 1 << 30
	minErasureLog = 64 << 20 // its entries are small

	warnExpiry = 14 * 24 * time.Hour // of certificates

	synchronise = "let chrony, systemd-timesyncd or another client of NTP run on every machine"
)

// clock compares the time that an engine answered with the time here, which was between asked and answered.
func (r *Report) clock(name string, at, asked, answered time.Time) {
	skew := time.Duration(0)
	switch {
	case at.Before(asked):
		skew = asked.Sub(at)
	case at.After(answered):
		skew = at.Sub(answered)
	}
	switch {
	case skew > maxSkew:
		r.fail("clock", synchronise, "%s differs from the clock here by %s", name, skew.Round(time.Millisecond))
	case skew > warnSkew:
		r.warn("clock", synchronise, "%s differs from the clock here by %s", name, skew.Round(time.Millisecond))
	default:
		r.ok("clock", "%s agrees with the clock here", name)
	}
}

// disk reports free space. A tenth of a small disk may be enough, so bytes decide.
func (r *Report) disk(area, name string, free, total, need uint64) {
	const remedy = "free some space, shorten what is kept (docs/operations.md), or use a larger disk"
	percent := uint64(100)
	if total > 0 {
		percent = free * 100 / total
	}
	switch {
	case free < need:
		r.fail(area, remedy, "%s has %d MiB free, and %d MiB are needed", name, free>>20, need>>20)
	case free < 4*need || percent < 5:
		r.warn(area, remedy, "%s has %d MiB free", name, free>>20)
	default:
		r.ok(area, "%s has %d MiB free", name, free>>20)
	}
}

// Machine is what is examined of this machine.
type Machine struct {
	Spool     string   // directory, or ""
	Data      string   // of a `lodestone up`, or ""
	Addresses []string // of the site and the collector, as visitors see them
	Listeners []Listener
	Environ   []string
	Unknown   []string // variables that no command has
	TokenKeys string   // that are given, or ""; secret
}

// Check examines the machine.
func (m Machine) Check(ctx context.Context, r *Report) {
	if len(m.Unknown) > 0 {
		r.warn("settings", "correct their names, or remove them", "no command has a setting for %s", strings.Join(m.Unknown, ", "))
	}
	m.directories(r)
	m.secrets(r)
	m.tokenKeys(r)
	for _, l := range m.Listeners {
		r.listener(l)
	}
	for _, address := range m.Addresses {
		r.address(ctx, address)
	}
}

func (m Machine) directories(r *Report) {
	if m.Spool != "" {
		r.directory("the spool "+m.Spool, m.Spool, minSpool)
	}
	if _, err := os.Stat(m.Data); m.Data != "" && !errors.Is(err, fs.ErrNotExist) { // else nothing runs there
		r.directory("the data directory "+m.Data, m.Data, minData)
	}
}

// directory reports whether a directory can be written, and its disk.
func (r *Report) directory(name, dir string, need uint64) {
	info, err := os.Stat(dir)
	if err != nil || !info.IsDir() {
		r.fail("disk", "create it for the user of the process, or give another", "%s is no directory that can be read (%v)", name, err)
		return
	}
	r.writable(name, dir)
	free, err := install.Free(dir)
	if err != nil {
		r.warn("disk", "look at the disk", "%s: %v", name, err)
		return
	}
	r.disk("disk", name, uint64(max(free, 0)), 0, need)
}

// writable reports a directory in which no file can be made, or from which it cannot be removed again.
func (r *Report) writable(name, dir string) bool {
	probe, err := os.CreateTemp(dir, ".doctor-")
	if err != nil {
		r.fail("disk", "give it to the user of the process, and mount it writable", "%s cannot be written: %v", name, err)
		return false
	}
	if err := errors.Join(probe.Close(), os.Remove(probe.Name())); err != nil {
		r.warn("disk", "remove files named .doctor-*", "%s: %v", name, err)
	}
	return true
}

// secrets examines the files that variables name and those of a data directory.
func (m Machine) secrets(r *Report) {
	var files []string
	for _, variable := range m.Environ {
		name, path, _ := strings.Cut(variable, "=")
		if strings.HasPrefix(name, config.EnvPrefix+"_") && strings.HasSuffix(name, "_FILE") && path != "" {
			files = append(files, path)
		}
	}
	if m.Data != "" {
		for _, name := range []string{"lodestone.env", "token-keys", "dev-secret", "api-key"} {
			if _, err := os.Stat(filepath.Join(m.Data, name)); err == nil {
				files = append(files, filepath.Join(m.Data, name))
			}
		}
	}
	for _, file := range files {
		info, err := os.Stat(file)
		switch {
		case err != nil:
			r.fail("secrets", "write the file, or correct the variable that names it", "%s cannot be read: %v", file, err)
		case info.Size() == 0:
			r.fail("secrets", "write the secret into it", "%s is empty", file)
		case info.Mode().Perm()&0o007 != 0 && readable(filepath.Dir(file)):
			r.warn("secrets", "chmod o= "+file, "%s is open to every user of this machine (mode %04o)", file, info.Mode().Perm())
		default:
			r.ok("secrets", "%s is readable by its owner only", file)
		}
	}
}

// readable reports whether every user can enter a directory: files in a private one may have any mode.
func readable(dir string) bool {
	for {
		info, err := os.Stat(dir)
		if err != nil || info.Mode().Perm()&0o001 == 0 {
			return false
		}
		if dir = filepath.Dir(dir); dir == filepath.Dir(dir) {
			return true
		}
	}
}

// Package mailbox is the mailbox of `lodestone up`: it keeps the mails that would be sent in a
// directory, and pages show them. It is for trying Lodestone without an SMTP server: no mail in it
// reaches its receiver.
package mailbox

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"lodestone/crud/mail"
)

// Keep is how many mails are kept; older ones are removed.
const Keep = 200

// Mailbox keeps mails as files, named so that they sort by their time. It is safe for concurrent
// use.
type Mailbox struct {
	dir   string
	mu    sync.Mutex
	names []string // of files, the oldest first
}

var _ mail.Mailbox = (*Mailbox)(nil)

const (
	idTime    = "20060102T150405.000000000"
	extension = ".json"
)

var isName = regexp.MustCompile(`^\d{8}T\d{6}\.\d{9}-[A-Z2-7]{8}\.json$`)

// New returns the mailbox in a directory, which it creates.
func New(dir string) (*Mailbox, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("create mailbox: %w", err)
	}
	entries, err := os.ReadDir(dir) // sorted
	if err != nil {
		return nil, fmt.Errorf("open mailbox: %w", err)
	}
	m := &Mailbox{dir: dir}
	for _, e := range entries {
		if isName.MatchString(e.Name()) {
			m.names = append(m.names, e.Name())
		}
	}
	return m, nil
}

// Deliver implements mail.Mailbox.
func (m *Mailbox) Deliver(r mail.Rendered) error { return m.add(r, time.Now()) }

func (m *Mailbox) add(r mail.Rendered, at time.Time) error {
	content, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("encode mail: %w", err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	name := at.UTC().Format(idTime) + "-" + rand.Text()[:8] + extension
	if err := m.write(name, content); err != nil {
		return fmt.Errorf("keep mail: %w", err)
	}
	m.names = append(m.names, name)
	slices.Sort(m.names) // the clock may have been set back
	for len(m.names) > Keep {
		if err := m.removeOldest(); err != nil {
			return err
		}
	}
	return nil
}

// write writes a file whole: a killed process leaves no part of it under its name. The caller holds
// the lock.
func (m *Mailbox) write(name string, content []byte) error {
	unfinished := filepath.Join(m.dir, "unfinished")
	if err := os.WriteFile(unfinished, content, 0o600); err != nil {
		return err
	}
	return os.Rename(unfinished, filepath.Join(m.dir, name))
}

// Prune implements mail.Mailbox.
func (m *Mailbox) Prune(before time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for first := before.UTC().Format(idTime); len(m.names) > 0 && m.names[0] < first; {
		if err := m.removeOldest(); err != nil {
			return err
		}
	}
	return nil
}

// removeOldest removes the oldest mail. The caller holds the lock.
func (m *Mailbox) removeOldest() error {
	if err := os.Remove(filepath.Join(m.dir, m.names[0])); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove old mail: %w", err)
	}
	m.names = m.names[1:]
	return nil
}

// list returns up to limit mails, those to one address unless that is "", the newest first. A file
// that was removed is left out.
func (m *Mailbox) list(to string, limit int) ([]Mail, error) {
	m.mu.Lock()
	names := slices.Clone(m.names)
	m.mu.Unlock()
	mails := []Mail{}
	for _, name := range slices.Backward(names) {
		if len(mails) == limit {
			break
		}
		r, err := m.read(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if to == "" || strings.EqualFold(r.To, to) {
			mails = append(mails, view(idOf(name), r))
		}
	}
	return mails, nil
}

// get returns the mail with an id; fs.ErrNotExist says that there is none.
func (m *Mailbox) get(id string) (mail.Rendered, error) {
	m.mu.Lock()
	at := slices.IndexFunc(m.names, func(name string) bool { return idOf(name) == id })
	name := ""
	if at >= 0 {
		name = m.names[at]
	}
	m.mu.Unlock()
	if name == "" {
		return mail.Rendered{}, fmt.Errorf("read mail: %w", fs.ErrNotExist)
	}
	return m.read(name)
}

// idOf returns the id of the mail in a file.
func idOf(name string) string { return strings.TrimSuffix(name, extension) }

func (m *Mailbox) read(name string) (r mail.Rendered, err error) {
	content, err := os.ReadFile(filepath.Join(m.dir, name))
	if err != nil {
		return r, fmt.Errorf("read mail: %w", err)
	}
	if err := json.Unmarshal(content, &r); err != nil {
		return r, fmt.Errorf("read mail: %w", err)
	}
	return r, nil
}

package mail

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
)

// mailboxSize is how many mails are kept; older ones are removed.
const mailboxSize = 200

// FileMailbox is the mailbox of `lodestone up`: it keeps the mails that would be sent in a
// directory, as files that are named so that they sort by their time, and MailboxPages shows them.
// It is for trying Lodestone without an SMTP server: no mail in it reaches its receiver. It is safe
// for concurrent use.
type FileMailbox struct {
	dir   string
	mu    sync.Mutex
	names []string // of files, the oldest first
}

var _ Mailbox = (*FileMailbox)(nil)

const (
	mailboxTime      = "20060102T150405.000000000"
	mailboxExtension = ".json"
)

var isMailboxFile = regexp.MustCompile(`^\d{8}T\d{6}\.\d{9}-[A-Z2-7]{8}\.json$`)

// NewFileMailbox returns the mailbox in a directory, which it creates.
func NewFileMailbox(dir string) (*FileMailbox, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("create mailbox: %w", err)
	}
	entries, err := os.ReadDir(dir) // sorted
	if err != nil {
		return nil, fmt.Errorf("open mailbox: %w", err)
	}
	m := &FileMailbox{dir: dir}
	for _, e := range entries {
		if isMailboxFile.MatchString(e.Name()) {
			m.names = append(m.names, e.Name())
		}
	}
	return m, nil
}

// Deliver implements Mailbox.
func (m *FileMailbox) Deliver(r RenderedMail) error { return m.add(r, time.Now()) }

func (m *FileMailbox) add(r RenderedMail, at time.Time) error {
	content, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("encode mail: %w", err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	name := at.UTC().Format(mailboxTime) + "-" + rand.Text()[:8] + mailboxExtension
	if err := m.write(name, content); err != nil {
		return fmt.Errorf("keep mail: %w", err)
	}
	m.names = append(m.names, name)
	slices.Sort(m.names) // the clock may have been set back
	for len(m.names) > mailboxSize {
		if err := m.removeOldest(); err != nil {
			return err
		}
	}
	return nil
}

// write writes a file whole: a killed process leaves no part of it under its name. The caller holds
// the lock.
func (m *FileMailbox) write(name string, content []byte) error {
	unfinished := filepath.Join(m.dir, "unfinished")
	if err := os.WriteFile(unfinished, content, 0o600); err != nil {
		return err
	}
	return os.Rename(unfinished, filepath.Join(m.dir, name))
}

// Prune implements Mailbox.
func (m *FileMailbox) Prune(before time.Time) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for first := before.UTC().Format(mailboxTime); len(m.names) > 0 && m.names[0] < first; {
		if err := m.removeOldest(); err != nil {
			return err
		}
	}
	return nil
}

// removeOldest removes the oldest mail. The caller holds the lock.
func (m *FileMailbox) removeOldest() error {
	if err := os.Remove(filepath.Join(m.dir, m.names[0])); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove old mail: %w", err)
	}
	m.names = m.names[1:]
	return nil
}

// list returns up to limit mails, those to one address unless that is "", the newest first. A file
// that was removed is left out.
func (m *FileMailbox) list(to string, limit int) ([]mailView, error) {
	m.mu.Lock()
	names := slices.Clone(m.names)
	m.mu.Unlock()
	mails := []mailView{}
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
			mails = append(mails, viewOf(mailboxID(name), r))
		}
	}
	return mails, nil
}

// get returns the mail with an id; fs.ErrNotExist says that there is none.
func (m *FileMailbox) get(id string) (RenderedMail, error) {
	m.mu.Lock()
	at := slices.IndexFunc(m.names, func(name string) bool { return mailboxID(name) == id })
	name := ""
	if at >= 0 {
		name = m.names[at]
	}
	m.mu.Unlock()
	if name == "" {
		return RenderedMail{}, fmt.Errorf("read mail: %w", fs.ErrNotExist)
	}
	return m.read(name)
}

// mailboxID returns the id of the mail in a file.
func mailboxID(name string) string { return strings.TrimSuffix(name, mailboxExtension) }

func (m *FileMailbox) read(name string) (r RenderedMail, err error) {
	content, err := os.ReadFile(filepath.Join(m.dir, name))
	if err != nil {
		return r, fmt.Errorf("read mail: %w", err)
	}
	if err := json.Unmarshal(content, &r); err != nil {
		return r, fmt.Errorf("read mail: %w", err)
	}
	return r, nil
}

package mailbox

import (
	"bytes"
	"crypto/rand"
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

// store keeps mails as files, named so that they sort by their time.
type store struct {
	dir string
	mu  sync.Mutex
	ids []string // the oldest first
}

var isID = regexp.MustCompile(`^\d{8}T\d{6}\.\d{9}-[A-Z2-7]{8}$`)

const (
	idTime    = "20060102T150405.000000000"
	extension = ".eml"
)

func openStore(dir string) (*store, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make mailbox: %w", err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("open mailbox: %w", err)
	}
	s := &store{dir: dir}
	for _, e := range entries {
		if id, found := strings.CutSuffix(e.Name(), extension); found && isID.MatchString(id) {
			s.ids = append(s.ids, id)
		}
	}
	slices.Sort(s.ids)
	return s, nil
}

func (s *store) path(id string) string { return filepath.Join(s.dir, id+extension) }

// add keeps a mail, with its envelope in front as mail servers write it.
func (s *store) add(from string, to []string, raw []byte, at time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := at.UTC().Format(idTime) + "-" + rand.Text()[:8]
	var b bytes.Buffer
	fmt.Fprintf(&b, "Return-Path: <%s>\r\n", oneLine(from))
	for _, address := range to {
		fmt.Fprintf(&b, "Delivered-To: %s\r\n", oneLine(address))
	}
	b.Write(raw)
	// Whole or not at all, whenever this process is killed, and for whoever looks into the directory.
	unfinished := filepath.Join(s.dir, "unfinished")
	err := os.WriteFile(unfinished, b.Bytes(), 0o600)
	if err == nil {
		err = os.Rename(unfinished, s.path(id))
	}
	if err != nil {
		return fmt.Errorf("keep mail: %w", err)
	}
	s.ids = append(s.ids, id)
	slices.Sort(s.ids) // the clock may have been set back
	for len(s.ids) > Keep {
		if err := os.Remove(s.path(s.ids[0])); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove old mail: %w", err)
		}
		s.ids = s.ids[1:]
	}
	return nil
}

func oneLine(text string) string { return strings.NewReplacer("\r", "", "\n", "").Replace(text) }

// list returns so many mails, those to one address unless that is "", the newest first. A file that
// somebody took away is left out.
func (s *store) list(to string, most int) ([]Mail, error) {
	s.mu.Lock()
	ids := slices.Clone(s.ids)
	s.mu.Unlock()
	mails := []Mail{}
	for _, id := range slices.Backward(ids) {
		if len(mails) == most {
			break
		}
		m, err := s.get(id)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if to == "" || strings.EqualFold(m.To, to) {
			mails = append(mails, m)
		}
	}
	return mails, nil
}

// get returns one mail; fs.ErrNotExist says that there is none.
func (s *store) get(id string) (Mail, error) {
	raw, err := s.raw(id)
	if err != nil {
		return Mail{}, err
	}
	return parse(id, raw), nil
}

func (s *store) raw(id string) ([]byte, error) {
	if !isID.MatchString(id) {
		return nil, fmt.Errorf("read mail: %w", fs.ErrNotExist)
	}
	raw, err := os.ReadFile(s.path(id))
	if err != nil {
		return nil, fmt.Errorf("read mail: %w", err)
	}
	return raw, nil
}

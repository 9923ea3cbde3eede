package config

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"lodestone/pkg/service"
)

// Secret is the value of a setting that comes from a file and may change while the process runs,
// such as the token keys. A nil *Secret stands for a setting that comes from elsewhere. It is safe
// for concurrent use.
type Secret struct {
	setting string // the flag, with its dashes
	path    string
	check   func(text string) error // of a new value; nil: all are good

	mu      sync.Mutex
	now     string
	next    string              // what the file had at the last look, if that is not now
	refused string              // what was last reported
	changed []func(text string) // called with each new value
}

// SecretConfig says where a secret is.
type SecretConfig struct {
	Setting string                  // its flag, with its dashes
	Path    string                  // of its file
	Value   string                  // the present one
	Check   func(text string) error // judges a new value, without repeating it in the error; nil: all are good
}

// NewSecret returns the secret of a setting that is in a file.
func NewSecret(c SecretConfig) *Secret {
	return &Secret{setting: c.Setting, path: c.Path, now: c.Value, check: c.Check}
}

// OnChange has fn called with each new value, from the goroutine that looks at the file.
func (s *Secret) OnChange(fn func(text string)) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changed = append(s.changed, fn)
}

// maxSecretBytes bounds what is read of a file.
const maxSecretBytes = 64 << 10

// readSecret returns the text of a file without the line break at its end. Its errors say nothing
// of what is in it.
func readSecret(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }() // it was only read
	text, err := io.ReadAll(io.LimitReader(f, maxSecretBytes+1))
	switch trimmed := strings.TrimRight(string(text), "\r\n"); {
	case err != nil:
		return "", err
	case len(text) > maxSecretBytes:
		return "", errors.New(path + " has more than 64 KiB")
	case trimmed == "":
		return "", errors.New(path + " is empty")
	default:
		return trimmed, nil
	}
}

// Look reads the file, and takes a new value that it had at the look before as well: not everyone
// replaces a file in one step. It returns what is wrong with a new value, which is not taken. The
// watch of a process calls it every second.
func (s *Secret) Look() (taken bool, err error) {
	text, err := readSecret(s.path)
	if err != nil {
		return false, err
	}
	s.mu.Lock()
	last, now := s.next, s.now
	s.next = text
	s.mu.Unlock()
	if text == now || text != last {
		return false, nil
	}
	if s.check != nil {
		if err := s.check(text); err != nil {
			return false, err
		}
	}
	s.mu.Lock()
	s.now = text
	changed := s.changed
	s.mu.Unlock()
	for _, fn := range changed {
		fn(text)
	}
	return true, nil
}

// pending reports whether the file had another value at the last look, which may be taken at the
// next one.
func (s *Secret) pending() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.next != "" && s.next != s.now
}

// report returns whether an error is another one than last time. An empty text is none.
func (s *Secret) report(text string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	fresh := s.refused != text
	s.refused = text
	return fresh
}

// lookEvery is how often the file of a secret is read: a few bytes, which the system has in memory.
const lookEvery = time.Second

// WatchDeps are the dependencies of a watch. All are required.
type WatchDeps struct {
	Log        *slog.Logger
	Registerer prometheus.Registerer
}

// Watch returns a service that notices when the file changes. A file that cannot be used leaves the
// value as it is, is logged once, and shows in a metric until it can be used.
func (s *Secret) Watch(d WatchDeps) service.Service {
	labels := prometheus.Labels{"setting": s.setting}
	refused := prometheus.NewGauge(prometheus.GaugeOpts{
		Name:        "lodestone_secret_file_refused",
		Help:        "1 while a secret's file is unusable and the process keeps its previous value, by setting.",
		ConstLabels: labels,
	})
	changes := prometheus.NewCounter(prometheus.CounterOpts{
		Name:        "lodestone_secret_file_changes_total",
		Help:        "New values that a process read from a secret's file, by setting.",
		ConstLabels: labels,
	})
	d.Registerer.MustRegister(refused, changes)
	log := d.Log.With("setting", s.setting, "file", s.path)
	return service.Every("watch of a secret's file", lookEvery, lookEvery, d.Log, func(context.Context) error {
		changed, err := s.Look()
		switch {
		case err != nil:
			refused.Set(1)
			if s.report(err.Error()) {
				log.Error("the file of a secret cannot be used: keeping the value before", "error", err)
			}
			return nil
		case changed:
			changes.Inc()
			log.Info("the file of a secret changed: using the new value")
		case s.pending():
			return nil // as it was, until the next look
		}
		refused.Set(0)
		s.report("")
		return nil
	})
}

package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"lodestone/pkg/config"
	"lodestone/pkg/engine/install"
	"lodestone/pkg/kafka"
)

// Set is the engines of one data directory: those given by address, and those it runs itself. It
// implements service.Service. The addresses are known after Start.
type Set struct {
	config Config
	deps   Deps
	free   func(dir string) (bytes int64, err error)

	mu    sync.Mutex
	lock  *dirLock
	parts []part // what runs, in the order in which it is stopped
	watch *watch

	clickhouse *ClickHouse
	kafka      *Kafka
	postgres   *Postgres
}

// Deps are the dependencies of a set of engines.
type Deps struct {
	Runtime
	// Progress is called with a line for a person about every slow step, from several goroutines. It
	// may be nil.
	Progress func(line string)
}

// NewSet returns engines that are not started yet.
func NewSet(c Config, d Deps) *Set {
	return &Set{config: c, deps: d, free: install.Free}
}

// Minimum free space of the data directory: below the first a start is refused, below the second a
// warning is logged. ClickHouse writes nothing below 1 GiB (keep_free_space_bytes in
// clickhouse_config.xml).
const (
	freeRequired = 1<<30 + 256<<20
	freeWished   = 4 << 30
)

// maxStop bounds the end of one engine. It has been killed long before then.
const maxStop = 10 * time.Second

// Take locks the data directory until Stop, or fails with an error that wraps ErrInUse. Start does
// it if necessary.
func (s *Set) Take() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lock != nil {
		return nil
	}
	return s.take()
}

// Start implements service.Service. It takes the data directory, and starts what is missing in
// parallel. When one engine fails the others are stopped again.
func (s *Set) Start(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.watch != nil {
		return errors.New("start engines: already started")
	}
	if s.lock == nil {
		if err := s.take(); err != nil {
			return err
		}
	}
	if err := s.startMissing(ctx); err != nil {
		return errors.Join(err, s.stop(context.WithoutCancel(ctx)))
	}
	s.watch = watchAll(s.parts)
	return nil
}

// take locks the data directory and checks the free space.
func (s *Set) take() (err error) {
	if s.config.Data, err = filepath.Abs(s.config.Data); err != nil {
		return fmt.Errorf("open the data directory: %w", err)
	}
	mode := os.FileMode(0o700)
	if os.Geteuid() == 0 {
		mode = 0o711 // PostgreSQL passes through as another user; what is secret is closed by itself
	}
	if s.lock, err = lockDir(s.config.Data, mode); err != nil {
		if invalid := config.Writable("--data", s.config.Data); invalid != nil {
			return invalid
		}
		return fmt.Errorf("open the data directory: %w", err)
	}
	free, err := s.free(s.config.Data)
	switch {
	case err != nil:
		err = fmt.Errorf("open the data directory: %w", err)
	case free < freeRequired:
		err = fmt.Errorf("the disk of %s has only %d MiB free, and the engines need %d MiB (ClickHouse leaves the last 1024 MiB unused): free some space, or choose another directory with --data",
			s.config.Data, free>>20, freeRequired>>20)
	case free < freeWished:
		s.deps.Log.Warn("the disk of the data directory is nearly full", "directory", s.config.Data, "free_bytes", free)
	}
	if err != nil {
		err = errors.Join(err, s.lock.Unlock())
		s.lock = nil
	}
	return err
}

func (s *Set) startMissing(ctx context.Context) error {
	cache := s.config.Cache
	if cache == "" {
		var err error
		if cache, err = install.DefaultCache(); err != nil {
			return err
		}
	}
	installer := &install.Installer{Cache: cache, Progress: s.deps.Progress, Log: s.deps.Log}
	var all []part
	if s.config.ClickHouseURL == "" {
		s.clickhouse = NewClickHouse(ClickHouseConfig{
			Runtime: s.deps.Runtime, Dir: filepath.Join(s.config.Data, "clickhouse"),
			TCPPort: s.config.ClickHousePort, HTTPPort: s.config.ClickHouseHTTPPort,
			Launcher: s.config.Launcher, Installer: installer,
		})
		all = append(all, part{"clickhouse", s.clickhouse})
	}
	if len(s.config.KafkaBrokers) == 0 {
		s.kafka = NewKafka(KafkaConfig{
			Runtime: s.deps.Runtime, Dir: filepath.Join(s.config.Data, "kafka"), Port: s.config.KafkaPort,
			NoSync: s.config.NoSync, Login: true,
		})
		all = append(all, part{"kafka", s.kafka})
	}
	// PostgreSQL is stopped last: ClickHouse reads from it.
	if s.config.PostgresURL == "" {
		s.postgres = NewPostgres(PostgresConfig{
			Runtime: s.deps.Runtime, Dir: filepath.Join(s.config.Data, "postgres"), Port: s.config.PostgresPort,
			NoSync: s.config.NoSync, Installer: installer,
		})
		all = append(all, part{"postgres", s.postgres})
	}
	group, bounded := errgroup.WithContext(ctx)
	started := make([]bool, len(all))
	for i, p := range all {
		group.Go(func() error {
			begin := time.Now()
			if err := p.service.Start(bounded); err != nil {
				return err
			}
			started[i] = true
			s.deps.Log.Info("started engine", "engine", p.name, "took", time.Since(begin).Round(time.Millisecond))
			return nil
		})
	}
	err := group.Wait()
	for i, p := range all {
		if started[i] {
			s.parts = append(s.parts, p)
		}
	}
	return err
}

// Stop implements service.Service: ClickHouse first, then Kafka, then PostgreSQL. None of them
// takes longer than about two seconds, and usually all together less than one.
func (s *Set) Stop(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stop(ctx)
}

func (s *Set) stop(ctx context.Context) error {
	if s.lock == nil {
		return nil
	}
	if s.watch != nil {
		s.watch.stop()
		s.watch = nil
	}
	var errs []error
	for _, p := range s.parts {
		begin := time.Now()
		bounded, cancel := context.WithTimeout(ctx, maxStop)
		err := p.service.Stop(bounded)
		cancel()
		if err != nil {
			errs = append(errs, err)
			continue
		}
		s.deps.Log.Info("stopped engine", "engine", p.name, "took", time.Since(begin).Round(time.Millisecond))
	}
	errs = append(errs, s.lock.Unlock())
	s.lock, s.parts = nil, nil
	return errors.Join(errs...)
}

// Failed implements service.Service: it delivers the error of an engine that died and could not
// be brought back. It is nil before Start.
func (s *Set) Failed() <-chan error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.watch == nil {
		return nil
	}
	return s.watch.failed
}

// DataDir is the data directory as an absolute path.
func (s *Set) DataDir() string { return s.config.Data }

// PostgresURL is the address of our database, with user and password.
func (s *Set) PostgresURL() string {
	if s.postgres == nil {
		return s.config.PostgresURL
	}
	return s.postgres.URL()
}

// Kafka returns the settings to reach Kafka, with the password of the embedded broker.
func (s *Set) Kafka() kafka.Config {
	if s.kafka == nil {
		return kafka.Config{Brokers: s.config.KafkaBrokers, Login: kafka.Login{Mechanism: "none"}}
	}
	return s.kafka.Config()
}

// ClickHouseURL is the native address of ClickHouse, with user and password.
func (s *Set) ClickHouseURL() string {
	if s.clickhouse == nil {
		return s.config.ClickHouseURL
	}
	return s.clickhouse.URL()
}

// ClickHouseHTTPURL is the HTTP address of ClickHouse, with user and password; "" if ClickHouse
// was given without it.
func (s *Set) ClickHouseHTTPURL() string {
	if s.clickhouse == nil {
		return s.config.ClickHouseHTTPURL
	}
	return s.clickhouse.HTTPURL()
}

// SQLURL is the HTTP address of the read-only SQL user; "" if ClickHouse was given without it.
func (s *Set) SQLURL() string {
	if s.clickhouse == nil {
		return s.config.SQLURL
	}
	return s.clickhouse.SQLURL()
}

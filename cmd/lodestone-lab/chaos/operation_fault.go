package chaos

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"lodestone/cmd/lodestone-lab/chaos/machine"
	"lodestone/cmd/lodestone-lab/probe"
	"lodestone/pkg/client"
	"lodestone/pkg/engine"
)

// What an operator does in a soak, in the order of a run.
const (
	backup      = "backup"
	eraseOne    = "a person exported and erased"
	restoreBoth = "both databases destroyed and restored"
)

// operationFaults returns the operations. They need a world with the processes of a soak.
func operationFaults() []fault {
	operation := func(name string, inject func(ctx context.Context, s *scene) error) fault {
		return fault{name: name, inject: inject, operation: true}
	}
	crud := kill("crud")
	crud.operation = true
	return []fault{
		crud,
		operation(backup, backUp),
		operation(eraseOne, exportAndErase),
		operation(restoreBoth, destroyAndRestore),
	}
}

// allFaults returns every fault and operation, in the order of the report.
func allFaults() []fault { return slices.Concat(faults(), operationFaults()) }

// operations is the state that the operations of a soak share with each other and the check.
type operations struct {
	gone    *link  // of the person who was erased
	address string // theirs
	figures []string
}

// figuref adds to what the report says of the operations.
func (o *operations) figuref(format string, args ...any) {
	o.figures = append(o.figures, fmt.Sprintf(format, args...))
}

// erased reports whether a link went with its person.
func (o *operations) erased(l link) bool { return o.gone != nil && o.gone.id == l.id }

// settings adds those of the processes and commands of a soak.
func (o *operations) settings(w *world, env map[string][]string) error {
	exports, err := w.proxied("query1-http", w.shards[0].HTTPURL())
	if err != nil {
		return err
	}
	// Reports at the end are about days of an account with millions of sessions.
	env["query1"] = append(env["query1"], "LODESTONE_CLICKHOUSE_HTTP_URL="+exports,
		"LODESTONE_QUERY_TIMEOUT="+reportLimit.String(), "LODESTONE_QUERY_MAX_MEMORY_BYTES="+strconv.Itoa(3<<29),
		"LODESTONE_QUERY_PROCESSOR_SECONDS_PER_MINUTE=600")
	env["direct"] = append(env["direct"], "LODESTONE_BACKUP_CLICKHOUSE_DIR="+filepath.Join(w.dir, shardName(0), "backups"))
	env["crud1"] = append(env["crud1"], "LODESTONE_ERASURE_LOG="+filepath.Join(w.dir, "erasures"),
		"LODESTONE_QUERY_URL="+w.reader.queries[0])
	for i := range maxConsumers {
		name := fmt.Sprint("consumer", i+1)
		env[name] = append(env[name], "LODESTONE_ERASURE_INTERVAL=5s")
	}
	return nil
}

// backups is the place of backups.
func (w *world) backups() string { return filepath.Join(w.dir, "backups") }

var (
	took  = regexp.MustCompile(`(?m)^took: (.*)$`)
	size  = regexp.MustCompile(`(?m)^size: (\d+) bytes$`)
	again = regexp.MustCompile(`(?m)^records that consumers read again from Kafka: (\d+)$`)
	until = regexp.MustCompile(`(?m)^restored: .* in (.*)$`)
)

// first returns what an expression finds in what a command printed.
func first(in *regexp.Regexp, printed string) string {
	if found := in.FindStringSubmatch(printed); found != nil {
		return found[1]
	}
	return "?"
}

// backUp backs up and checks what was written.
func backUp(ctx context.Context, s *scene) error {
	printed, err := s.output(ctx, "backup", s.backups())
	if err != nil {
		return err
	}
	s.note("backed up in %s, %s bytes", first(took, printed), first(size, printed))
	s.operations.figuref("backup: %s, %s bytes", first(took, printed), first(size, printed))
	return s.command(ctx, "backup", "check", s.backups())
}

// exportAndErase exports a person whose page stays open, and erases them. The databases have
// nothing of them soon after.
func exportAndErase(ctx context.Context, s *scene) error {
	const account = 1 // not the first one, one of whose links has a quarter of the events
	reader := s.rand.IntN(linksInAll / accounts)
	l, address := s.links[account*linksInAll/accounts+reader], emailOf(account, reader)
	api := client.New(client.Config{URL: s.reader.site, Key: s.reader.keys[l.account.String()]})
	var found struct {
		Links  []struct{} `json:"access_links"`
		Events []struct{} `json:"events"`
	}
	body := fmt.Sprintf(`{"email":%q}`, address)
	if _, err := api.Do(ctx, http.MethodPost, "/api/v1/people/export", http.Header{"Content-Type": {"application/json"}},
		strings.NewReader(body), &found); err != nil {
		return fmt.Errorf("export a person: %w", err)
	}
	if len(found.Links) != 1 || len(found.Events) == 0 {
		s.wrong("the export of %s has %d links and %d events", address, len(found.Links), len(found.Events))
	}
	begin := time.Now()
	if _, err := api.ErasePerson(ctx, address); err != nil {
		return fmt.Errorf("erase a person: %w", err)
	}
	s.operations.gone, s.operations.address = &l, address
	s.note("%s is erased, with %d events", address, len(found.Events))
	if err := s.verifyErased(ctx); err != nil {
		s.wrong("%v", err)
	}
	s.operations.figuref("export and erasure of a person with %d events, until nothing of them was found: %s",
		len(found.Events), seconds(time.Since(begin)))
	return nil
}

// erasedWithin is how long the events of a person may take to be blank, since parts of the table
// are written again under load. A week is promised.
const erasedWithin = 15 * time.Minute

// verifyErased returns an error unless the databases get to have nothing of the person who was
// erased.
func (w *world) verifyErased(ctx context.Context) error {
	if w.operations.gone == nil {
		return nil
	}
	return probe.Until(ctx, erasedWithin, time.Second, "find nothing of the person who was erased", func() error {
		return w.command(ctx, "verify", "--person", w.operations.address)
	})
}

// destroyAndRestore destroys both databases and restores them from the newest backup. Collectors go
// on: Kafka takes what they get, and nothing of theirs reaches Postgres before it is whole.
func destroyAndRestore(ctx context.Context, s *scene) error {
	others := slices.Concat([]*machine.Process{s.site}, s.queries, s.consumers[:consumers])
	for _, p := range others {
		p.Stop(40 * time.Second)
	}
	if err := s.network.Disturb(s.network.Names("collector1-postgres", "collector2-postgres"),
		machine.Toxic{Kind: "timeout", Attributes: map[string]int64{"timeout": 0}}); err != nil {
		return err
	}
	s.note("both databases are destroyed")
	if err := errors.Join(emptied(ctx, s.postgres, filepath.Join(s.dir, "postgres")),
		emptied(ctx, s.shards[0], filepath.Join(s.dir, shardName(0)))); err != nil {
		return err
	}
	begin := time.Now()
	printed, err := s.output(ctx, "restore", s.backups())
	if err != nil {
		return err
	}
	s.note("restored in %s", first(until, printed))
	for _, p := range others {
		err = errors.Join(err, p.Start())
		if p == s.site {
			err = errors.Join(err, s.ready(ctx, p))
		}
	}
	s.network.Heal(ctx)
	for _, p := range others {
		err = errors.Join(err, s.ready(ctx, p))
	}
	s.operations.figuref("restore: %s, until every process served: %s, %s records read again from Kafka",
		first(until, printed), seconds(time.Since(begin)), first(again, printed))
	return errors.Join(err, s.command(ctx, "restore", "resume"), s.verifyErased(ctx))
}

// server is an engine that can be started again.
type server interface {
	Start(ctx context.Context) error
	Stop(ctx context.Context) error
}

// emptied destroys what an engine has stored. It comes back at its address, with its passwords.
func emptied(ctx context.Context, s server, dir string) error {
	if err := s.Stop(ctx); err != nil {
		return err
	}
	kept := map[string][]byte{}
	for _, name := range []string{"passwords.json", "ports.json"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		kept[name] = text
	}
	if err := errors.Join(engine.RemoveDir(dir), os.MkdirAll(dir, 0o711)); err != nil { //nolint:gosec // PostgreSQL, which is another user if we are root, passes through
		return err
	}
	for name, text := range kept {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			return err
		}
	}
	return s.Start(ctx)
}

package chaos

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"lodestone/cmd/lodestone-lab/chaos/machine"
	"lodestone/pkg/engine"
	"lodestone/pkg/engine/install"
)

// With copies, there is a second copy of the events besides that of the shards: a server, two
// consumers that fill it, and a query process that reads both copies. It is copy 2 until it is
// lost, and copy 3 once it is restored.
const (
	otherName      = "other-clickhouse" // of its server, directory and clock
	otherServer    = "clickhouse of another copy"
	otherConsumer  = "consumer of another copy"
	copyLost       = "a copy is lost and restored"
	second, third  = 2, 3
	otherConsumers = 2
	allowedLag     = time.Minute
	insertTimeout  = 8 * time.Second // of the consumer, by default
)

// other is the second copy of the events.
type other struct {
	server    *engine.ClickHouse
	number    atomic.Int32                 // 0 while it is lost
	consumers map[int32][]*machine.Process // by the number of the copy
	commands  map[int32][]string           // the environment of commands that no fault is to reach, likewise
	reading   string                       // its address for the query process
	stopped   bool                         // its consumers, by stop
}

func ofCopies(f fault) fault {
	f.copies = true
	return f
}

func everywhere(f fault) fault {
	f.everywhere = true
	return f
}

// filling returns the consumers that fill the copy, notFilling those that have done so or will.
func (o *other) filling() []*machine.Process {
	if o == nil {
		return nil
	}
	return o.consumers[o.number.Load()]
}

func (o *other) notFilling() (all []*machine.Process) {
	if o == nil {
		return nil
	}
	for number, consumers := range o.consumers {
		if number != o.number.Load() {
			all = append(all, consumers...)
		}
	}
	return all
}

func (o *other) consumer(random *rand.Rand) *machine.Process {
	all := o.filling()
	return all[random.IntN(len(all))]
}

// stop ends its consumers in order, and start begins their next life if that was done.
func (o *other) stop() {
	for _, p := range o.filling() {
		p.Stop(40 * time.Second)
		o.stopped = true
	}
}

func (o *other) start() (err error) {
	if o == nil || !o.stopped {
		return nil
	}
	o.stopped = false
	for _, p := range o.filling() {
		err = errors.Join(err, p.Start())
	}
	return err
}

// stopOther ends the consumers of the second copy when both copies have the same, and leaves the
// load quiet: what comes into the log once the others are stopped, too, is in neither copy.
func (s *scene) stopOther(ctx context.Context) error {
	if s.other == nil {
		return nil
	}
	if err := errors.Join(s.load.quiet(ctx), s.drained(ctx, s.limit)); err != nil {
		return err
	}
	s.other.stop()
	return nil
}

// servers returns all ClickHouse servers.
func (w *world) servers() []*engine.ClickHouse {
	if w.other == nil || w.other.server == nil {
		return w.shards
	}
	return append(slices.Clone(w.shards), w.other.server)
}

// groups returns the consumer groups that are to store everything.
func (w *world) groups() []string {
	if w.other == nil || w.other.number.Load() == 0 {
		return []string{group}
	}
	return []string{group, fmt.Sprintf("%s-copy-%d", group, w.other.number.Load())}
}

// makeOther makes the server of the second copy. All copies have the same passwords.
func (w *world) makeOther(runtime func(clock string) engine.Runtime, installer *install.Installer) error {
	if w.other == nil {
		return nil
	}
	dir := filepath.Join(w.dir, otherName)
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	passwords := fmt.Sprintf(`{"lodestone":%q,"analyst":"of the analyst"}`, shardPassword)
	for _, dir := range []string{dir, filepath.Join(w.dir, shardName(0))} {
		if err := os.WriteFile(filepath.Join(dir, "passwords.json"), []byte(passwords), 0o600); err != nil {
			return err
		}
	}
	w.other.server = engine.NewClickHouse(engine.ClickHouseConfig{
		Runtime: runtime(otherName), Dir: dir, MemoryBytes: 3 << 30, Installer: installer,
		Launcher: filepath.Join(w.programs, "lodestone-clickhouse"),
	})
	return nil
}

// otherSettings adds the settings of the consumers and commands of the second copy, and of those
// that work with both.
func (w *world) otherSettings(env map[string][]string, through func(name, kind string) error) (err error) {
	o := w.other
	url := o.server.URL()
	backupsOf := func(server string) string {
		return "LODESTONE_BACKUP_CLICKHOUSE_DIR=" + filepath.Join(w.dir, server, "backups")
	}
	o.commands = map[int32][]string{}
	for _, number := range []int32{second, third} {
		copied := "LODESTONE_CLICKHOUSE_COPY=" + strconv.Itoa(int(number))
		for i := range otherConsumers {
			name := "consumer" + strconv.Itoa(consumerNumber(number, i))
			if err := through(name, "consumer"); err != nil {
				return err
			}
			server, err := w.proxied(name+"-"+otherName, url)
			if err != nil {
				return err
			}
			env[name] = append(env[name], "LODESTONE_CLICKHOUSE_URL="+server, copied)
		}
		o.commands[number] = append(slices.Clone(env["direct"]), "LODESTONE_CLICKHOUSE_URL="+url,
			copied, backupsOf(otherName))
	}
	env["direct"] = append(env["direct"], backupsOf(shardName(0)))
	address, err := w.proxied("query1-"+otherName, url)
	o.reading = host(address)
	o.number.Store(second)
	env["query1"] = append(env["query1"], o.others(o.reading), "LODESTONE_CLICKHOUSE_MAX_LAG="+allowedLag.String(),
		"LODESTONE_QUERY_PROCESSOR_SECONDS_PER_MINUTE=600")
	return err
}

// others returns the setting of who reads the copy besides the first one.
func (o *other) others(address string) string {
	return fmt.Sprintf("LODESTONE_CLICKHOUSE_OTHER_COPIES=%d=%s", o.number.Load(), address)
}

// consumerNumber numbers the consumers of a copy: 21, 22.
func consumerNumber(copied int32, i int) int { return int(copied)*10 + i + 1 }

func (o *other) addConsumers(add func(command string, number int) *machine.Process) {
	if o == nil {
		return
	}
	o.consumers = map[int32][]*machine.Process{}
	for _, number := range []int32{second, third} {
		for i := range otherConsumers {
			o.consumers[number] = append(o.consumers[number], add("consumer", consumerNumber(number, i)))
		}
	}
}

// addCopy puts the second copy on record.
func (w *world) addCopy(ctx context.Context) error {
	if w.other == nil {
		return nil
	}
	_, err := w.outputOf(ctx, w.other.commands[second], "migrate")
	return err
}

var compared = regexp.MustCompile(`(?m)^copies .* compared: .*$`)

// verify has the databases compared with each other, and the copies of the events. It returns what
// was compared of the latter.
func (w *world) verify(ctx context.Context) ([]string, error) {
	env := w.own
	if w.other != nil {
		env = append(slices.Clone(env), w.other.others(host(w.other.server.URL())))
	}
	printed, err := w.outputOf(ctx, env, "verify")
	lines := compared.FindAllString(printed, -1)
	if err == nil && w.other != nil && len(lines) == 0 {
		err = fmt.Errorf("lodestone verify compared no copies: %s", printed)
	}
	return lines, err
}

// loseCopy destroys the second copy, and restores it later from a backup of the first, under load,
// as docs/copies.md says.
func loseCopy(ctx context.Context, s *scene) error {
	o, dir := s.other, filepath.Join(s.dir, otherName)
	if o.number.Load() != second {
		return fmt.Errorf("%w: it was lost before", errLeftOut)
	}
	s.note("kill -9 the server of copy %d, which loses its data; it is away for %v", second, s.away)
	s.killEngine(ctx, o.server.PID, 0)
	if err := errors.Join(o.server.Stop(ctx), s.hold(ctx, s.away)); err != nil {
		return err
	}
	o.stop()
	o.stopped = false // for good
	conn, err := pgx.Connect(ctx, s.postgres.URL())
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, "SELECT remove_copy($1)", second)
	if err = errors.Join(err, conn.Close(ctx)); err != nil {
		return fmt.Errorf("take the copy off the record: %w", err)
	}
	backedUp, err := s.output(ctx, "backup", "create", s.backups())
	if err != nil {
		return err
	}
	s.note("backed up in %s, %s bytes", first(took, backedUp), first(size, backedUp))
	if err := emptied(ctx, o.server, dir); err != nil {
		return err
	}
	begin := time.Now()
	restored, err := s.outputOf(ctx, o.commands[third], "restore", "copy", s.backups())
	if err != nil {
		return err
	}
	s.note("restored as copy %d in %s", third, first(until, restored))
	if _, err := s.outputOf(ctx, o.commands[third], "migrate"); err != nil {
		return err
	}
	o.number.Store(third)
	for _, p := range o.filling() {
		err = errors.Join(err, p.Start())
	}
	if err = errors.Join(err, s.drained(ctx, s.limit)); err != nil {
		return err
	}
	s.operations.figuref(
		"copy %d was away for %v, and restored as copy %d: backup %s, %s bytes; restore %s, %s from its begin until the copy had everything",
		second, s.away, third, first(took, backedUp), first(size, backedUp),
		first(until, restored), seconds(time.Since(begin)))
	p := s.queries[0]
	p.Stop(40 * time.Second)
	p.Env = append(p.Env, o.others(o.reading))
	return errors.Join(p.Start(), s.ready(ctx, p))
}

// asked sums up the reports that were requested from the query process throughout the run.
type asked struct {
	answered int
	silence  time.Duration // the longest without an answer
	behind   time.Duration // the most that the as_of of an answer was before it
	broken   []string
}

const (
	askEvery = 3 * time.Second
	// maxSilence is how long no report may be answered while a copy is whole: one that hangs is passed
	// over within seconds, and the query process is started again once.
	maxSilence = 15 * time.Second
	// maxBehind bounds the age of an answer's as_of then: the allowed lag, the margin for clocks,
	// and the age of the last measurement of the lag.
	maxBehind = allowedLag + 15*time.Second
	// settling is how long copies may take to be current again after faults that may hit all of them.
	settling = 15 * time.Second
	// kept is for how long answers are compared with later ones.
	kept = 10 * time.Minute
)

// before is an answer at a time.
type before struct {
	at time.Time
	answers
}

// askAll asks until ctx ends. Whichever copy answers has to have what any had until as_of.
func (a *asked) askAll(ctx context.Context, w *world, known map[string]fault) {
	history, tick := map[string][]before{}, time.NewTicker(askEvery)
	defer tick.Stop()
	accounts := w.reader.accounts()
	disturbed := func() bool {
		name, _ := w.doing.Load().(string)
		return known[name].everywhere
	}
	begin, last, silent := time.Now(), time.Now(), false // of the time without such faults; of answers
	for i := 0; ctx.Err() == nil; i++ {
		account, asking := accounts[i%len(accounts)], time.Now()
		now := disturbed()
		got, asOf, err := w.reader.report(ctx, promptly, w.reader.queries[0], account)
		switch {
		case now || disturbed():
			begin, last, silent = time.Now(), time.Now(), false
		case ctx.Err() != nil:
		case err != nil:
			a.silence = max(a.silence, time.Since(last))
			if time.Since(last) > maxSilence && !silent {
				silent = true
				a.wrongf(w, "no report was answered for %v while a copy was whole: %v", maxSilence, err)
			}
		default:
			a.answered++
			a.silence = max(a.silence, time.Since(last))
			if behind := asking.Sub(asOf); begin.Before(asking.Add(-settling)) {
				a.behind = max(a.behind, behind)
				if behind > maxBehind {
					a.wrongf(w, "a report of %v is as of %v, %v before", asking, asOf, behind)
				}
			}
			earlier := history[account]
			for _, b := range slices.Backward(earlier) {
				if b.at.After(asOf) {
					continue
				}
				if !got.atLeast(b.answers) {
					a.wrongf(w, "a report as of %v answers %+v, and answered %+v at %v", asOf, got, b.answers, b.at)
				}
				break
			}
			last, silent = time.Now(), false
			history[account] = append(slices.DeleteFunc(earlier, func(b before) bool { return last.Sub(b.at) > kept }),
				before{last, got})
		}
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
}

// wrongf notes a rule that is broken, with what happens meanwhile.
func (a *asked) wrongf(w *world, format string, args ...any) {
	name, _ := w.doing.Load().(string)
	text := fmt.Sprintf("during %s: %s", cmp.Or(name, "no fault"), fmt.Sprintf(format, args...))
	w.log.Error(text)
	if len(a.broken) < 20 {
		a.broken = append(a.broken, text)
	}
}

func (a *asked) write(b *strings.Builder) {
	fmt.Fprintf(b, "- reports asked for all the time, and answered while a copy was whole: %d; longest time without an answer: %s; most that one was behind: %s\n",
		a.answered, seconds(a.silence), seconds(a.behind))
}

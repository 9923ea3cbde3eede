package chaos

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strconv"
	"syscall"
	"time"

	"lodestone/cmd/lodestone-lab/chaos/ledger"
	"lodestone/cmd/lodestone-lab/chaos/machine"
)

// scene is the environment of a fault: the world, the load, and a random source that depends on the
// seed and the step alone.
type scene struct {
	*world
	load   *load
	rand   *rand.Rand
	poison *poison
	gone   *ledger.Gone
	// limit bounds waits for what is under way to be stored.
	limit time.Duration
	away  time.Duration // how long a copy of the events that is lost stays away
	note  func(format string, args ...any)
	// wrong reports a rule that the fault itself saw broken. The run goes on, and fails at its end.
	wrong func(format string, args ...any)
}

// fault is one way to break things. inject returns when the fault has ended: whatever it stopped
// runs again or is being started, and whatever it spoilt is whole.
type fault struct {
	name    string
	short   bool // part of the short form
	inject  func(ctx context.Context, s *scene) error
	cluster bool // only of a cluster
	copies  bool // only with copies of the events
	// everywhere: it may hit all copies of the events, or who reads them. After others, a copy that
	// is whole has to answer.
	everywhere bool
	// operation marks an operator's procedure. It is no fault, and only a soak runs it.
	operation bool
}

// between returns a random time.
func (s *scene) between(shortest, longest time.Duration) time.Duration {
	return shortest + time.Duration(s.rand.Int64N(int64(longest-shortest)))
}

// hold waits while a fault lasts.
func (s *scene) hold(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

func (s *scene) consumer() *machine.Process  { return s.consumers[s.rand.IntN(consumers)] }
func (s *scene) collector() *machine.Process { return s.collectors[s.rand.IntN(collectors)] }
func (s *scene) broker() int                 { return 1 + s.rand.IntN(s.brokers) }

// shard returns the index of a ClickHouse server.
func (s *scene) shard() int {
	if len(s.shards) == 1 {
		return 0
	}
	return s.rand.IntN(len(s.shards))
}

func (s *scene) brokerPID(node int) func() int {
	return func() int { return s.kafka.PID(node) }
}

// victim is one thing of a kind, drawn by the seed.
type victim struct {
	name string
	pid  func() int // 0: it does not run
	// kill ends it, and keeps it down for a while.
	kill func(ctx context.Context, down time.Duration)
}

func (s *scene) victim(kind string) victim {
	engine := func(name string, pid func() int) victim {
		return victim{name, pid, func(ctx context.Context, down time.Duration) { s.killEngine(ctx, pid, down) }}
	}
	var p *machine.Process
	switch kind {
	case "clickhouse":
		i := s.shard()
		return engine(shardName(i), s.shards[i].PID)
	case "postgres":
		return engine(kind, s.postgres.PID)
	case "broker":
		node := s.broker()
		return engine("broker "+strconv.Itoa(node), s.brokerPID(node))
	case "pgbouncer":
		return engine(kind, s.pooler.PID)
	case "collector":
		p = s.collector()
	case "query":
		p = s.queries[s.rand.IntN(len(s.queries))]
	case "crud":
		p = s.site
	case otherServer:
		return engine(otherName, s.other.server.PID)
	case otherConsumer:
		p = s.other.consumer(s.rand)
	default:
		p = s.consumer()
	}
	return victim{p.Name, p.Running, func(ctx context.Context, down time.Duration) {
		p.Kill(down)
		_ = s.hold(ctx, down)
	}}
}

func kill(kind string) fault {
	return fault{name: "kill -9 " + kind, inject: func(ctx context.Context, s *scene) error {
		// Several times in a row, since it matters when.
		for range 1 + s.rand.IntN(3) {
			down := s.between(0, 8*time.Second)
			v := s.victim(kind)
			s.note("kill -9 %s, down %v", v.name, down)
			v.kill(ctx, down)
			if err := s.hold(ctx, s.between(0, 3*time.Second)); err != nil {
				return err
			}
		}
		return nil
	}}
}

// kinds are those of what can be killed.
func (s *scene) kinds() []string {
	kinds := []string{"collector", "consumer", "clickhouse", "postgres", "broker"}
	if s.cluster {
		kinds = append(kinds, "pgbouncer", "query")
	}
	if s.other != nil {
		kinds = append(kinds, otherServer, otherConsumer)
	}
	return kinds
}

func killTwoBrokers(ctx context.Context, s *scene) error {
	spared := s.broker()
	down := s.between(0, 8*time.Second)
	s.note("kill -9 all brokers but %d, down %v", spared, down)
	return s.both(func(i int) {
		s.killEngine(ctx, s.brokerPID(1+(spared+i)%s.brokers), down)
	})
}

func killTwoThings(ctx context.Context, s *scene) error {
	kinds := s.kinds()
	order := s.rand.Perm(len(kinds))
	// The random numbers are drawn one after the other, so that the seed decides them.
	var downs [2]time.Duration
	var victims [2]victim
	for i := range victims {
		downs[i], victims[i] = s.between(0, 8*time.Second), s.victim(kinds[order[i]])
	}
	s.note("kill -9 %s (down %v) and %s (down %v)", victims[0].name, downs[0], victims[1].name, downs[1])
	return s.both(func(i int) { victims[i].kill(ctx, downs[i]) })
}

// both does a thing twice at once.
func (s *scene) both(do func(i int)) error {
	done := make(chan struct{})
	go func() {
		defer close(done)
		do(1)
	}()
	do(0)
	<-done
	return nil
}

// freeze stops a process for a while, which then goes on as if nothing had happened.
func freeze(kind string, shortest, longest time.Duration) fault {
	return fault{name: "SIGSTOP " + kind, inject: func(ctx context.Context, s *scene) error {
		v := s.victim(kind)
		pid, name, d := v.pid(), v.name, s.between(shortest, longest)
		if pid == 0 {
			s.note("%s is not running: nothing to stop", name)
			return nil
		}
		s.note("SIGSTOP %s for %v", name, d)
		if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
			return fmt.Errorf("stop %s: %w", name, err)
		}
		err := s.hold(ctx, d)
		_ = syscall.Kill(pid, syscall.SIGCONT) // it may have been ended as hung
		return err
	}}
}

// sides are the kinds of connections, by the beginnings of their proxies' names.
var sides = []string{
	"client-", "collector-kafka", "consumer-kafka", "broker-kafka", "consumer1-clickhouse", "consumer2-clickhouse",
	"consumer1-postgres", "consumer2-postgres", "collector1-postgres", "collector2-postgres",
}

// spoil makes some of the network bad for a while.
func spoil(name string, short bool, draw func(s *scene) machine.Toxic) fault {
	return fault{name: name, short: short, everywhere: true, inject: func(ctx context.Context, s *scene) error {
		t := draw(s)
		var chosen []string
		for _, i := range s.rand.Perm(len(sides))[:2+s.rand.IntN(3)] {
			chosen = append(chosen, sides[i])
		}
		return s.spoilFor(ctx, s.network.Names(chosen...), t, s.between(4*time.Second, 15*time.Second))
	}}
}

func (s *scene) spoilFor(ctx context.Context, names []string, t machine.Toxic, d time.Duration) error {
	way := "requests"
	if t.Answers {
		way = "answers"
	}
	s.note("%s %v of the %s of %v for %v", t.Kind, t.Attributes, way, names, d)
	if err := s.network.Disturb(names, t); err != nil {
		return err
	}
	err := s.hold(ctx, d)
	s.network.Heal(context.WithoutCancel(ctx))
	return err
}

// loseAnswers cuts connections after so many bytes of answers: requests arrive and are carried
// out, and who sent them does not learn of it.
func loseAnswers(name string, low, high int64, short bool, prefixes ...string) fault {
	return fault{name: name, short: short, inject: func(ctx context.Context, s *scene) error {
		d := s.between(4*time.Second, 12*time.Second)
		names := s.network.Names(prefixes...)
		s.note("cut %v after %d to %d bytes of answers, for %v", names, low, high, d)
		end := time.Now().Add(d)
		for time.Now().Before(end) {
			for _, name := range names {
				bytes := low + s.rand.Int64N(high-low)
				if err := s.network.Disturb([]string{name}, machine.Toxic{Kind: "limit_data", Answers: true,
					Attributes: map[string]int64{"bytes": bytes}}); err != nil {
					return err
				}
			}
			err := s.hold(ctx, 500*time.Millisecond)
			s.network.Heal(context.WithoutCancel(ctx))
			if err != nil {
				return err
			}
		}
		return nil
	}}
}

// killUnreachable kills a collector that Kafka does not hear from, and again soon after it came
// back, when it may be handing over what it kept.
func killUnreachable(ctx context.Context, s *scene) error {
	p := s.collector()
	out, again := s.between(2*time.Second, 8*time.Second), s.between(100*time.Millisecond, 2*time.Second)
	s.note("collectors cannot reach Kafka for %v; then kill -9 %s, and again %v later", out, p.Name, again)
	if err := s.network.Disturb(s.network.Names("collector-kafka"), machine.Toxic{Kind: "timeout", Answers: false,
		Attributes: map[string]int64{"timeout": 0}}); err != nil {
		return err
	}
	err := s.hold(ctx, out)
	p.Kill(0)
	s.network.Heal(context.WithoutCancel(ctx))
	if err == nil {
		err = s.hold(ctx, again)
	}
	p.Kill(0)
	return err
}

// killEngine ends the process group of an engine, and each one that is started for it until down
// is over: the engine's own supervisor starts it again at once.
func (w *world) killEngine(ctx context.Context, pid func() int, down time.Duration) {
	until := time.Now().Add(down)
	for {
		if p := pid(); p != 0 {
			_ = syscall.Kill(-p, syscall.SIGKILL) // it may have ended
		}
		if time.Now().After(until) {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// faults returns every fault, in the order of the report.
func faults() []fault {
	return []fault{
		kill("collector"),
		kill("consumer"),
		kill("clickhouse"),
		everywhere(kill("postgres")),
		everywhere(kill("broker")),
		{name: "kill -9 two brokers", short: true, inject: killTwoBrokers, everywhere: true},
		{name: "kill -9 two things at once", short: true, inject: killTwoThings, everywhere: true},
		freeze("collector", 4*time.Second, 12*time.Second),
		freeze("consumer", sessionTimeout+3*time.Second, 25*time.Second),
		freeze("clickhouse", 4*time.Second, 20*time.Second),
		everywhere(freeze("broker", 10*time.Second, 20*time.Second)),
		spoil("network: latency", false, func(s *scene) machine.Toxic {
			return machine.Toxic{Kind: "latency", Answers: s.rand.IntN(2) == 0,
				Attributes: map[string]int64{"latency": 20 + s.rand.Int64N(400), "jitter": s.rand.Int64N(200)}}
		}),
		spoil("network: resets", false, func(s *scene) machine.Toxic {
			return machine.Toxic{Kind: "reset_peer", Answers: s.rand.IntN(2) == 0,
				Attributes: map[string]int64{"timeout": s.rand.Int64N(500)}}
		}),
		spoil("network: half-open", true, func(s *scene) machine.Toxic {
			return machine.Toxic{Kind: "timeout", Answers: s.rand.IntN(2) == 0, Attributes: map[string]int64{"timeout": 0}}
		}),
		spoil("network: bandwidth", false, func(s *scene) machine.Toxic {
			// KB/s
			return machine.Toxic{Kind: "bandwidth", Answers: s.rand.IntN(2) == 0,
				Attributes: map[string]int64{"rate": 5 + s.rand.Int64N(100)}}
		}),
		loseAnswers("answer lost: Kafka to collector", 600, 6000, false, "collector-kafka"),
		everywhere(loseAnswers("answer lost: Kafka to consumer", 600, 100_000, false, "consumer-kafka")),
		loseAnswers("answer lost: ClickHouse to consumer", 200, 3000, true, "consumer1-clickhouse", "consumer2-clickhouse"),
		loseAnswers("answer lost: collector to client", 50, 800, false, "client-"),
		{name: "kill -9 collector that cannot reach Kafka", short: true, inject: killUnreachable},
		{name: "consumers come and go", inject: comeAndGo},
		{name: "the rows of a partition are refused", short: true, inject: refusePartition},
		{name: "committed offsets deleted", inject: deleteOffsets},
		{name: "committed offsets set back", short: true, inject: setOffsetsBack},
		{name: "topic recreated", short: true, inject: topicRecreated, everywhere: true},
		jump("collectors", false, "collector"),
		everywhere(jump("consumers", false, "consumer")),
		everywhere(jump("ClickHouse", false, "clickhouse")),
		everywhere(jump("all of these at once", true, "")),
		{name: "clock jumps: back around a stopped consumer", inject: jumpAroundZombie},
		{name: "poison records", short: true, inject: writePoison},
		{name: "disk full: ClickHouse", inject: fillClickHouse},
		{name: "disk full: spool, without Kafka", inject: fillSpool},
		{name: "a repeat from a spool", inject: repeatFromSpool},
		{name: "another consumer group", inject: otherGroup},
		{name: "records expired unread", inject: expireRecords, everywhere: true},
		{name: "a log lost its end", short: true, inject: truncateLog, everywhere: true},
		ofCluster(kill("pgbouncer")),
		ofCluster(kill("query")),
		{name: "a shard is away", short: true, inject: shardAway, cluster: true},
		ofCopies(kill(otherServer)),
		ofCopies(kill(otherConsumer)),
		ofCopies(freeze(otherConsumer, insertTimeout+sessionTimeout, 30*time.Second)),
		{name: copyLost, inject: loseCopy, copies: true},
	}
}

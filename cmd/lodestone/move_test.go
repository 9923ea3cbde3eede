//go:build long

package main

import (
	"flag"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/client"
	"lodestone/pkg/engine/enginetest"
)

var moves = flag.Int("moves", 2, "how often TestTheWriterMovesUnderLoad moves the writer of each shard")

// The writers of two shards move again and again while events come. During a move, a consumer or the server that writes is killed, or the one that is to write is cut
// off. In the end each replica has each event once, and the API, the counters and the log of Kafka agree.
func TestTheWriterMovesUnderLoad(t *testing.T) {
	t.Parallel()
	copies := enginetest.NewCopies(t, 2, 2)
	stack := enginetest.NewStack(t, enginetest.StackConfig{Partitions: 6, Copies: copies})
	c := &cluster{processes: processesOn(t, stack, copies), site: freeAddress(t), queries: freeAddress(t), events: freeAddress(t)}
	copies.Follow()
	c.run("migrate")
	key := c.key()
	c.start()
	api := client.New(client.Config{URL: "http://" + c.site, Key: key})
	var loads []*load // each of one access link, so of one partition
	more := func() {
		l := newLoad(t, api, "http://"+c.events)
		l.pause = 100 * time.Millisecond // what plays the replicas copies rows slowly
		l.start(1)
		loads = append(loads, l)
	}
	acked := func() {
		for _, l := range loads {
			l.awaitAcked(100)
		}
	}
	for range 6 {
		more()
	}
	for _, servers := range copies.Servers {
		conn := servers[0].Conn()
		for rowsOf(t, conn, "events") == 0 {
			require.Less(t, len(loads), 60)
			acked()
			more() // as long as no link is of this shard
		}
	}
	faults := []struct {
		name   string
		inject func(writer, next *enginetest.Copy)
	}{
		{"nothing", func(_, _ *enginetest.Copy) {}},
		{"kill -9 of a consumer", func(_, _ *enginetest.Copy) {
			c.consumer().kill()
			c.running[3] = c.serve("consumer")
		}},
		{"kill -9 of the server that writes", func(writer, _ *enginetest.Copy) {
			var pid int // none between two lives
			require.Eventually(t, func() bool { pid = writer.Server.PID(); return pid != 0 }, enginetest.Timeout, interval)
			require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
		}},
		{"the next writer cut off", func(_, next *enginetest.Copy) {
			next.CutFromClients()
			acked()
			next.Heal()
		}},
	}
	for n := range 2 * *moves {
		shard := n % 2
		servers := copies.Servers[shard]
		writer, next := servers[n/2%2], servers[(n/2+1)%2] // the first one writes at first
		acked()
		fault, began := faults[(n+n/len(faults))%len(faults)], time.Now()
		move := launch(t, c.dir, c.env, "shard", "move-writer", strconv.Itoa(shard+1), next.Name)
		fault.inject(writer, next)
		require.Zero(t, move.wait(), "%s", move.out)
		t.Logf("shard %d moved in %v, during it: %s", shard+1, time.Since(began).Round(time.Millisecond), fault.name)
		require.Regexp(t, strconv.Itoa(shard+1)+" +"+next.Name+" +writes ", c.run("shard", "list"))
	}
	acked()
	requireEverything(t, loads, "http://"+c.site, key, func() {}) // the counters are right by themselves
	var all int64
	for _, l := range loads {
		all += l.acked.Load()
	}
	require.Contains(t, c.run("verify"), "differences: 0")
	var stored uint64
	for _, servers := range copies.Servers {
		stored += requireCopied(t, servers[0].Conn(), servers[1].Conn())
	}
	require.EqualValues(t, all, stored)
	c.stop()
}

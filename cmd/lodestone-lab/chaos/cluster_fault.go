package chaos

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"lodestone/cmd/lodestone-lab/chaos/machine"
)

func ofCluster(f fault) fault {
	f.cluster = true
	return f
}

// shardAway takes one ClickHouse server away: it is killed again and again, or no one can reach it.
// Partitions of the other shard have to be stored meanwhile, and reports refused, or answered with
// all that they had before.
func shardAway(ctx context.Context, s *scene) error {
	i, d, killed := s.shard(), s.between(8*time.Second, 20*time.Second), s.rand.IntN(2) == 0
	accounts := s.reader.accounts()
	account := accounts[s.rand.IntN(len(accounts))]
	before, err := s.reader.await(ctx, account)
	if err != nil {
		return err
	}
	log, err := s.ends(ctx)
	if err != nil {
		return err
	}
	away, back := context.WithCancel(ctx)
	defer back()
	done := make(chan struct{})
	if killed {
		s.note("%s is down for %v at least", shardName(i), d)
		go func() {
			defer close(done)
			s.killEngine(away, s.shards[i].PID, s.limit)
		}()
	} else {
		close(done)
		names := slices.DeleteFunc(s.network.Names(""),
			func(name string) bool { return !strings.HasSuffix(name, "-"+shardName(i)) })
		s.note("no one reaches %s for %v at least", shardName(i), d)
		if err := s.network.Disturb(names, machine.Toxic{Kind: "timeout", Answers: s.rand.IntN(2) == 0,
			Attributes: map[string]int64{"timeout": 0}}); err != nil {
			return err
		}
	}
	answered := s.reader.ask(ctx, account, before, time.Now().Add(d), s.wrong)
	s.note("%d reports were answered meanwhile", answered)
	others, err := s.ofOtherShards(ctx, i, log)
	if err == nil {
		if stored := s.await(ctx, others, s.limit/2); stored != nil {
			s.wrong("while %s was away, partitions of the other shard stood still: %v", shardName(i), stored)
		}
	}
	back()
	<-done
	s.network.Heal(context.WithoutCancel(ctx))
	return err
}

// ofOtherShards returns the ends of those partitions that another shard than i stores, 0 for all
// others.
func (s *scene) ofOtherShards(ctx context.Context, i int, log ends) (ends, error) {
	conn, err := pgx.Connect(ctx, s.postgres.URL())
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	others := ends{}
	for topic, partitions := range log {
		id, err := s.topicID(ctx, topic)
		if err != nil {
			return nil, err
		}
		others[topic] = make([]int64, len(partitions))
		rows, err := conn.Query(ctx, "SELECT partition FROM partition_placements WHERE topic_id = $1 AND shard <> $2", id,
			i+1)
		if err != nil {
			return nil, fmt.Errorf("read the placements: %w", err)
		}
		var partition int
		if _, err := pgx.ForEachRow(rows, []any{&partition}, func() error {
			if partition < len(partitions) {
				others[topic][partition] = partitions[partition]
			}
			return nil
		}); err != nil {
			return nil, fmt.Errorf("read the placements: %w", err)
		}
	}
	return others, nil
}

//go:build long

package consumer

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/ingest/replica"
	"lodestone/ingest/stream"
)

// After a replica is dropped, blocks have other tokens. An insert under an old one, which runs or arrives late, stores nothing then.
func TestInsertsUnderOldTokensEndWithADrop(t *testing.T) {
	t.Parallel()
	s := &shard{id: 1, tokens: map[string]*part{}}
	w := &world{still: true, shards: []*shard{s}, now: 1_000_000, reads: map[context.Context]int64{}}
	s.record = replica.Record{Shard: 1, Replicas: []string{"r0", "r1", "r2"}, Writer: "r0", Epoch: 1, Ready: true}
	for _, name := range s.record.Replicas {
		s.servers = append(s.servers, &server{w: w, shard: s, name: name, up: true, active: true, epoch: 1})
	}
	p := &owned{blocks: [][]int{{0}}, intent: stream.NoIntent}
	for range 2 {
		s.flights = append(s.flights, &flight{
			at: s.servers[0], rows: []rowID{{p.number, 0}}, how: replica.Insert{Token: "lodestone-events:0:0-0:202601", Epoch: 1, Quorum: 2}, before: w.now + 60_000,
		})
	}
	running, late := s.flights[0], s.flights[1]
	require.NoError(t, running.begin())

	s.servers[2].up, s.servers[2].active, s.servers[2].gone = false, false, true
	r, err := w.mover(s, toDrop).Drop(t.Context(), "r2")
	require.NoError(t, err)

	ctx := context.WithValue(t.Context(), deadlineKey{}, w.now+60_000)
	table := tableOf(p, p.blocks[0])
	defer modelStream.Tables.Give(table)
	require.NoError(t, w.store(p, s).Insert(ctx, nil, table, "lodestone-events:0:0-0"))
	if slices.Contains(s.flights, running) {
		_ = running.commit()
	}
	if late.begin() == nil {
		_ = late.commit()
	}
	require.Len(t, s.parts, 1)
	require.Equal(t, "lodestone-events:0:0-0:202601#r1", s.parts[0].token)
	require.Equal(t, replica.Record{Shard: 1, Replicas: []string{"r0", "r1"}, Writer: "r0", Epoch: 2, Ready: true, Drops: 1}, r)
	again, err := w.mover(s, toDrop).Drop(t.Context(), "r2")
	require.NoError(t, err)
	require.Equal(t, r.Epoch, again.Epoch, "nothing is left to do")
}

// A drop that ended before the new epoch was everywhere goes on with the next call.
func TestADropGoesOn(t *testing.T) {
	t.Parallel()
	s := &shard{id: 1, tokens: map[string]*part{}}
	w := &world{still: true, shards: []*shard{s}, now: 1_000_000}
	s.record = replica.Record{Shard: 1, Replicas: []string{"r0", "r1"}, Writer: "r0", Previous: "r0", Epoch: 2, Drops: 1}
	for _, name := range []string{"r0", "r1", "r2"} {
		s.servers = append(s.servers, &server{w: w, shard: s, name: name, up: true, active: true, epoch: 1})
	}
	r, err := w.mover(s, toDrop).Drop(t.Context(), "r2")
	require.NoError(t, err)
	require.True(t, r.Ready)
	require.Equal(t, []int64{2, 2, 1}, []int64{s.servers[0].epoch, s.servers[1].epoch, s.servers[2].epoch})
}

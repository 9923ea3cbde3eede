//go:build long

package kafka_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/event"
	"lodestone/pkg/test/enginetest"
)

// The same answers from the real one, which has more settings and other words for some. It is this
// test's alone: topics are deleted and set otherwise here.
func TestApacheKafka(t *testing.T) {
	t.Parallel()
	apache := enginetest.NewApacheKafka(t, t.TempDir(), 1)
	enginetest.Run(t, apache)
	_, cl := connect(t, apache.Brokers())
	requireDatedByTheBroker(t, cl)
	requirePartitionsReported(t, cl)
	set(t, cl, event.Topic, "cleanup.policy", "compact")
	set(t, cl, event.Topic, "unclean.leader.election.enable", "true")
	set(t, cl, event.LinkViewTopic, "min.insync.replicas", "2")
	set(t, cl, event.DeadLetterTopic, "retention.ms", "1000")
	require.Eventually(t, func() bool {
		fatal, warnings := findings(t, cl, nil)
		return len(fatal) == 2 && len(warnings) == 2
	}, enginetest.Timeout, 50*time.Millisecond)
	fatal, warnings := findings(t, cl, nil)
	require.ElementsMatch(t, []string{"topic lodestone.events: cleanup.policy",
		"topic lodestone.link_views: min.insync.replicas"}, fatal)
	require.ElementsMatch(t, []string{"topic lodestone.events: unclean.leader.election.enable",
		"topic lodestone.dead_letters: retention.ms"}, warnings)
}

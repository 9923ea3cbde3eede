//go:build long

package verify

import (
	"testing"

	"lodestone/pkg/event"
	"lodestone/pkg/test/enginetest"
)

func TestAllIsWellOnApacheKafka(t *testing.T) {
	t.Parallel()
	requireWell(t, newRigOn(t, newStack(t, enginetest.StackConfig{Brokers: enginetest.ApacheKafka(t), Partitions: 2})))
}

func TestDifferencesAtTheBordersOfChunksAreFound(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	const n = 2*chunkRecords + 5_000
	r.produce(event.Topic, r.events(n)...)
	r.consume()
	r.requireDifferences(Span{})
	r.clickhouse("ALTER TABLE lodestone.events DELETE WHERE kafka_topic_id = {topic:UUID} AND kafka_offset IN (0, 19999, 20000, 44999) SETTINGS mutations_sync = 2")
	at := "lost      lodestone.events partition 0, offsets "
	r.requireDifferences(Span{}, at+"0 to 0 (1;", at+"19999 to 20000 (2;", at+"44999 to 44999 (1;", "access link")
}

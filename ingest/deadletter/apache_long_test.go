//go:build long

package deadletter

import "testing"

// Each replay has an Apache Kafka of its own.
func TestReplaysOnApacheKafka(t *testing.T) {
	t.Parallel()
	for name, replay := range map[string]func(*testing.T){
		"AReplayStoresOnce":            TestAReplayStoresOnce,
		"AReplayThatFailsMarksNothing": TestAReplayThatFailsMarksNothing,
		"ParallelReplaysStoreOnce":     TestParallelReplaysStoreOnce,
	} {
		t.Run(name, replay)
	}
}

package mutant

// ofShards are those of the rules by which keys have a partition, and partitions a shard.
func ofShards() []Mutant {
	const tests = "ingest/consumer"
	return []Mutant{
		{
			Name:    "spooled events are not looked for on other shards",
			Edits:   []Edit{{"ingest/stream/look.go", "range s.Before {", "range s.Before[:0] {"}},
			Package: tests, Test: "TestARepeatFromASpoolIsFoundOnTheShardOfAnEarlierTopic",
		},
		{
			Name:    "spooled events are not looked for on the shards of an earlier topic",
			Edits:   []Edit{{"pkg/placement/placement.go", "if o.TopicID != p.TopicID && kafka.ShareKeys(", "if false && kafka.ShareKeys("}},
			Package: tests, Test: "TestARepeatFromASpoolIsFoundOnTheShardOfAnEarlierTopic",
		},
		{
			Name:    "an unused partition stores its records",
			Edits:   []Edit{{"ingest/consumer/stray.go", "f.hash.Of(r.Key, f.partitions), true", "f.hash.Of(r.Key, f.partitions), false"}},
			Package: tests, Test: "TestRecordsOfUnusedPartitionsAreStoredWithTheirKey",
		},
		{
			Name:    "records of an unused partition are not passed on",
			Edits:   []Edit{{"ingest/consumer/worker.go", "if len(b.strays) > 0 && !w.sendStrays(ctx) {", "if false && !w.sendStrays(ctx) {"}},
			Package: tests, Test: "TestRecordsOfUnusedPartitionsAreStoredWithTheirKey",
		},
		{
			Name:    "a partition is placed without a look at its rows",
			Edits:   []Edit{{"pkg/placement/placement.go", "\tif len(with) > 0 {", "\tif len(with) > 0 && false {"}},
			Package: "pkg/placement", Test: "TestANewPartitionIsPlacedOnTheShardWithTheFewest",
		},
		{
			Name:    "a view on two shards is written down by each",
			Edits:   []Edit{{"ingest/retention/writedown.go", "AND shards = 1), min(since)", "), min(since)"}},
			Package: "ingest/retention", Test: "TestViewsThatAreOnTwoShardsLeaveOnce",
		},
	}
}

package mutant

// ofShards are those of the rules by which keys have a partition, and partitions a shard.
func ofShards() []Mutant {
	const tests = "ingest/consumer"
	return []Mutant{
		{
			Name:    "spooled events are not looked for on other shards",
			Edits:   []Edit{{"ingest/stream/look.go", "range s.Others {", "range s.Others[:0] {"}},
			Package: tests, Test: "TestARepeatFromASpoolIsFoundOnTheShardOfAnEarlierTopic",
		},
		{
			Name: "spooled events are not looked for on the shards of an earlier topic",
			Edits: []Edit{{"ingest/stream/placement.go", "o.TopicID != topicID && shard != own",
				"false && o.TopicID != topicID && shard != own"}},
			Package: tests, Test: "TestARepeatFromASpoolIsFoundOnTheShardOfAnEarlierTopic",
		},
		{
			Name: "an unused partition stores its records",
			Edits: []Edit{{"ingest/consumer/partition.go", "p.hash.Of(r.Key, p.partitions), true",
				"p.hash.Of(r.Key, p.partitions), false"}},
			Package: tests, Test: "TestRecordsOfUnusedPartitionsAreStoredWithTheirKey",
		},
		{
			Name:    "records of an unused partition are not passed on",
			Edits:   []Edit{{"ingest/consumer/prepare.go", "b.sendStrays(ctx, batch) && ", ""}},
			Package: tests, Test: "TestRecordsOfUnusedPartitionsAreStoredWithTheirKey",
		},
		{
			Name:    "a partition is placed without a look at its rows",
			Edits:   []Edit{{"ingest/stream/placement.go", "\tif len(with) > 0 {", "\tif len(with) > 0 && false {"}},
			Package: "ingest/stream", Test: "TestANewPartitionIsPlacedOnTheShardWithTheFewest",
		},
		{
			Name:    "a view on two shards is written down by each",
			Edits:   []Edit{{"ingest/retention/writedown.go", "AND shards = 1), min(since)", "), min(since)"}},
			Package: "ingest/retention", Test: "TestViewsThatAreOnTwoShardsLeaveOnce",
		},
	}
}

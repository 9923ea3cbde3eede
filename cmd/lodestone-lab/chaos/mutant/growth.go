package mutant

// ofGrowth are those of the rules by which partitions double and are placed on shards.
func ofGrowth() []Mutant {
	const tests = "ingest/consumer"
	return []Mutant{
		{
			Name:    "a new partition does not wait for its parent",
			Edits:   []Edit{{"ingest/consumer/growth.go", "\t\treturn cut\n", "\t\treturn cut || true\n"}},
			Package: tests, Test: "TestPartitionsDoubleWhileTheyAreRead",
		},
		{
			Name: "a cut is recorded before its partition is stored",
			Edits: []Edit{{
				"ingest/consumer/worker.go", "\tif len(b.strays) > 0 && !w.sendStrays(ctx) {",
				"\tif b.cut != nil && !w.recordCut(ctx) {\n\t\treturn false\n\t}\n\tif len(b.strays) > 0 && !w.sendStrays(ctx) {",
			}},
			Package: tests, Test: "TestACutIsRecordedOnceItsPartitionIsStored",
		},
		{
			Name:    "a new partition does not know the last events of its parent",
			Edits:   []Edit{{"ingest/consumer/growth.go", "window.Repeats(d.Identity, r.Offset+part.shift)", "_ = d.Identity"}},
			Package: tests, Test: "TestPartitionsDoubleWhileTheyAreRead",
		},
		{
			Name:    "spooled events are not looked for on the shards of ancestors",
			Edits:   []Edit{{"ingest/stream/look.go", "range s.Before {", "range s.Before[:0] {"}},
			Package: tests, Test: "TestARepeatFromASpoolIsFoundOnTheShardsOfAncestors",
		},
		{
			Name:    "spooled events are not looked for on the shards of an earlier topic",
			Edits:   []Edit{{"pkg/placement/placement.go", "if o.TopicID != p.TopicID && layout.Shares(", "if false && layout.Shares("}},
			Package: tests, Test: "TestARepeatFromASpoolIsFoundOnTheShardOfAnEarlierTopic",
		},
		{
			Name:    "repeats are not looked for where the log of the parent expired",
			Edits:   []Edit{{"ingest/consumer/growth.go", "max(w.builder.certain, certain)", "max(w.builder.certain, 0*certain)"}},
			Package: tests, Test: "TestRepeatsOfAParentWhoseLogExpiredAreFoundOnItsShard",
		},
		{
			Name:    "a partition stores keys of its child behind the cut",
			Edits:   []Edit{{"ingest/consumer/growth.go", "return to, to != f.at.Partition", "return to, to != f.at.Partition && false"}},
			Package: tests, Test: "TestPartitionsDoubleWhileTheyAreRead",
		},
		{
			Name:    "keys of the child behind the cut are not passed on",
			Edits:   []Edit{{"ingest/consumer/worker.go", "if len(b.strays) > 0 && !w.sendStrays(ctx) {", "if false && !w.sendStrays(ctx) {"}},
			Package: tests, Test: "TestPartitionsDoubleTwice",
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

package mutant

import "slices"

// All returns every mutant.
func All() []Mutant {
	return slices.Concat(caughtByRuns(), caughtByTests(), ofStoring(), ofShards())
}

// caughtByRuns are those that the chaos runner catches.
func caughtByRuns() []Mutant {
	return []Mutant{
		{
			Name:  "stored offsets are not looked at before an insert",
			Edits: []Edit{{"ingest/consumer/stored.go", "if s.first > p.lastStored ||", "if true ||"}},
			Steps: []string{"committed offsets set back", "committed offsets set back"}, Sign: Doubled,
		},
		{
			Name:  "repeats are stored",
			Edits: []Edit{{"ingest/consumer/partition.go", "asked = found &&", "found = false\n\tasked = found &&"}},
			Short: true, Steps: []string{"kill -9 consumer"}, Sign: Doubled,
		},
		{
			Name: "events are acknowledged before they are durable",
			Edits: []Edit{{
				"ingest/collector/handler.go", "err := c.deps.Sink.Write(until, s.records)",
				"records := append(s.records[:0:0], s.records...)\n\ts.arena = nil\n\tvar err error\n\tgo func() { _ = c.deps.Sink.Write(c.base, records) }()",
			}},
			Short: true, Steps: []string{"kill -9 collector that cannot reach Kafka"}, NoSpool: true, Sign: Lost,
		},
		{
			Name: "spooled events are looked for within two hours of their time only",
			Edits: []Edit{{"ingest/stream/place.go", "const RepeatWithin = 72 * time.Hour",
				"const RepeatWithin = 2 * time.Hour"}},
			Steps: []string{"a repeat from a spool"}, Sign: Doubled,
		},
		{
			Name: "the log is not compared with what is stored",
			Edits: []Edit{
				{"ingest/consumer/stored.go", "if !differs {", "if true {"},
				{"ingest/consumer/partition.go", "stored && !newer &&", "stored && !newer && false &&"},
				{"ingest/consumer/takeover.go", "; stored >= end {", "; stored >= end && false {"},
				{"ingest/stream/commit.go", "if len(asked) == 0 {\n\t\treturn nil, nil", "if true {\n\t\treturn nil, nil"},
			},
			Steps: []string{"a log lost its end"}, Sign: Broken,
		},
	}
}

// caughtByTests are those whose rule a package's own tests try more directly than any run can.
func caughtByTests() []Mutant {
	return []Mutant{
		{
			Name: "the collector ends without a free descriptor",
			Edits: []Edit{{"ingest/collector/listener.go", "if limit.IsOutOfDescriptors(err) {",
				"if limit.IsOutOfDescriptors(err) && false {"}},
			Package: "ingest/collector", Test: "TestRunningOutOfDescriptorsEndsNothing",
		},
		{
			Name: "a read error of the spool is taken for damage",
			Edits: []Edit{
				{"ingest/spool/read.go", "if err != nil || len(b.payloads) > 0 {\n\t\t\treturn b, err",
					"if len(b.payloads) > 0 {\n\t\t\treturn b, err"},
				{"ingest/spool/read.go", "data, err := load(q.disk, q.path(seg.number))\n\tif err != nil {\n\t\treturn err\n\t}",
					"data, _ := load(q.disk, q.path(seg.number))"},
			},
			Package: "ingest/spool", Test: "TestAReadErrorIsNoDamage",
		},
		{
			Name: "a spool that starts removes segments below its position",
			Edits: []Edit{{
				"ingest/spool/recover.go", "q.segments = append(q.segments, &segment{number: number, unread: true})",
				"if number < q.began.segment {\n\t\t\t_ = q.disk.remove(filepath.Join(q.dir, name))\n\t\t\tcontinue\n\t\t}\n" +
					"\t\tq.segments = append(q.segments, &segment{number: number, unread: true})",
			}},
			Package: "ingest/spool", Test: "TestASegmentBelowThePositionIsSent",
		},
		{
			Name:  "the spool keeps segments that an acknowledgement passed",
			Edits: []Edit{{"ingest/spool/read.go", "if q.head.segment == first.number {", "if true {"}},
			Short: true, Package: "ingest/spool", Test: "TestAnAcknowledgementThatPassesSegmentsFreesThem",
		},
		{
			Name:    "a span is longer than the window of repeats",
			Edits:   []Edit{{"ingest/consumer/partition.go", "p.span.start < p.window.Size", "p.span.start < 10*p.window.Size"}},
			Package: "ingest/consumer", Test: "TestASpooledRepeatFurtherAwayThanTheWindowIsStoredOnce",
		},
		{
			Name:    "a second consumer group is not refused",
			Edits:   []Edit{{"ingest/consumer/assignment.go", "owner != c.cfg.Group {", "owner == \"\" {"}},
			Package: "ingest/consumer", Test: "TestASecondConsumerGroupIsRefused",
		},
		{
			Name:    "expired records are not put on record as lost",
			Edits:   []Edit{{"ingest/consumer/expired.go", "return t.addLost(ctx, p, lost)", "return nil"}},
			Package: "ingest/consumer", Test: "TestRecordsThatExpiredBeforeTheyWereStoredAreOnRecord",
		},
		{
			Name:    "events of an earlier topic are stored again",
			Edits:   []Edit{{"ingest/consumer/partition.go", "p.successor && !expired", "false && !expired"}},
			Package: "ingest/consumer", Test: "TestTheTopicOfALogThatLostItsEndIsRecreated",
		},
		{
			Name: "a record of a newer release becomes a dead letter",
			Edits: []Edit{{"pkg/event/event.go", "this build knows up to %d\", ErrNewer, e.Type",
				"this build knows up to %d\", ErrInvalid, e.Type"}},
			Short: true, Package: "pkg/event", Test: "TestRefusedRecords",
		},
	}
}

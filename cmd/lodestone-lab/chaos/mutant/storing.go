package mutant

// ofStoring are those that break a step of exactlyonce.go.
func ofStoring() []Mutant {
	const file = "ingest/consumer/exactlyonce.go"
	broken := func(name string, edits ...Edit) Mutant {
		return Mutant{Name: name, Edits: edits, Package: "ingest/consumer", Test: "TestEveryEventIsStoredOnceWhateverFails"}
	}
	const (
		announce = "\tif err := b.commit(ctx, batch, before); err != nil {\n\t\treturn err\n\t}\n\tlimited,"
		inserted = "\t\tb.metrics.insert.Observe(time.Since(begin).Seconds())\n\t\treturn nil"
		insert   = "b.table.Insert(limited, batch.table, batch.partitions(), before)"
	)
	return []Mutant{
		broken("inserts are not fenced",
			Edit{file, insert, "b.table.Insert(limited, batch.table, batch.partitions(), before.Add(time.Hour))"}),
		broken("no one waits for the announced time", Edit{file, "for !until.IsZero() {", "for false {"}),
		broken("inserts that run are not ended", Edit{file, "return t.EndInserts(ctx, partitions)", "return nil"}),
		broken("a batch is announced after its insert",
			Edit{file, announce, "\tlimited,"},
			Edit{file, inserted,
				"\t\tb.metrics.insert.Observe(time.Since(begin).Seconds())\n\t\treturn b.commit(ctx, batch, before)"}),
		broken("a commit says that a batch is stored before it is",
			Edit{file, "commits = append(commits, commit{p, p.next,",
				"commits = append(commits, commit{p, max(p.next, last+1),"}),
		broken("no one looks at what is stored before another try", Edit{file, "if d.exists {", "if false {"}),
		broken("a batch is done before the one before it", Edit{"ingest/consumer/batcher.go", "\t\t\tb.store(ctx, batch)\n",
			"\t\t\tif b.swapped == nil {\n\t\t\t\tb.swapped = batch\n\t\t\t\tcontinue\n\t\t\t}\n\t\t\tb.store(ctx, batch)\n\t\t\tb.store(ctx, b.swapped)\n\t\t\tb.swapped = nil\n"},
			Edit{"ingest/consumer/batcher.go", "type batcher struct {", "type batcher struct {\n\tswapped *batch"}),
	}
}

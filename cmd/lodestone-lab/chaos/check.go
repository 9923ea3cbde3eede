package chaos

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/cmd/lodestone-lab/chaos/ledger"
	"lodestone/cmd/lodestone-lab/probe"
	"lodestone/ingest/stream"
	"lodestone/pkg/event"
)

// findings are the results of the check at the end.
type findings struct {
	Made        uint64   // events and link views that the senders made
	Acked       int64    // acknowledged
	Maybe       int64    // given up by their sender
	MaybeStored int64    // of those, how many are stored
	Rows        int64    // of events
	ViewRows    int64    // of link views
	Lost        int64    // acknowledged and not stored, but for those that are gone
	Gone        int64    // acknowledged and not stored, since Kafka lost or deleted them
	Doubled     int64    // stored more than once
	Strange     int64    // rows that no sender sent, or sent for another link
	Places      int64    // rows that share their place in the log with another
	Counters    int64    // links whose counter is not the number of their sessions, or of the views of their page
	Views       int64    // sum of the counters of access links
	Landings    int64    // sum of those of generic links
	Poison      int      // records written that cannot become rows
	DeadLetters int      // dead letters, repeats of one counted once
	DeadWrong   int      // poison without a dead letter, and dead letters without poison
	Compared    []string // what `lodestone verify` compared of copies of the events
	Verify      error    // of `lodestone verify`, which compares the engines with one another
	ShardRows   []int64  // rows of events of each ClickHouse server
	Asked       int      // answers of the query processes that were compared
	Differ      int      // of these, how many differ from the rows
	LostAt      map[int]int64
	DoubledAt   map[int]int64
	Examples    []string

	people map[uuid.UUID]*answers // what the rows say, by account
}

// ok reports whether nothing is wrong.
func (f *findings) ok() bool {
	return f.Lost == 0 && f.Doubled == 0 && f.Strange == 0 && f.Places == 0 && f.Counters == 0 && f.DeadWrong == 0 &&
		f.Verify == nil && f.Differ == 0
}

func (f *findings) examplef(format string, args ...any) {
	if len(f.Examples) < 20 {
		f.Examples = append(f.Examples, fmt.Sprintf(format, args...))
	}
}

// check compares the ledger with ClickHouse, ClickHouse with the counters in Postgres, and the
// poison with the dead letters. The system must have come to rest.
func check(ctx context.Context, w *world, l *load, p *poison, g *ledger.Gone) (*findings, error) {
	f := &findings{Made: l.next.Load(), LostAt: map[int]int64{}, DoubledAt: map[int]int64{}}
	f.Acked, f.Maybe = l.ledger.Counts()
	promises, err := ledger.Read(filepath.Join(w.dir, "ledger.txt"), f.Made)
	if err != nil {
		return nil, err
	}
	views, err := f.rows(ctx, w, l, promises)
	if err != nil {
		return nil, err
	}
	landings, err := f.viewRows(ctx, w, l, promises)
	if err != nil {
		return nil, err
	}
	for number, promise := range promises {
		switch {
		case promise.Acked && promise.Stored == 0 && g.Has(uint64(number)):
			f.Gone++
		case promise.Acked && promise.Stored == 0:
			f.Lost++
			f.LostAt[int(promise.Step)]++
			f.examplef("lost: %s, acknowledged in step %d", l.name(number, promise), promise.Step)
		case promise.Stored > 1:
			f.Doubled += int64(promise.Stored) - 1
			f.DoubledAt[int(promise.Step)] += int64(promise.Stored) - 1
			f.examplef("doubled: %s of step %d is stored %d times", l.name(number, promise), promise.Step, promise.Stored)
		case promise.Maybe && promise.Stored == 1:
			f.MaybeStored++
		}
	}
	for _, shard := range w.stores {
		for _, s := range stream.All() {
			var rows, places uint64
			err = shard.QueryRow(ctx, "SELECT sum(n), count() FROM (SELECT count() AS n FROM lodestone."+s.Table+
				" GROUP BY kafka_topic_id, kafka_partition, kafka_offset)"+
				// of a soak they do not fit into memory
				" SETTINGS max_bytes_before_external_group_by = 500000000").Scan(&rows, &places)
			if err != nil {
				return nil, fmt.Errorf("count places in the log: %w", err)
			}
			f.Places += int64(rows - places)
		}
	}
	if err := f.counters(ctx, w, "access_links", l.links, views, &f.Views); err != nil {
		return nil, err
	}
	if err := f.counters(ctx, w, "generic_links", l.landings, landings, &f.Landings); err != nil {
		return nil, err
	}
	if err := f.deadLetters(ctx, w, p); err != nil {
		return nil, err
	}
	if w.reader != nil {
		f.reader(ctx, w.reader)
	}
	f.Compared, err = w.verify(ctx)
	if f.Verify = errors.Join(err, w.verifyErased(ctx)); f.Verify != nil {
		f.examplef("%v", f.Verify)
	}
	return f, nil
}

func (l *load) name(number int, p ledger.Promise) string {
	if p.View {
		return fmt.Sprintf("link view %s (%d)", l.ids.View(uint64(number)), number)
	}
	return fmt.Sprintf("event %s (%d)", l.ids.Event(uint64(number)), number)
}

// opening is a session of a reader.
type opening struct{ link, session uint32 }

// rows reads every row of an event, notes it with its promise, and returns the views of each link.
func (f *findings) rows(ctx context.Context, w *world, l *load,
	promises []ledger.Promise) (map[uuid.UUID]int64, error) {
	openings := map[opening]struct{}{}
	f.people = map[uuid.UUID]*answers{}
	for i, shard := range w.stores {
		before := f.Rows
		if err := f.rowsOf(ctx, shard, l, promises, openings); err != nil {
			return nil, fmt.Errorf("read the stored events of %s: %w", shardName(i), err)
		}
		f.ShardRows = append(f.ShardRows, f.Rows-before)
	}
	views := make(map[uuid.UUID]int64, len(l.links))
	for o := range openings {
		link := l.links[o.link]
		if views[link.id] == 0 {
			f.of(link.account).Readers++
		}
		f.of(link.account).Sessions++
		views[link.id]++
	}
	return views, nil
}

// of returns what the reports are to answer for an account.
func (f *findings) of(account uuid.UUID) *answers {
	if f.people[account] == nil {
		f.people[account] = &answers{}
	}
	return f.people[account]
}

func (f *findings) rowsOf(ctx context.Context, shard driver.Conn, l *load, promises []ledger.Promise,
	openings map[opening]struct{}) error {
	rows, err := shard.Query(ctx,
		"SELECT access_link_id, event_id, session_id, toString(event_type), bot FROM lodestone.events")
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }() // an error shows in rows.Err
	for rows.Next() {
		var link, id, session uuid.UUID
		var kind, bot string
		if err := rows.Scan(&link, &id, &session, &kind, &bot); err != nil {
			return err
		}
		f.Rows++
		number, ours := l.ids.Number(id)
		if !ours || number >= uint64(len(promises)) || promises[number].View || l.ids.Event(number) != id ||
			l.links[l.linkOf(number)].id != link ||
			l.ids.Session(l.sessionOf(number)) != session || kindOf(number) != kind {
			f.Strange++
			f.examplef("strange: a row with event %s of link %s", id, link)
			continue
		}
		promises[number].Stored++
		if bot == "" {
			f.of(l.links[l.linkOf(number)].account).Events++
		}
		if kind == event.PageViewed.String() && bot == "" {
			openings[opening{uint32(l.linkOf(number)), uint32(l.sessionOf(number))}] = struct{}{}
		}
	}
	return rows.Err()
}

// visit is a view of a landing page: a visitor counts once a minute on a link.
type visit struct {
	link             uuid.UUID
	address, browser string
	minute           int64
}

// viewRows does so for link views.
func (f *findings) viewRows(ctx context.Context, w *world, l *load,
	promises []ledger.Promise) (map[uuid.UUID]int64, error) {
	visits := map[visit]struct{}{}
	for i, shard := range w.stores {
		if err := f.viewRowsOf(ctx, shard, l, promises, visits); err != nil {
			return nil, fmt.Errorf("read the stored link views of %s: %w", shardName(i), err)
		}
	}
	views := make(map[uuid.UUID]int64, len(l.landings))
	for v := range visits {
		views[v.link]++
	}
	return views, nil
}

func (f *findings) viewRowsOf(ctx context.Context, shard driver.Conn, l *load, promises []ledger.Promise,
	visits map[visit]struct{}) error {
	rows, err := shard.Query(ctx,
		"SELECT generic_link_id, event_id, bot, ip_hash, user_agent, created_at FROM lodestone.link_views")
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }() // an error shows in rows.Err
	for rows.Next() {
		var link, id uuid.UUID
		var bot, address, browser string
		var at time.Time
		if err := rows.Scan(&link, &id, &bot, &address, &browser, &at); err != nil {
			return err
		}
		f.ViewRows++
		number, ours := l.ids.Number(id)
		if !ours || number >= uint64(len(promises)) || !promises[number].View || l.ids.View(number) != id ||
			l.landings[l.landingOf(number)].id != link {
			f.Strange++
			f.examplef("strange: a row with link view %s of link %s", id, link)
			continue
		}
		promises[number].Stored++
		if bot == "" {
			f.of(l.landings[l.landingOf(number)].account).LinkViews++
			visits[visit{link, address, browser, at.Unix() / 60}] = struct{}{}
		}
	}
	return rows.Err()
}

// counters waits until the counter of every link is the number of its views, and counts those that
// do not get there. It adds up the counters.
func (f *findings) counters(ctx context.Context, w *world, table string, links []link,
	views map[uuid.UUID]int64, sum *int64) error {
	var wrong []string
	err := probe.Until(ctx, time.Minute, 500*time.Millisecond, "compare the counters", func() error {
		*sum, wrong = 0, nil
		counts, err := readCounters(ctx, w.postgres.URL(), table)
		if err != nil {
			return err
		}
		for _, link := range links {
			if w.operations.erased(link) { // its counter is gone with it
				continue
			}
			*sum += counts[link.id]
			if counts[link.id] != views[link.id] {
				wrong = append(wrong, fmt.Sprintf("counter of link %s in %s: %d, but it was viewed %d times", link.id, table,
					counts[link.id], views[link.id]))
			}
		}
		if len(wrong) > 0 {
			return errWrong
		}
		return nil
	})
	if !errors.Is(err, errWrong) {
		return err
	}
	f.Counters += int64(len(wrong))
	for _, text := range wrong {
		f.examplef("%s", text)
	}
	return ctx.Err()
}

var errWrong = errors.New("counters differ from the views")

func readCounters(ctx context.Context, url, table string) (map[uuid.UUID]int64, error) {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return nil, fmt.Errorf("read the counters: %w", err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	rows, err := conn.Query(ctx, "SELECT id, view_count FROM counted_"+table)
	if err != nil {
		return nil, fmt.Errorf("read the counters: %w", err)
	}
	counts := map[uuid.UUID]int64{}
	var id uuid.UUID
	var n int64
	if _, err := pgx.ForEachRow(rows, []any{&id, &n}, func() error { counts[id] = n; return nil }); err != nil {
		return nil, fmt.Errorf("read the counters: %w", err)
	}
	return counts, nil
}

// deadLetters compares the dead letters, by their origin, with the poison that was written.
func (f *findings) deadLetters(ctx context.Context, w *world, p *poison) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	ends, err := w.admin.ListEndOffsets(ctx, event.DeadLetterTopic)
	if err == nil {
		err = ends.Error()
	}
	if err != nil {
		return fmt.Errorf("read the dead letters: %w", err)
	}
	left := map[int32]int64{}
	for _, o := range ends[event.DeadLetterTopic] {
		if o.Offset > 0 {
			left[o.Partition] = o.Offset
		}
	}
	reader, err := kgo.NewClient(kgo.SeedBrokers(w.kafka.Brokers()...), kgo.ConsumeTopics(event.DeadLetterTopic))
	if err != nil {
		return err
	}
	defer reader.Close()
	found := map[string]struct{}{}
	for len(left) > 0 {
		fetches := reader.PollFetches(ctx)
		if ctx.Err() != nil {
			return fmt.Errorf("read the dead letters: %w", ctx.Err())
		}
		fetches.EachRecord(func(r *kgo.Record) {
			found[string(r.Key)] = struct{}{}
			if r.Offset+1 >= left[r.Partition] {
				delete(left, r.Partition)
			}
		})
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	f.Poison, f.DeadLetters = len(p.places), len(found)
	for _, place := range slices.Sorted(maps.Keys(p.places)) {
		if _, ok := found[place]; !ok {
			f.DeadWrong++
			f.examplef("no dead letter for the record at %s", place)
		}
	}
	for _, place := range slices.Sorted(maps.Keys(found)) {
		if _, ok := p.places[place]; !ok {
			f.DeadWrong++
			f.examplef("a dead letter for the record at %s, which is sound", place)
		}
	}
	return nil
}

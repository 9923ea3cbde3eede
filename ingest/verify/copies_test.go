package verify

import (
	"context"
	"fmt"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/clickhouse"
	"lodestone/pkg/event"
	"lodestone/pkg/kafka"
	"lodestone/pkg/test/enginetest"
)

func TestCopiesAreComparedByPartitionAndOffset(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	server := enginetest.NewClickHouse(t, enginetest.Dir(t))
	require.NoError(t, server.Start(t.Context()))
	t.Cleanup(func() { require.NoError(t, server.Stop(context.Background())) })
	second := clickhouse.Config{URL: server.URL(), Copy: 2}
	_, err := clickhouse.Migrate(t.Context(), second)
	require.NoError(t, err)

	earlier, id := uuid.New(), func(offset int) uuid.UUID { return uuid.NewSHA1(uuid.Nil, fmt.Append(nil, offset)) }
	add := func(to driver.Conn, topic uuid.UUID, offset int, event uuid.UUID, month string) {
		t.Helper()
		require.NoError(t, to.Exec(t.Context(),
			"INSERT INTO lodestone.events (account_id, event_id, kafka_topic_id, kafka_partition, kafka_offset, created_at) VALUES (?, ?, ?, 1, ?, ?)",
			r.account.String(), event.String(), topic.String(), offset, month+"-15 12:00:00"))
	}
	one, two := r.verifier.Conn, enginetest.Open(t, second)
	for offset := range 10 {
		add(one, earlier, offset, id(offset), "2026-03")
		if offset != 3 {
			add(two, earlier, offset, id(offset), "2026-03")
		}
	}
	compare := func() *Report {
		t.Helper()
		report := &Report{}
		require.NoError(t, r.verifier.CompareCopies(t.Context(), []clickhouse.Config{second}, "g", report))
		return report
	}
	differ := func(offset int64, text string) Difference {
		return Difference{
			Kind: Apart, Topic: event.Topic, TopicID: earlier, Partition: 1, Offsets: kafka.Range{From: offset, To: offset + 1},
			Count: 1, Text: text,
		}
	}
	lacks := differ(3, "copy 1 has the event, and copy 2 has not")
	require.Equal(t, []Difference{lacks}, compare().Differences)

	add(two, earlier, 3, id(3), "2026-03")
	report := compare()
	require.Empty(t, report.Differences)
	require.Contains(t, report.Copies, ComparedCopy{event.Topic, 1, 2, 10})

	add(one, earlier, 20, id(20), "2026-02")  // a month that has left the other copy
	add(one, r.TopicID, 0, id(21), "2026-03") // is not committed: it may be under way
	require.Empty(t, compare().Differences)

	add(two, earlier, 7, id(7), "2026-03")
	add(two, earlier, 12, id(12), "2026-03")
	add(one, earlier, 13, id(13), "2026-03")
	add(two, earlier, 13, id(14), "2026-03")
	require.Equal(t, []Difference{
		differ(7, "copies 1 and 2 have the event 1 and 2 times"),
		differ(12, "copy 2 has the event, and copy 1 has not"),
		differ(13, "copies 1 and 2 have different events there"),
	}, compare().Differences)
}

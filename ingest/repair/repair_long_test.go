//go:build long

package repair_test

import (
	"bytes"
	"context"
	"log/slog"
	"testing"
	"time"

	"lodestone/ingest/stream"

	native "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/ingest/consumer/consumertest"
	"lodestone/ingest/logbook"
	"lodestone/ingest/repair"
	"lodestone/pkg/clickhouse/clickhousetest"
	"lodestone/pkg/engine/enginetest"
	"lodestone/pkg/event"
	"lodestone/pkg/kafka"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

const waitLimit = enginetest.Timeout

// everyone was erased.
type everyone struct{}

func (everyone) Has(uuid.UUID) bool { return true }

// The log of a partition ends before what is stored, or has grown past it with other records: after the repair every
// event of either is stored once.
func TestARepairedPartitionStoresWhatTookTheOffsetsOfStoredRows(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ fresh, stored, rows int }{
		"grown past":                         {12, 10, 22},
		"still shorter":                      {2, 10, 12},
		"without rows, under a later leader": {12, 0, 13},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			s := enginetest.NewStack(t, enginetest.StackConfig{Partitions: 1})
			client, id := s.Client, s.TopicID
			log := slog.New(slog.DiscardHandler)

			var records [][]byte
			for range 10 + c.fresh {
				at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC).UnixMilli()
				e := event.Event{AccountID: uuid.New(), LeadMagnetID: uuid.New(), AccessLinkID: uuid.New(), EventID: uuid.New(), Type: event.PageViewed, CreatedAt: at, ReceivedAt: at, UserAgent: []byte("MARKER")}
				records = append(records, e.Append(nil))
			}
			produce := func(values ...[]byte) {
				for _, v := range values {
					require.NoError(t, client.ProduceSync(ctx, &kgo.Record{Topic: event.Topic, Value: v}).FirstErr())
				}
			}
			// Stored: 0 to 9. The log has 0 to 4 of them, and then others.
			of, _ := stream.Of(event.Topic)
			options, err := s.ClickHouse.BlockOptions()
			require.NoError(t, err)
			store := &stream.Store{Connection: stream.Connection{Dial: clickhousetest.Dialer(options), Log: log}, Stream: of, TopicID: id}
			defer store.Close()
			decoder, before := of.Decoder(), of.Tables.Take()
			for offset, v := range records[:c.stored] {
				_, err := decoder.Decode(v)
				require.NoError(t, err)
				decoder.Add(before, stream.Place{TopicID: id, Offset: int64(offset)})
			}
			limited, cancel := context.WithTimeout(ctx, waitLimit)
			defer cancel()
			if c.stored > 0 {
				require.NoError(t, store.Insert(limited, &store.Connection, before, id.String()+":before"))
			}
			produce(records[:5]...)
			if c.stored == 0 {
				offsets := kadm.Offsets{}
				offsets.Add(kadm.Offset{Topic: event.Topic, Partition: 0, At: 10, LeaderEpoch: 0})
				require.NoError(t, kadm.NewClient(client).CommitAllOffsets(ctx, "g", offsets))
				require.NoError(t, s.Broker.Cluster().MoveTopicPartition(event.Topic, 0, 0))
			}
			produce(records[10:]...)
			produce(records[7]) // the sender of a stored event sends it again

			book := logbook.New(s.Postgres)
			r := repair.Repairer{Options: s.Kafka.Options(log), Conn: s.Conn, Book: book, Group: "g", Erased: everyone{}}
			done, err := r.Partition(ctx, of, 0)
			require.NoError(t, err)
			require.Equal(t, kafka.Range{From: 5, To: 10}, done.Offsets)
			_, err = r.Partition(ctx, of, 0)
			require.ErrorIs(t, err, repair.ErrSound)
			// Whatever was written to fill the log may stand where consumers read, if collectors wrote as well.
			ranges, err := kafka.Ranges(ctx, client, event.Topic)
			require.NoError(t, err)
			decoder = of.Decoder()
			marked := 0
			require.NoError(t, kafka.ReadRange(ctx, s.Kafka.Options(log), event.Topic, 0, ranges[0], func(record *kgo.Record) error {
				marked += bytes.Count(record.Value, []byte("MARKER"))
				_, err := decoder.Decode(record.Value)
				return err
			}))
			require.Equal(t, 6+c.fresh, marked, "what was written again is blank")

			consume := func() {
				reads := consumertest.New(t, s)
				require.NoError(t, reads.Start(ctx))
				defer func() { require.NoError(t, reads.Stop(context.Background())) }()
				ranges, err := kafka.Ranges(ctx, client, event.Topic)
				require.NoError(t, err)
				require.Eventually(t, func() bool {
					next, err := stream.Committed(ctx, client, "g", event.Topic, id)
					return err == nil && next[0] == ranges[0].To
				}, waitLimit, 20*time.Millisecond)
			}
			consume()
			// Whoever sets the group back reads only what follows the repaired part, all of which was done.
			offsets := kadm.Offsets{}
			offsets.Add(kadm.Offset{Topic: event.Topic, Partition: 0, At: 3, LeaderEpoch: -1})
			require.NoError(t, kadm.NewClient(client).CommitAllOffsets(ctx, "g", offsets))
			consume()
			var rows, events uint64
			require.NoError(t, s.Conn.QueryRow(ctx, "SELECT count(), uniqExact(event_id) FROM lodestone.events WHERE kafka_topic_id = {topic:UUID}",
				native.Named("topic", id.String())).Scan(&rows, &events))
			require.Equal(t, []uint64{uint64(c.rows), uint64(c.rows)}, []uint64{rows, events})
			losses, err := book.Losses(ctx, true)
			require.NoError(t, err)
			require.Empty(t, losses)
		})
	}
}

package consumer

import (
	"context"
	"testing"
	"time"

	native "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/pkg/clickhouse"
	"lodestone/pkg/event"
	"lodestone/pkg/kafka"
)

func chParameter(name, value string) any { return native.Named(name, value) }

func TestEveryFieldOfAnEventArrivesInItsRow(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	e := event.Event{
		AccountID: uuid.New(), LeadMagnetID: uuid.New(), GenericLinkID: uuid.New(), AccessLinkID: uuid.New(),
		SessionID: uuid.New(), EventID: uuid.New(), MagnetVersion: 7, Type: event.DownloadCompleted,
		Page: 3, DurationMS: 8200, Data: []byte(`{"page":3,"duration_ms":8200,"x":"ü\u0000"}`),
		IPHash:    [16]byte{0xab, 15: 0xcd},
		UserAgent: []byte("Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0 ✓"), Bot: "crawler:x",
		Origin:    event.Origin{Language: event.Language{'g', 's', 'w'}, Country: event.Country{'C', 'H'}},
		CreatedAt: 1_795_000_000_123, ReceivedAt: 1_795_000_001_456,
	}
	offset := r.produce(0, e)
	r.consume(r.config())
	r.awaitCommit(0, offset+1)

	conn, err := clickhouse.Open(r.ClickHouse, 1)
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close()) }()
	var (
		account, magnet, link, eventID, topicID uuid.UUID
		generic, session                        *uuid.UUID
		typ, data, agent, bot                   string
		browser, system, country, language      string
		hash                                    *string
		version, page, duration                 uint32
		created, received                       time.Time
		partition                               int32
		at                                      int64
	)
	require.NoError(t, conn.QueryRow(context.Background(), `SELECT account_id, lead_magnet_id, generic_link_id,
		access_link_id, session_id, event_id, toString(event_type), event_data, magnet_version, page, duration_ms, ip_hash,
		user_agent, bot, created_at, received_at, kafka_topic_id, kafka_partition, kafka_offset, browser, os, country, language
		FROM analytics.events WHERE kafka_topic_id = {topic:UUID}`, chParameter("topic", r.TopicID.String())).Scan(
		&account, &magnet, &generic, &link, &session, &eventID, &typ, &data, &version, &page, &duration, &hash,
		&agent, &bot, &created, &received, &topicID, &partition, &at, &browser, &system, &country, &language))
	require.Equal(t, e.AccountID, account)
	require.Equal(t, e.LeadMagnetID, magnet)
	require.Equal(t, e.GenericLinkID, *generic)
	require.Equal(t, e.AccessLinkID, link)
	require.Equal(t, e.SessionID, *session)
	require.Equal(t, e.EventID, eventID)
	require.Equal(t, "download_completed", typ)
	require.Equal(t, string(e.Data), data)
	require.Equal(t, []uint32{7, 3, 8200}, []uint32{version, page, duration})
	require.Equal(t, "ab0000000000000000000000000000cd", *hash)
	require.Equal(t, []string{string(e.UserAgent), "crawler:x"}, []string{agent, bot})
	require.Equal(t, []string{"Firefox", "Linux", "CH", "gsw"}, []string{browser, system, country, language})
	require.Equal(t, e.CreatedAt, created.UnixMilli())
	require.Equal(t, e.ReceivedAt, received.UnixMilli())
	require.Equal(t, r.TopicID, topicID)
	require.Equal(t, int32(0), partition)
	require.Equal(t, offset, at)
}

func TestRepeatsAreDroppedAlsoAcrossARestart(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	events := r.events(10)
	stop := r.consume(r.config())
	r.produce(0, append(events, events[3], events[3])...)
	r.awaitCommit(0, 12)
	stop()
	r.produce(0, events...)
	other := events[5]
	other.AccessLinkID = uuid.New() // the same id on another link is another event
	r.produce(0, other)
	r.consume(r.config())
	r.awaitCommit(0, 23)
	r.requireStoredRows(11)
}

// requireStoredRows is requireStored where offsets have holes.
func (r *rig) requireStoredRows(want uint64) {
	r.t.Helper()
	rows, offsets := r.counts()
	require.Equal(r.t, want, rows)
	require.Equal(r.t, want, offsets)
}

func TestPoisonGoesToTheDeadLettersAndHoldsNothingUp(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	good, invalid := r.event(1), r.event(3)
	invalid.Data = []byte(`{"page":`)
	r.produceRaw(0, good.Append(nil), []byte("\xff\xff"), []byte{}, []byte{8, 99}, invalid.Append(nil))
	last := r.produce(0, r.event(4))
	r.consume(r.config())
	r.awaitCommit(0, last+1)
	r.requireStoredRows(2)

	letters, err := kgo.NewClient(append(r.Kafka.Options(testLog()), kgo.ConsumeTopics(event.DeadLetterTopic),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))...)
	require.NoError(t, err)
	defer letters.Close()
	ctx, cancel := context.WithTimeout(t.Context(), waitLimit)
	defer cancel()
	reasons := map[string]string{}
	for len(reasons) < 4 {
		fetches := letters.PollFetches(ctx)
		require.NoError(t, ctx.Err(), "%v", reasons)
		fetches.EachRecord(func(rec *kgo.Record) {
			for _, h := range rec.Headers {
				if h.Key == "reason" {
					reasons[string(rec.Key)] = string(h.Value)
				}
			}
		})
	}
	prefix := r.TopicID.String() + "/0/"
	require.Equal(t, map[string]string{
		prefix + "1": "malformed", prefix + "2": "malformed", prefix + "3": "malformed", prefix + "4": "invalid",
	}, reasons)
}

func TestThePoisonMayBeAsLargeAsKafkaTakesIt(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	large, err := kgo.NewClient(append(r.Kafka.Options(testLog()), kgo.ProducerBatchMaxBytes(kafka.DeadLetterBytes))...)
	require.NoError(t, err)
	defer large.Close()
	poison := &kgo.Record{Topic: event.Topic, Value: make([]byte, 1_048_000)}
	require.NoError(t, large.ProduceSync(t.Context(), poison).FirstErr())
	last := r.produce(0, r.event(1))
	r.consume(r.config())
	r.awaitCommit(0, last+1)
	r.requireStoredRows(1)
}

func TestARebalanceUnderLoadLosesAndDoublesNothing(t *testing.T) {
	t.Parallel()
	const partitions, each = 4, 30
	r := newRig(t, partitions)
	c := r.config()
	c.BatchRows = 15
	r.consume(c)
	total := 0
	produce := func() {
		for partition := range int32(partitions) {
			r.produce(partition, r.events(each)...)
		}
		total += each
	}
	produce()
	second := r.consume(c)
	produce()
	third := r.consume(c)
	produce()
	second()
	produce()
	third()
	produce()
	for partition := range int32(partitions) {
		r.awaitCommit(partition, int64(total))
	}
	r.requireStored(partitions * total)
}

package consumer

import (
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"lodestone/ingest/stream"
	"lodestone/pkg/event"
	"lodestone/pkg/test/enginetest"
)

// A batch of many partitions is announced by one commit, and inserted at once: a consumer of
// hundreds of partitions would else wait for hundreds of answers.
func TestPartitionsShareABatch(t *testing.T) {
	t.Parallel()
	const partitions = 6
	r := newRig(t, partitions)
	most := 0
	var mu sync.Mutex
	r.Broker.Cluster().Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.OffsetCommit}, Count: -1,
		When: func(req kmsg.Request) bool {
			n := 0
			for _, topic := range req.(*kmsg.OffsetCommitRequest).Topics {
				n += len(topic.Partitions)
			}
			mu.Lock()
			defer mu.Unlock()
			most = max(most, n)
			return false
		}})
	for partition := range int32(partitions) {
		r.produce(partition, r.events(10)...)
	}
	config := r.steady()
	config.BatchAge = time.Second
	metrics := prometheus.NewRegistry()
	c, err := New(config, Deps{Kafka: r.Kafka, ClickHouse: r.ClickHouse, Postgres: r.Postgres,
		Log: testLog(), Registerer: metrics})
	require.NoError(t, err)
	enginetest.Run(t, c)
	for partition := range int32(partitions) {
		r.awaitCommit(partition, 10)
	}
	r.requireStored(10 * partitions)
	require.Less(t, counter(t, metrics, "lodestone_consumer_batches_total"), float64(partitions))
	mu.Lock()
	defer mu.Unlock()
	require.Greater(t, most, 1)
}

// Kafka refuses the commit of one partition of a batch: nothing is inserted before it is taken.
func TestACommitThatIsRefusedForOnePartitionIsRepeated(t *testing.T) {
	t.Parallel()
	const partitions = 3
	r := newRig(t, partitions)
	r.Broker.Cluster().Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.OffsetCommit}, Err: kerr.UnknownTopicOrPartition,
		Topic: event.Topic, Partitions: []int32{1}, Count: 3})
	for partition := range int32(partitions) {
		r.produce(partition, r.events(10)...)
	}
	r.consume(r.config())
	for partition := range int32(partitions) {
		r.awaitCommit(partition, 10)
	}
	r.requireStored(10 * partitions)
}

func request(partitions ...int32) *kmsg.OffsetCommitRequest {
	topic := kmsg.NewOffsetCommitRequestTopic()
	topic.Topic, topic.TopicID = event.Topic, [16]byte{1}
	for _, number := range partitions {
		p := kmsg.NewOffsetCommitRequestTopicPartition()
		p.Partition = number
		topic.Partitions = append(topic.Partitions, p)
	}
	req := kmsg.NewPtrOffsetCommitRequest()
	req.Topics = append(req.Topics, topic)
	return req
}

// A partition may have another owner once it has been given back.
func TestTheCommitOfAPartitionThatWasGivenBackIsLeftOut(t *testing.T) {
	t.Parallel()
	of := map[assignment]commit{}
	for number := range int32(3) {
		of[assignment{event.Topic, number}] = commit{of: &partition{}, announced: stream.Announcement{Last: int64(number)}}
	}
	req := request(0, 1, 2)
	require.NoError(t, complete(req, of))
	require.Len(t, req.Topics[0].Partitions, 3)
	require.Equal(t, of[assignment{event.Topic, 1}].announced.String(), *req.Topics[0].Partitions[1].Metadata)
	of[assignment{event.Topic, 1}].of.givenBack.Store(true)
	req = request(0, 1, 2)
	require.NoError(t, complete(req, of))
	require.Len(t, req.Topics[0].Partitions, 2)
	require.Equal(t, of[assignment{event.Topic, 2}].announced.String(), *req.Topics[0].Partitions[1].Metadata)
	require.ErrorIs(t, complete(request(1), of), errGiven, "nothing is left")
}

// From version 10 of the request on, an answer names topics by their ids.
func TestAnswersToCommits(t *testing.T) {
	t.Parallel()
	answer := func(topic string, id [16]byte, codes ...int16) *kmsg.OffsetCommitResponse {
		resp := kmsg.NewPtrOffsetCommitResponse()
		rt := kmsg.NewOffsetCommitResponseTopic()
		rt.Topic, rt.TopicID = topic, id
		for number, code := range codes {
			p := kmsg.NewOffsetCommitResponseTopicPartition()
			p.Partition, p.ErrorCode = int32(number), code
			rt.Partitions = append(rt.Partitions, p)
		}
		resp.Topics = append(resp.Topics, rt)
		return resp
	}
	refused := kerr.IllegalGeneration.Code
	for _, resp := range []*kmsg.OffsetCommitResponse{answer(event.Topic, [16]byte{}, 0, refused),
		answer("", [16]byte{1}, 0, refused)} {
		answers := readAnswers(request(0, 1), resp)
		require.NoError(t, answers.of(assignment{event.Topic, 0}))
		require.ErrorIs(t, answers.of(assignment{event.Topic, 1}), kerr.IllegalGeneration)
		require.ErrorContains(t, answers.of(assignment{event.Topic, 2}), "does not name")
		require.ErrorContains(t, answers.of(assignment{event.LinkViewTopic, 0}), "does not name")
	}
}

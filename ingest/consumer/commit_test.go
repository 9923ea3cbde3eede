package consumer

import (
	"context"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"lodestone/pkg/event"
	"lodestone/pkg/test/enginetest"
)

// While Kafka answers one commit, the others gather: a consumer of hundreds of partitions would
// else wait for hundreds of answers.
func TestPartitionsCommitTogether(t *testing.T) {
	t.Parallel()
	const partitions = 6
	r := newRig(t, partitions)
	most := make(chan int, 1000)
	r.Broker.Cluster().Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.OffsetCommit}, Count: -1, When: func(req kmsg.Request) bool {
		n := 0
		for _, topic := range req.(*kmsg.OffsetCommitRequest).Topics {
			n += len(topic.Partitions)
		}
		most <- n
		return false
	}})
	config := r.steady()
	config.BlockRows = 100_000 // so that no partition waits for a slot
	c, err := New(config, Deps{Kafka: r.Kafka, ClickHouse: r.ClickHouse, Postgres: r.Postgres, Log: testLog(), Registerer: prometheus.NewRegistry()})
	require.NoError(t, err)
	enginetest.Run(t, c)
	require.Eventually(t, func() bool { return c.status().partitions == 2*partitions }, waitLimit, time.Millisecond)
	c.commits.mu.Lock()
	c.commits.sending = true // a request is under way
	c.commits.mu.Unlock()
	for partition := range int32(partitions) {
		r.produce(partition, r.events(10)...)
	}
	require.Eventually(t, func() bool {
		c.commits.mu.Lock()
		defer c.commits.mu.Unlock()
		return len(c.commits.waiting) == partitions
	}, waitLimit, time.Millisecond)
	require.Empty(t, most)
	c.commits.send()
	require.Equal(t, partitions, <-most)
	for partition := range int32(partitions) {
		r.awaitCommit(partition, 10)
	}
	r.requireStored(10 * partitions)
}

// Kafka refuses the commit of one partition: it is repeated, and the others of its request are not.
func TestACommitThatIsRefusedIsRepeatedAlone(t *testing.T) {
	t.Parallel()
	const partitions = 3
	r := newRig(t, partitions)
	r.Broker.Cluster().Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.OffsetCommit}, Err: kerr.UnknownTopicOrPartition, Topic: event.Topic, Partitions: []int32{1}, Count: 3})
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

// A partition may have another owner once its worker has been stopped and waited for.
func TestTheCommitOfAWorkerThatWasStoppedIsLeftOut(t *testing.T) {
	t.Parallel()
	stopped, stop := context.WithCancel(t.Context())
	of := map[assignment]*commitCall{
		{event.Topic, 0}: {ctx: t.Context(), metadata: "0"}, {event.Topic, 1}: {ctx: stopped, metadata: "1"}, {event.Topic, 2}: {ctx: t.Context(), metadata: "2"},
	}
	req := request(0, 1, 2)
	require.NoError(t, announce(req, of))
	require.Len(t, req.Topics[0].Partitions, 3)
	require.Equal(t, "1", *req.Topics[0].Partitions[1].Metadata)
	stop()
	req = request(0, 1, 2)
	require.NoError(t, announce(req, of))
	require.Len(t, req.Topics[0].Partitions, 2)
	require.Equal(t, "2", *req.Topics[0].Partitions[1].Metadata)
	require.ErrorIs(t, announce(request(1), of), context.Canceled, "nothing is left")
}

// The worker of a later assignment may commit while a request has the commit of the one before.
func TestCommitsOfAPartitionKeepTheirOrder(t *testing.T) {
	t.Parallel()
	earlier, other, later := &commitCall{assignment: assignment{event.Topic, 1}}, &commitCall{assignment: assignment{event.Topic, 2}}, &commitCall{assignment: assignment{event.Topic, 1}}
	c := &committer{waiting: []*commitCall{earlier, other, later}}
	require.Equal(t, []*commitCall{earlier, other}, c.next())
	require.Equal(t, []*commitCall{later}, c.next())
	require.Empty(t, c.next())
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
	for _, resp := range []*kmsg.OffsetCommitResponse{answer(event.Topic, [16]byte{}, 0, refused), answer("", [16]byte{1}, 0, refused)} {
		require.NoError(t, commitError(assignment{event.Topic, 0}, request(0, 1), resp, nil))
		require.ErrorIs(t, commitError(assignment{event.Topic, 1}, request(0, 1), resp, nil), kerr.IllegalGeneration)
		require.ErrorContains(t, commitError(assignment{event.Topic, 2}, request(0, 1), resp, nil), "does not name")
		require.ErrorContains(t, commitError(assignment{event.LinkViewTopic, 0}, request(0, 1), resp, nil), "does not name")
	}
	require.ErrorIs(t, commitError(assignment{event.Topic, 0}, request(0), nil, context.Canceled), context.Canceled)
}

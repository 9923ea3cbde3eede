//go:build long

package producer_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/ingest/producer"
	"lodestone/pkg/test/enginetest"
)

func TestWriteToApacheKafka(t *testing.T) {
	t.Parallel()
	brokers := enginetest.ApacheKafka(t)
	name := "producer-" + uuid.NewString()
	makeTopic(t, brokers, name)
	p := newProducer(t, settings(), brokers, name)
	start(t, p)
	requireOrderedByKey(t, brokers, name, p)
}

// The client refuses a topic whose id is another than before, for good, until it forgets the topic.
func TestTopicRecreated(t *testing.T) {
	t.Parallel()
	brokers := enginetest.ApacheKafka(t)
	name := "producer-" + uuid.NewString()
	admin := makeTopic(t, brokers, name)
	p := newProducer(t, settings(), brokers, name)
	start(t, p)
	write := func(within time.Duration) error {
		ctx, cancel := context.WithTimeout(context.Background(), within)
		defer cancel()
		return p.Write(ctx, []producer.Record{{Topic: name, Key: []byte("a"), Value: []byte("b")}})
	}
	require.NoError(t, write(enginetest.Timeout))
	before, err := admin.ListTopics(context.Background(), name)
	require.NoError(t, err)
	_, err = admin.DeleteTopic(context.Background(), name)
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		_, _ = admin.CreateTopic(context.Background(), 4, 1, nil, name) // it may be made though the answer comes too late
		after, err := admin.ListTopics(context.Background(), name)
		return err == nil && len(after[name].Partitions) == 4 && after[name].ID != before[name].ID
	}, enginetest.Timeout, 50*time.Millisecond)
	require.Eventually(t, func() bool { return write(5*time.Second) == nil }, enginetest.Timeout, 50*time.Millisecond)
}

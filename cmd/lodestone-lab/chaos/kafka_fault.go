package chaos

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"

	"lodestone/cmd/lodestone-lab/probe"
	"lodestone/pkg/event"
	"lodestone/pkg/kafka"
)

// comeAndGo adds a consumer, and makes another leave in order and come back.
func comeAndGo(ctx context.Context, s *scene) error {
	third := s.consumers[maxConsumers-1]
	s.note("%s joins", third.Name)
	if err := third.Start(); err != nil {
		return err
	}
	err := s.hold(ctx, s.between(3*time.Second, 8*time.Second))
	p := s.consumer()
	s.note("%s leaves and comes back", p.Name)
	p.Stop(40 * time.Second)
	err = errors.Join(err, s.hold(ctx, s.between(time.Second, 4*time.Second)), p.Start(),
		s.hold(ctx, s.between(time.Second, 4*time.Second)))
	s.note("%s leaves", third.Name)
	third.Stop(40 * time.Second)
	return err
}

// otherGroup starts a consumer of another group on the same Kafka, ClickHouse and Postgres, which
// has to be refused: it would store everything once more.
func otherGroup(ctx context.Context, s *scene) error {
	s.note("a consumer of another group starts")
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	third := s.consumers[maxConsumers-1]
	cmd := exec.CommandContext(ctx, third.Program, third.Command)
	cmd.Env, cmd.Dir = append(append(os.Environ(), third.Env...), "LODESTONE_CONSUMER_GROUP=another"), s.dir
	output, err := cmd.CombinedOutput()
	switch {
	case ctx.Err() != nil:
		s.wrong("a consumer of another group was not refused")
	case err == nil:
		s.wrong("a consumer of another group ended without an error")
	case !strings.Contains(string(output), "is another") || !strings.Contains(string(output), "group "+group):
		s.wrong("the refusal of another group does not name the groups: %s", output)
	}
	return nil
}

// withoutConsumers does a thing while no consumer runs and the group is empty.
func (s *scene) withoutConsumers(brutal bool, do func() error) error {
	for _, p := range s.consumers[:consumers] {
		if brutal {
			p.Kill(time.Hour) // start below begins the next life
		}
		p.Stop(40 * time.Second)
	}
	return errors.Join(do(), s.startConsumers())
}

// retry repeats what Kafka or ClickHouse refuses for a while.
func retry(ctx context.Context, what string, do func() error) error {
	return probe.Until(ctx, startTimeout, retryInterval, what, do)
}

func deleteOffsets(ctx context.Context, s *scene) error {
	s.note("delete the group with its offsets while no consumer runs")
	return s.withoutConsumers(s.rand.IntN(2) == 0, func() error {
		return retry(ctx, "delete the group", func() error {
			done, err := s.admin.DeleteGroup(ctx, group)
			if err == nil {
				err = done.Err
			}
			if errors.Is(err, kerr.GroupIDNotFound) {
				return nil
			}
			return err
		})
	})
}

func setOffsetsBack(ctx context.Context, s *scene) error {
	back := 1000 + s.rand.Int64N(100_000)
	s.note("set the group's offsets back by %d, without announcements, while no consumer runs", back)
	return s.withoutConsumers(s.rand.IntN(2) == 0, func() error {
		return retry(ctx, "set offsets back", func() error {
			offsets, err := s.admin.FetchOffsetsForTopics(ctx, group, topics...)
			if err != nil {
				return err
			}
			var old kadm.Offsets
			offsets.Each(func(o kadm.OffsetResponse) {
				if o.At >= 0 {
					old.Add(kadm.Offset{Topic: o.Topic, Partition: o.Partition, At: max(0, o.At-back), LeaderEpoch: -1})
				}
			})
			if len(old) == 0 {
				return nil
			}
			return s.admin.CommitAllOffsets(ctx, group, old)
		})
	})
}

// topicRecreated deletes the events' topic, or that of link views, and makes it again. What is in
// the old one and not stored would be lost by that, so an operator lets it run dry first, and so do
// we.
func topicRecreated(ctx context.Context, s *scene) error {
	topic := event.Topic
	if s.rand.IntN(3) == 0 {
		topic = event.LinkViewTopic
	}
	s.note("delete the topic %s and recreate it, once it has run dry", topic)
	if err := s.load.quiet(ctx); err != nil {
		return err
	}
	defer s.load.resume()
	if err := s.drained(ctx, s.limit); err != nil {
		return err
	}
	defer s.direct.PurgeTopicsFromClient(topic) // else it holds on to the id of the old one
	return s.recreateTopic(ctx, topic)
}

func (w *world) recreateTopic(ctx context.Context, topic string) error {
	before, err := w.topicID(ctx, topic)
	if err != nil {
		return err
	}
	if err := retry(ctx, "delete the topic", func() error {
		done, err := w.admin.DeleteTopic(ctx, topic)
		if err == nil {
			err = done.Err
		}
		if errors.Is(err, kerr.UnknownTopicOrPartition) {
			return nil
		}
		return err
	}); err != nil {
		return err
	}
	return retry(ctx, "make the topic", func() error {
		// The product's own command; topics that exist it leaves alone.
		if err := w.command(ctx, "migrate"); err != nil {
			return err
		}
		now, err := w.topicID(ctx, topic)
		if err == nil && now == before {
			err = errors.New("the old topic is still there")
		}
		return err
	})
}

func (w *world) topicID(ctx context.Context, topic string) (uuid.UUID, error) {
	listed, err := w.admin.ListTopics(ctx, topic)
	if err == nil {
		err = listed.Error()
	}
	if err != nil {
		return uuid.Nil, err
	}
	return uuid.UUID(listed[topic].ID), nil
}

// topics are those that the senders' records go to.
var topics = kafka.KeyedTopics()

// ends are the ends of the log by topic and partition.
type ends map[string][]int64

func (w *world) ends(ctx context.Context) (ends, error) {
	listed, err := w.admin.ListEndOffsets(ctx, topics...)
	if err == nil {
		err = listed.Error()
	}
	if err != nil {
		return nil, err
	}
	found := ends{}
	for topic, partitions := range listed {
		found[topic] = make([]int64, len(partitions))
	}
	listed.Each(func(o kadm.ListedOffset) { found[o.Topic][o.Partition] = o.Offset })
	return found, nil
}

// caughtUp reports whether the groups have committed everything below the offsets given.
func (w *world) caughtUp(ctx context.Context, ends ends) (bool, error) {
	behind := false
	for _, name := range w.groups() {
		committed, err := w.admin.FetchOffsetsForTopics(ctx, name, topics...)
		if err != nil {
			return false, err
		}
		for topic, log := range ends {
			for partition, end := range log {
				o, ok := committed.Lookup(topic, int32(partition))
				behind = behind || end > 0 && (!ok || o.At < end)
			}
		}
	}
	return !behind, nil
}

// await returns when everything in the log below the ends is stored. Errors are part of the
// picture: Kafka may be down.
func (w *world) await(ctx context.Context, ends ends, within time.Duration) error {
	return probe.Until(ctx, within, retryInterval, "store everything", func() error {
		done, err := w.caughtUp(ctx, ends)
		if err == nil && !done {
			err = errors.New("not everything is stored")
		}
		return err
	})
}

// drained returns when the spools are empty and the log is stored to its end of then.
func (w *world) drained(ctx context.Context, within time.Duration) error {
	var all ends
	if err := w.spoolsEmpty(ctx, within); err != nil {
		return err
	}
	if err := retry(ctx, "read the ends of the log", func() (err error) {
		if all, err = w.ends(ctx); err == nil && slices.Max(slices.Concat(all[event.Topic], all[event.LinkViewTopic])) == 0 {
			err = errors.New("nothing has reached the topics")
		}
		return err
	}); err != nil {
		return err
	}
	return w.await(ctx, all, within)
}

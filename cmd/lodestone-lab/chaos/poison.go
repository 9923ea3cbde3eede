package chaos

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/pkg/event"
)

// poison keeps account of the records that were written to the topic and cannot become rows.
type poison struct {
	mu     sync.Mutex
	places map[string]struct{} // as the dead letters' keys name them
}

// poisons returns one record of each kind that cannot become a row.
func poisons(l link) map[string][]byte {
	good := event.Event{
		AccountID: l.account, LeadMagnetID: l.magnet, AccessLinkID: l.id, EventID: uuid.New(), Type: event.PageViewed,
		Page: 1, Data: []byte(`{"page":1}`), CreatedAt: time.Now().UnixMilli(), ReceivedAt: time.Now().UnixMilli(),
	}
	with := func(change func(e *event.Event)) []byte {
		e := good
		change(&e)
		return e.Append(nil)
	}
	full := good.Append(nil)
	return map[string][]byte{
		"nothing":               {},
		"noise":                 {0xff, 0xfe, 0x00, 0x17, 0x80, 0x80},
		"cut short":             full[:len(full)-5],
		"no event type":         with(func(e *event.Event) { e.Type = 0 }),
		"no access link":        with(func(e *event.Event) { e.AccessLinkID = uuid.Nil }),
		"data that is no JSON":  with(func(e *event.Event) { e.Data = []byte(`{"page":`) }),
		"text that is no UTF-8": with(func(e *event.Event) { e.UserAgent = []byte{0xc3, 0x28} }),
		"a time out of range":   with(func(e *event.Event) { e.CreatedAt = -1 }),
	}
}

func writePoison(ctx context.Context, s *scene) error {
	for range 1 + s.rand.IntN(3) {
		kinds := poisons(s.links[0])
		// None of them is a link view, either: those of access links have no generic link.
		for _, topic := range topics {
			id, err := s.topicID(ctx, topic)
			if err != nil {
				return err
			}
			s.note("write %d records that cannot become rows to %s", len(kinds), topic)
			for _, kind := range slices.Sorted(maps.Keys(kinds)) {
				r := &kgo.Record{Topic: topic, Partition: s.rand.Int32N(partitions), Key: s.links[0].id[:], Value: kinds[kind]}
				if err := s.direct.ProduceSync(ctx, r).FirstErr(); err != nil {
					return fmt.Errorf("write a record that is %s: %w", kind, err)
				}
				s.poison.add(id, r.Partition, r.Offset)
			}
		}
		if err := s.hold(ctx, s.between(time.Second, 3*time.Second)); err != nil {
			return err
		}
	}
	return nil
}

func (p *poison) add(topicID uuid.UUID, partition int32, offset int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.places[topicID.String()+"/"+strconv.Itoa(int(partition))+"/"+strconv.FormatInt(offset, 10)] = struct{}{}
}

package deadletter

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/pkg/event"
	"lodestone/pkg/kafka"
)

// ErrUnknown is wrapped by errors about an origin without a dead letter.
var ErrUnknown = errors.New("there is no such dead letter")

// Box is the dead-letter topic. It is safe for concurrent use.
type Box struct {
	client  *kgo.Client
	options []kgo.Opt
}

// NewBox returns the box of a cluster. client queries and writes; options, those of the client,
// create the clients that read.
func NewBox(client *kgo.Client, options []kgo.Opt) *Box { return &Box{client, options} }

// Filter selects dead letters. Its zero value selects all.
type Filter struct {
	States  []State  // none: any
	Reason  string   // empty: any
	Origins []Origin // none: any
	Since   time.Time
}

func (f Filter) matches(l *Letter) bool {
	return (len(f.States) == 0 || slices.Contains(f.States, l.State)) &&
		(f.Reason == "" || l.Reason == f.Reason) &&
		(len(f.Origins) == 0 || slices.Contains(f.Origins, l.Origin)) &&
		!l.At.Before(f.Since)
}

// scope is the part of the topic that is read. Its zero value is all of it.
type scope struct {
	since   time.Time
	origins []Origin // only the partitions that hold them
}

// each calls fn with every entry in the scope, and possibly others, of the topic as it is now.
func (b *Box) each(ctx context.Context, s scope, fn func(entry) error) error {
	ranges, err := b.ranges(ctx, s)
	if err != nil {
		return err
	}
	for partition, r := range ranges {
		err := kafka.ReadRange(ctx, b.options, event.DeadLetterTopic, partition, r, func(record *kgo.Record) error {
			if e, ok := parse(record); ok {
				return fn(e)
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("read dead letters: %w", err)
		}
	}
	return nil
}

// ranges returns the offsets of the scope.
func (b *Box) ranges(ctx context.Context, s scope) (map[int32]kafka.Range, error) {
	ranges, err := kafka.Ranges(ctx, b.client, event.DeadLetterTopic)
	if err != nil {
		return nil, err
	}
	if len(s.origins) > 0 {
		only := map[int32]kafka.Range{}
		for _, o := range s.origins {
			// As the clients that wrote the letter and its markers chose it.
			key := &kgo.Record{Key: []byte(o.String())}
			partition := int32(kgo.StickyKeyPartitioner(nil).ForTopic(event.DeadLetterTopic).Partition(key, len(ranges)))
			only[partition] = ranges[partition]
		}
		ranges = only
	}
	if s.since.IsZero() {
		return ranges, nil
	}
	// Brokers' clocks differ a little.
	first, err := kadm.NewClient(b.client).ListOffsetsAfterMilli(ctx,
		s.since.Add(-time.Hour).UnixMilli(), event.DeadLetterTopic)
	if err == nil {
		err = first.Error()
	}
	if err != nil {
		return nil, fmt.Errorf("find the dead letters of a time: %w", err)
	}
	for partition, r := range ranges {
		if o, ok := first.Lookup(event.DeadLetterTopic, partition); ok {
			ranges[partition] = kafka.Range{From: min(max(r.From, o.Offset), r.To), To: r.To}
		}
	}
	return ranges, nil
}

// List returns the letters that match the filter, without their records, oldest first. It reads the
// topic from the filter's time on, or the partitions of its origins, and holds a few hundred bytes
// of each letter there in memory.
func (b *Box) List(ctx context.Context, f Filter) ([]Letter, error) {
	letters, err := b.list(ctx, f, scope{since: f.Since, origins: f.Origins})
	if err == nil && len(letters) < len(f.Origins) {
		// The topic may have had fewer partitions when they were written.
		return b.list(ctx, f, scope{since: f.Since})
	}
	return letters, err
}

func (b *Box) list(ctx context.Context, f Filter, s scope) ([]Letter, error) {
	known := map[Origin]*Letter{}
	err := b.each(ctx, s, func(e entry) error {
		l := known[e.letter.Origin]
		if l == nil {
			l = &Letter{Origin: e.letter.Origin}
			known[e.letter.Origin] = l
		}
		l.merge(e)
		return nil
	})
	if err != nil {
		return nil, err
	}
	var letters []Letter
	for _, l := range known {
		if l.Reason != "" && f.matches(l) { // a marker whose letter is gone is not listed
			letters = append(letters, *l)
		}
	}
	slices.SortFunc(letters, func(a, b Letter) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Origin.Partition, b.Origin.Partition),
			cmp.Compare(a.Origin.Offset, b.Origin.Offset))
	})
	return letters, nil
}

// Read returns a letter and its record. The error wraps ErrUnknown if there is none.
func (b *Box) Read(ctx context.Context, o Origin) (Letter, []byte, error) {
	letter, value, err := b.read(ctx, o, scope{origins: []Origin{o}})
	if errors.Is(err, ErrUnknown) {
		return b.read(ctx, o, scope{}) // the topic may have had fewer partitions
	}
	return letter, value, err
}

func (b *Box) read(ctx context.Context, o Origin, s scope) (Letter, []byte, error) {
	letter, value, found := Letter{Origin: o}, []byte(nil), false
	err := b.each(ctx, s, func(e entry) error {
		if e.letter.Origin == o {
			letter.merge(e)
			if !e.marker {
				value, found = e.value, true
			}
		}
		return nil
	})
	if err == nil && !found {
		err = fmt.Errorf("%s: %w", o, ErrUnknown)
	}
	return letter, value, err
}

// Discard marks letters as not worth replaying, with a reason. Letters that were replayed or
// discarded already are left alone. It returns the number of marked letters; the error wraps
// ErrUnknown, and nothing is marked, if one of the origins has no letter.
func (b *Box) Discard(ctx context.Context, origins []Origin, why string) (int, error) {
	letters, err := b.List(ctx, Filter{Origins: origins})
	if err != nil {
		return 0, err
	}
	if err := requireAll(letters, origins); err != nil {
		return 0, err
	}
	letters = slices.DeleteFunc(letters, func(l Letter) bool { return l.State != Open })
	return len(letters), b.mark(ctx, letters, Discarded, why)
}

func requireAll(letters []Letter, origins []Origin) error {
	for _, o := range origins {
		if !slices.ContainsFunc(letters, func(l Letter) bool { return l.Origin == o }) {
			return fmt.Errorf("%s: %w", o, ErrUnknown)
		}
	}
	return nil
}

// mark returns when the markers are durable.
func (b *Box) mark(ctx context.Context, letters []Letter, state State, why string) error {
	markers := make([]*kgo.Record, len(letters))
	for i, l := range letters {
		markers[i] = marker(l, state, why)
	}
	if err := b.client.ProduceSync(ctx, markers...).FirstErr(); err != nil {
		return fmt.Errorf("mark dead letters as %s: %w", state, err)
	}
	return nil
}

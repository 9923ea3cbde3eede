package backup

import (
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/pkg/clickhouse"
	"lodestone/pkg/config"
	"lodestone/pkg/kafka"
	"lodestone/pkg/store"
)

// RestoreCopy brings the ClickHouse of a backup to empty servers, as a further copy of the events
// of a running installation. The consumer group is set to what that of the backup had committed, so
// that its consumers store from Kafka what the copy lacks. The copy is put on record last: what is
// cut off before can be repeated with empty servers.
func (b *Backups) RestoreCopy(ctx context.Context, m Manifest, group string) (r Rewind, err error) {
	servers, err := b.serversFor(m)
	if err != nil {
		return r, err
	}
	if err := b.deps.requireNewCopy(ctx); err != nil {
		return r, err
	}
	if err := requireEmptyClickHouse(ctx, servers); err != nil {
		return r, err
	}
	if err := b.requireSound(ctx, m); err != nil {
		return r, err
	}
	if err := b.restoreShards(ctx, servers, m); err != nil {
		return r, err
	}
	err = b.deps.Postgres.WithMigrationLock(ctx, func(ctx context.Context) error {
		if err := b.deps.requireNewCopy(ctx); err != nil {
			return err
		}
		r, err = b.deps.join(ctx, group, m.Offsets)
		return err
	})
	return r, err
}

// requireNewCopy returns an error of settings unless the copy of the events has a number that is
// above all others.
func (d Deps) requireNewCopy(ctx context.Context) error {
	last, err := store.New(d.Postgres.Unscoped()).LastCopy(ctx)
	if err != nil {
		return fmt.Errorf("read which copies of the events there are: %w", err)
	}
	if n := d.ClickHouse.Number(); n <= last {
		return config.Invalid("--clickhouse-copy", fmt.Sprintf("is %d, and copy %d of the events is on record", n, last),
			fmt.Sprintf("give %d", last+1))
	}
	return nil
}

// join makes restored servers a copy of the events.
func (d Deps) join(ctx context.Context, group string, offsets []Offset) (r Rewind, err error) {
	if _, err := clickhouse.Migrate(ctx, d.ClickHouse); err != nil {
		return r, err
	}
	conn, err := clickhouse.Open(d.ClickHouse, 1)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	if err := requireInstallation(ctx, d.Postgres, conn); err != nil {
		return r, err
	}
	if r, err = d.rewindCopy(ctx, group, offsets); err != nil {
		return r, err
	}
	if _, err := store.New(d.Postgres.Unscoped()).AddCopy(ctx, d.ClickHouse.Number()); err != nil {
		return r, fmt.Errorf("put copy %d of the events on record: %w", d.ClickHouse.Number(), err)
	}
	return r, align(ctx, d.Postgres, d.ClickHouse.Number(), conn)
}

// rewindCopy sets the group of a new copy to what that of the backup had committed.
func (d Deps) rewindCopy(ctx context.Context, group string, offsets []Offset) (r Rewind, err error) {
	client, err := kgo.NewClient(d.Kafka.Options(d.Log)...)
	if err != nil {
		return r, fmt.Errorf("make Kafka client: %w", err)
	}
	defer client.Close()
	groups := map[string]string{}
	var present []Offset
	for _, topic := range kafka.KeyedTopics() {
		id, _, err := kafka.Topic(ctx, client, topic)
		if errors.Is(err, kafka.ErrNoTopic) {
			continue
		}
		if err != nil {
			return r, err
		}
		groups[topic] = group
		for _, o := range offsets {
			if o.Topic == topic && o.TopicID == id { // a topic that was created again has other offsets
				present = append(present, o)
			}
		}
	}
	return rewind(ctx, client, groups, present)
}

package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/minio/minio-go/v7"
	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/pkg/clickhouse"
	"lodestone/pkg/config"
	"lodestone/pkg/store"
)

// Restore brings a backup to empty engines. What is missing in ClickHouse comes from Kafka when
// consumers start. Erasures are applied again, and mails, messages and webhooks wait for Resume.
// Migrate afterwards.
func (b *Backups) Restore(ctx context.Context, m Manifest) (r Rewind, err error) {
	servers, err := b.serversFor(m)
	if err != nil {
		return r, err
	}
	if err := requireEmptyPostgres(ctx, b.deps.Postgres, m); err != nil {
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
	if err := b.restoreFiles(ctx, m.Name, m.Files); err != nil {
		return r, err
	}
	if err := load(ctx, b.deps.Postgres, b.place, m); err != nil {
		return r, err
	}
	if err := b.deps.keepOneCopy(ctx, m); err != nil {
		return r, fmt.Errorf("take the other copies of the events off the record: %w", err)
	}
	b.deps.Progress(fmt.Sprintf("Postgres: %d tables, as of %s", len(m.Postgres.Tables),
		m.PostgresAt.Format("2006-01-02 15:04:05 MST")))
	for _, g := range m.Gone {
		b.deps.Progress(g.String())
	}
	return b.deps.catchUp(ctx, m.Offsets)
}

// keepOneCopy leaves the copy of the events on record that was restored. The backup may be of
// another one, whose partitions are on other shards.
func (d Deps) keepOneCopy(ctx context.Context, m Manifest) error {
	q := store.New(d.Postgres.Unscoped())
	kept := d.ClickHouse.Number()
	of := clickhouse.CopyOf(m.ClickHouse[0].ID)
	known, err := q.HasCopy(ctx, kept)
	if err == nil && !known {
		err = config.Invalid("--clickhouse-copy", fmt.Sprintf("is %d, and the backup has no such copy", kept),
			fmt.Sprintf("give %d, of which the backup is, and empty engines again", of))
	}
	if err != nil {
		return err
	}
	if err := q.RemoveOtherCopies(ctx, kept); err != nil || of == kept {
		return err
	}
	return q.ForgetPlacements(ctx)
}

// damage says what is wrong with a backup, and what to do.
func damage(m Manifest, wrong []string) error {
	const limit = 5
	listed := wrong[:min(len(wrong), limit)]
	more := ""
	if n := len(wrong) - len(listed); n > 0 {
		more = fmt.Sprintf("; and %d more: lodestone backup check", n)
	}
	return fmt.Errorf("%w, and nothing was loaded: give another one as --backup than %s: %s%s", ErrDamaged, m.Name,
		strings.Join(listed, "; "), more)
}

// serversFor returns the servers that the shards of a backup are restored to, in their order.
func (b *Backups) serversFor(m Manifest) ([]clickhouse.Config, error) {
	servers, err := b.deps.ClickHouse.Servers()
	if err == nil && len(servers) != len(m.ClickHouse) {
		err = fmt.Errorf("the backup has %d ClickHouse shards, but %d were given: give the same number with --clickhouse-shards", len(m.ClickHouse), len(servers))
	}
	return servers, err
}

// requireSound returns an error that wraps ErrDamaged if a byte of a backup is not what was
// written.
func (b *Backups) requireSound(ctx context.Context, m Manifest) error {
	b.deps.Progress("comparing the backup with its checksums")
	wrong, err := b.Check(ctx, m)
	if err == nil && len(wrong) > 0 {
		err = damage(m, wrong)
	}
	return err
}

func requireEmptyClickHouse(ctx context.Context, servers []clickhouse.Config) error {
	for _, server := range servers {
		rows, err := clickhouse.HasRows(ctx, server)
		if err != nil {
			return err
		}
		if rows {
			return fmt.Errorf("%w: ClickHouse has rows in the database lodestone: drop the databases lodestone, lodestone_all and analytics, or give another server", ErrNotEmpty)
		}
	}
	return nil
}

// restoreShards restores the shards of a backup, each as the shard of the same place in the copy of
// the events that the servers are of.
func (b *Backups) restoreShards(ctx context.Context, servers []clickhouse.Config, m Manifest) error {
	for i, s := range m.ClickHouse {
		if err := b.restoreShard(ctx, servers[i], m.Name, s); err != nil {
			return err
		}
		b.deps.Progress(fmt.Sprintf("ClickHouse shard %d: %d bytes", s.ID, s.Size.Bytes))
	}
	return nil
}

func (b *Backups) restoreShard(ctx context.Context, server clickhouse.Config, name string, s Shard) error {
	from, err := b.place.server(shardFolder(name, s.ID))
	if err != nil {
		return err
	}
	if err := clickhouse.PrepareRestore(ctx, server); err != nil {
		return err
	}
	if err := clickhouse.Restore(ctx, server, from); err != nil {
		return err
	}
	if err := clickhouse.RenameShard(ctx, server); err != nil {
		return err
	}
	return clickhouse.CheckTables(ctx, server)
}

// restoreFiles brings files to the bucket that it has not.
func (b *Backups) restoreFiles(ctx context.Context, backup string, files []File) error {
	if len(files) == 0 {
		return nil
	}
	if b.deps.Files == nil {
		return fmt.Errorf("the backup has %d files of a bucket: give --file-store and its settings", len(files))
	}
	to := b.deps.Files
	restored := 0
	for _, f := range files {
		name := to.At.Prefix + f.ID.String()
		if info, err := to.Client.StatObject(ctx, to.At.Bucket, name, minio.StatObjectOptions{}); err == nil &&
			info.Size == f.Bytes {
			continue
		}
		r, err := b.place.open(ctx, fileName(backup, f.ID))
		if errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("restore file %s: neither the bucket nor the backup has it", f.ID)
		}
		if err != nil {
			return fmt.Errorf("restore file %s: %w", f.ID, err)
		}
		_, err = to.Client.PutObject(ctx, to.At.Bucket, name, io.Reader(r), f.Bytes,
			minio.PutObjectOptions{ContentType: "application/pdf", PartSize: partSize, NumThreads: 1})
		if err := errors.Join(err, r.Close()); err != nil {
			return fmt.Errorf("restore file %s: %w", f.ID, err)
		}
		restored++
	}
	b.deps.Progress(fmt.Sprintf("files of the bucket: %d, of which restored: %d", len(files), restored))
	return nil
}

// catchUp lets consumers store again what the restored ClickHouse lacks, and blank what it has of
// people who were erased. Without offsets, they look at everything that Kafka has.
func (d Deps) catchUp(ctx context.Context, offsets []Offset) (r Rewind, err error) {
	q := store.New(d.Postgres.Unscoped())
	if _, err := q.ReopenErasures(ctx, d.ClickHouse.Number()); err != nil {
		return r, fmt.Errorf("record that events are to be blanked again: %w", err)
	}
	if err := q.CompareCopiesNow(ctx); err != nil {
		return r, fmt.Errorf("record that copies are to be compared: %w", err)
	}
	if err := q.ForgetStoredUntil(ctx, d.ClickHouse.Number()); err != nil {
		return r, fmt.Errorf("record that the copy of the events is older: %w", err)
	}
	client, err := kgo.NewClient(d.Kafka.Options(d.Log)...)
	if err != nil {
		return r, fmt.Errorf("make Kafka client: %w", err)
	}
	defer client.Close()
	groups, err := topicGroups(ctx, d.Postgres, d.ClickHouse.Number(), client)
	if err != nil {
		return r, err
	}
	if r, err = rewind(ctx, client, groups, offsets); err != nil {
		return r, err
	}
	conn, err := clickhouse.Open(d.ClickHouse, 1)
	if err != nil {
		return r, err
	}
	return r, errors.Join(align(ctx, d.Postgres, d.ClickHouse.Number(), conn), conn.Close())
}

// Align lets an installation go on whose stores are of different times, since one of them was
// restored by other means. Consumers look at everything that Kafka has, and store what ClickHouse
// lacks.
func Align(ctx context.Context, d Deps) (Rewind, error) { return d.catchUp(ctx, nil) }

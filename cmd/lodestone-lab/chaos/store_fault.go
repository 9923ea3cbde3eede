package chaos

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"

	"lodestone/ingest/stream"
)

func (w *world) setWindow(ctx context.Context, blocks int) error {
	return retry(ctx, "set the window of tokens", func() error {
		for _, s := range stream.All() {
			if err := w.store.Exec(ctx, "ALTER TABLE lodestone."+s.Table+" MODIFY SETTING non_replicated_deduplication_window = "+strconv.Itoa(blocks)); err != nil {
				return err
			}
		}
		return nil
	})
}

// evictTokens lets ClickHouse remember no more than one token, and meanwhile makes consumers
// wonder what became of their inserts.
func evictTokens(ctx context.Context, s *scene) error {
	s.note("ClickHouse remembers one token only, while consumers are killed and answers get lost")
	if err := s.setWindow(ctx, 1); err != nil {
		return err
	}
	var err error
	for range 3 {
		if err = s.hold(ctx, s.between(time.Second, 3*time.Second)); err != nil {
			break
		}
		s.consumer().Kill(0)
	}
	err = errors.Join(err, loseAnswers("", 200, 3000, true, "consumer1-clickhouse", "consumer2-clickhouse").inject(ctx, s))
	return errors.Join(err, s.setWindow(context.WithoutCancel(ctx), 10_000))
}

// tokenWithoutPart makes what a crash between the two leaves: a token that ClickHouse remembers,
// whose rows are not there. It kills the consumers, looks for an announced block that is stored
// and not yet known to be, and takes its rows away.
func tokenWithoutPart(ctx context.Context, s *scene) error {
	for range 8 {
		found := 0
		err := s.withoutConsumers(true, func() (err error) {
			found, err = s.takeAnnouncedRows(ctx)
			return err
		})
		if err != nil {
			return err
		}
		if found > 0 {
			s.note("took the rows of %d announced blocks away, whose tokens are remembered", found)
			return nil
		}
		// Consumers that were killed are members of the group until their sessions are over, and until then the next ones have
		// nothing to announce.
		if err := s.recovered(ctx, s.limit); err != nil {
			return err
		}
		if err := s.hold(ctx, s.between(200*time.Millisecond, 2*time.Second)); err != nil {
			return err
		}
	}
	return errors.New("no announced block was found stored")
}

func (s *scene) takeAnnouncedRows(ctx context.Context) (found int, err error) {
	// No insert of the dead may land later.
	if err := retry(ctx, "end inserts", func() error {
		return s.store.Exec(ctx, "KILL QUERY WHERE query LIKE 'INSERT INTO%' SYNC")
	}); err != nil {
		return 0, err
	}
	for _, of := range stream.All() {
		taken, err := s.takeAnnouncedRowsOf(ctx, of)
		if found += taken; err != nil {
			return found, err
		}
	}
	return found, nil
}

func (s *scene) takeAnnouncedRowsOf(ctx context.Context, of stream.Stream) (found int, err error) {
	var committed kadm.OffsetResponses
	if err := retry(ctx, "read commits", func() (err error) {
		committed, err = s.admin.FetchOffsetsForTopics(ctx, group, of.Topic)
		return err
	}); err != nil {
		return 0, err
	}
	table := "lodestone." + of.Table
	for _, o := range committed.Sorted() {
		parts := strings.Fields(o.Metadata) // "1 TOPIC-ID LAST"
		if len(parts) != 3 {
			continue
		}
		last, err := strconv.ParseInt(parts[2], 10, 64)
		if err != nil || last < o.At {
			continue
		}
		where := fmt.Sprintf("kafka_topic_id = '%s' AND kafka_partition = %d AND kafka_offset >= %d AND kafka_offset <= %d", parts[1], o.Partition, o.At, last)
		err = retry(ctx, "take rows away", func() error {
			var rows uint64
			if err := s.store.QueryRow(ctx, "SELECT count() FROM "+table+" WHERE "+where).Scan(&rows); err != nil || rows == 0 {
				return err
			}
			found++
			return s.store.Exec(ctx, "ALTER TABLE "+table+" DELETE WHERE "+where+" SETTINGS mutations_sync = 2")
		})
		if err != nil {
			return found, err
		}
	}
	return found, nil
}

// underTheGuard is what is left of ClickHouse's disk when it is full: less than its configuration keeps free
// (keep_free_space_bytes), so that it begins nothing more. What runs by then goes to its end: with no byte left,
// ClickHouse 26.7 keeps parts with empty files and says that they are stored, which no user of it can fix.
const underTheGuard = 896 << 20

func fillClickHouse(ctx context.Context, s *scene) error {
	disk := filepath.Join(s.dir, "clickhouse")
	if !s.disks.CanFill(disk) {
		return errNoDisk
	}
	d := s.between(5*time.Second, 15*time.Second)
	s.note("ClickHouse's disk is full, but for what its configuration keeps free, for %v", d)
	if err := s.disks.Fill(disk, underTheGuard); err != nil {
		return err
	}
	return errors.Join(s.hold(ctx, d), s.disks.Empty(disk))
}

// errLeftOut says that this machine does not allow a fault.
var errLeftOut = errors.New("left out")

var errNoDisk = fmt.Errorf("%w: it takes root and a loop device", errLeftOut)

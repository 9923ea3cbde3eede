package verify

import (
	"context"
	"errors"
	"fmt"

	"lodestone/pkg/kafka"
	"lodestone/pkg/postgres"
	"lodestone/pkg/store"
)

const (
	// blockOffsets is how many offsets share one stored checksum.
	blockOffsets = 100_000
	// sweptBlocks is how many blocks of a partition one round checks in ClickHouse.
	sweptBlocks = 200
)

// block is a part of a partition that was compared with the log, and the numbers of its rows in ClickHouse at that
// time. Blocks are cut at multiples of blockOffsets; the first and the last may be shorter. A number that changes shows
// that rows came or went, as with a ClickHouse that was restored from a backup, without reading the log again.
type block struct {
	number, first, next int64
	rows, sum           int64 // of the rows' offsets
}

// readBlocks returns the blocks of a partition, in order, without gaps. It deletes blocks that the log no longer holds.
func readBlocks(ctx context.Context, pool *postgres.Pool, p *part) ([]block, error) {
	q := store.New(pool.Unscoped())
	if err := q.RemoveExpiredBlocks(ctx, store.RemoveExpiredBlocksParams{TopicID: p.topicID, Partition: p.number, FirstOffset: p.log.From}); err != nil {
		return nil, fmt.Errorf("remove blocks that expired: %w", err)
	}
	rows, err := q.VerifiedBlocks(ctx, store.VerifiedBlocksParams{TopicID: p.topicID, Partition: p.number})
	if err != nil {
		return nil, fmt.Errorf("read what is verified: %w", err)
	}
	blocks := make([]block, len(rows))
	for i, r := range rows {
		blocks[i] = block{number: r.Block, first: r.FirstOffset, next: r.NextOffset, rows: r.RowCount, sum: r.OffsetSum}
	}
	return blocks, nil
}

// writeBlocks stores blocks.
func writeBlocks(ctx context.Context, pool *postgres.Pool, p *part, blocks []block) error {
	set := store.SetVerifiedBlocksParams{TopicID: p.topicID, Partition: p.number}
	for _, b := range blocks {
		set.Blocks, set.FirstOffsets, set.NextOffsets = append(set.Blocks, b.number), append(set.FirstOffsets, b.first), append(set.NextOffsets, b.next)
		set.RowCounts, set.OffsetSums = append(set.RowCounts, b.rows), append(set.OffsetSums, b.sum)
	}
	if err := store.New(pool.Unscoped()).SetVerifiedBlocks(ctx, set); err != nil {
		return fmt.Errorf("record what is verified: %w", err)
	}
	return nil
}

// tally asks ClickHouse for the numbers of a range, block by block. A block without rows has zeros.
func (v *Verifier) tally(ctx context.Context, p *part, r kafka.Range) (blocks []block, err error) {
	for from := r.From; from < r.To; from = blocks[len(blocks)-1].next {
		number := from / blockOffsets
		blocks = append(blocks, block{number: number, first: from, next: min((number+1)*blockOffsets, r.To)})
	}
	if len(blocks) == 0 {
		return nil, nil
	}
	rows, err := v.Conn.Query(parameters(ctx, p.topicID, p.number, r), fmt.Sprintf(
		"SELECT intDiv(kafka_offset, %d), toInt64(count()), sum(kafka_offset) FROM lodestone.%s%s GROUP BY 1", blockOffsets, p.stream.Table, where))
	if err != nil {
		return nil, fmt.Errorf("count stored offsets: %w", err)
	}
	for rows.Next() {
		var number, count, sum int64
		if err = rows.Scan(&number, &count, &sum); err != nil {
			break
		}
		b := &blocks[number-blocks[0].number]
		b.rows, b.sum = count, sum
	}
	if err = errors.Join(err, rows.Err(), rows.Close()); err != nil {
		return nil, fmt.Errorf("count stored offsets: %w", err)
	}
	return blocks, nil
}

// changed returns the blocks, given without gaps, whose numbers differ from the stored ones, with the current numbers.
func (v *Verifier) changed(ctx context.Context, p *part, blocks []block) (changed []block, err error) {
	if len(blocks) == 0 {
		return nil, nil
	}
	now, err := v.tally(ctx, p, kafka.Range{From: blocks[0].first, To: blocks[len(blocks)-1].next})
	if err != nil {
		return nil, err
	}
	for i, b := range blocks {
		if now[i] != b {
			changed = append(changed, now[i])
		}
	}
	return changed, nil
}

package consumer

import (
	"sync"

	"github.com/twmb/franz-go/pkg/kgo"
)

// recordPool has the memory of batches used again: their records, and what they were decompressed to. It is given back
// with the last record of a batch that is recycled; a batch of which a record is kept, or dropped, is left to the collector of
// garbage.
type recordPool struct{ records, bytes sync.Pool }

// GetRecords implements kgo.PoolRecords.
func (p *recordPool) GetRecords(n int) []kgo.Record {
	if used, ok := p.records.Get().(*[]kgo.Record); ok && cap(*used) >= n {
		return (*used)[:n]
	}
	return make([]kgo.Record, n)
}

// PutRecords implements kgo.PoolRecords.
func (p *recordPool) PutRecords(used []kgo.Record) { p.records.Put(&used) }

// GetDecompressBytes implements kgo.PoolDecompressBytes.
func (p *recordPool) GetDecompressBytes([]byte, kgo.CompressionCodecType) []byte {
	if used, ok := p.bytes.Get().(*[]byte); ok {
		return *used
	}
	return nil
}

// PutDecompressBytes implements kgo.PoolDecompressBytes.
func (p *recordPool) PutDecompressBytes(used []byte) { p.bytes.Put(&used) }

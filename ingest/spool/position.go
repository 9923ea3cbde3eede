package spool

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
)

// position is a place in the spool: everything before it is acknowledged.
type position struct {
	segment uint64
	offset  int64
}

func (p position) before(other position) bool {
	return p.segment < other.segment || p.segment == other.segment && p.offset < other.offset
}

const (
	slotBytes    = 512 // a sector: a torn write damages one slot, never both
	positionFile = "position"
)

// bookmark stores the position on disk, in two slots that are written in turn. It is created with
// its full size, so that it can be written when the disk is full.
type bookmark struct {
	file *os.File
	sync func() error
	turn uint64
}

// openBookmark returns the file and its position. A position that cannot be read is replaced by the
// beginning: records are then sent again, and none is lost.
func openBookmark(path string) (*bookmark, position, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, position{}, fmt.Errorf("open read position: %w", err)
	}
	b := &bookmark{file: f, sync: f.Sync}
	data := make([]byte, 2*slotBytes)
	n, err := f.ReadAt(data, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		_ = f.Close() // the first error tells more
		return nil, position{}, fmt.Errorf("load read position: %w", err)
	}
	found, turn := latest(data)
	b.turn = turn
	if n < len(data) {
		if _, err := f.WriteAt(data, 0); err != nil {
			_ = f.Close()
			return nil, position{}, fmt.Errorf("make read position: %w", err)
		}
	}
	return b, found, nil
}

// latest returns the position in the two slots of a bookmark, and its turn.
func latest(data []byte) (found position, turn uint64) {
	for slot := range 2 {
		s := data[slot*slotBytes:]
		its := binary.LittleEndian.Uint64(s)
		if its > turn && crc32.Checksum(s[:24], castagnoli) == binary.LittleEndian.Uint32(s[24:]) {
			turn = its
			found = position{binary.LittleEndian.Uint64(s[8:]), int64(binary.LittleEndian.Uint64(s[16:]))}
		}
	}
	return found, turn
}

// write makes a position durable.
func (b *bookmark) write(p position) error {
	var s [28]byte
	binary.LittleEndian.PutUint64(s[:], b.turn+1)
	binary.LittleEndian.PutUint64(s[8:], p.segment)
	binary.LittleEndian.PutUint64(s[16:], uint64(p.offset))
	binary.LittleEndian.PutUint32(s[24:], crc32.Checksum(s[:24], castagnoli))
	if _, err := b.file.WriteAt(s[:], int64((b.turn+1)%2)*slotBytes); err != nil {
		return fmt.Errorf("write read position: %w", err)
	}
	b.turn++
	if err := b.sync(); err != nil {
		return fmt.Errorf("sync read position: %w", err)
	}
	return nil
}

func (b *bookmark) close() error { return b.file.Close() }

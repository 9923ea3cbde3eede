package spool

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"path/filepath"
	"strconv"
	"strings"
)

// A segment is a file of entries, written once from its beginning to its end:
//
//	magic (8 bytes) · number of the segment (8) · entry · entry · …
//
// and an entry is
//
//	marker (4) · length of the payload (4) · records in it (4) · CRC32C (4) · payload
//
// all numbers little-endian. The checksum is also of the segment's number and of where in the file
// the entry stands, so that bytes within a payload are no entry, whatever a client writes.
const (
	magic            = "LODSPL\x00\x01"
	segmentHeader    = 16
	entryHeader      = 16
	marker           = 0x9c53f1a7
	maxPayloadBytes  = 16 << 20 // one request has far less
	segmentExtension = ".segment"
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// span is a range of bytes of a segment.
type span struct {
	from, to int64
	records  int64 // in the entry; 0 for damage
}

func newSegmentHeader(number uint64) []byte {
	return binary.LittleEndian.AppendUint64([]byte(magic), number)
}

// appendEntry appends an entry whose checksum is still missing: seal sets it.
func appendEntry(b, payload []byte, records int) []byte {
	b = binary.LittleEndian.AppendUint32(b, marker)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(payload)))
	b = binary.LittleEndian.AppendUint32(b, uint32(records))
	b = append(b, 0, 0, 0, 0)
	return append(b, payload...)
}

// seal sets the checksums of all entries of b, which is going to stand at an offset of a segment.
func seal(b []byte, number uint64, offset int64) {
	for at := 0; at < len(b); {
		size := entryHeader + int(binary.LittleEndian.Uint32(b[at+4:]))
		binary.LittleEndian.PutUint32(b[at+12:], checksum(b[at:at+size], number, offset+int64(at)))
		at += size
	}
}

func checksum(entry []byte, number uint64, offset int64) uint32 {
	var place [16]byte
	binary.LittleEndian.PutUint64(place[:], number)
	binary.LittleEndian.PutUint64(place[8:], uint64(offset))
	sum := crc32.Update(0, castagnoli, place[:])
	sum = crc32.Update(sum, castagnoli, entry[4:12])
	return crc32.Update(sum, castagnoli, entry[entryHeader:])
}

// entryAt returns the size of the sound entry that data begins with, and its records, or false.
// data stands at an offset of a segment.
func entryAt(data []byte, number uint64, offset int64) (size int, records int64, ok bool) {
	if len(data) < entryHeader || binary.LittleEndian.Uint32(data) != marker {
		return 0, 0, false
	}
	length := binary.LittleEndian.Uint32(data[4:])
	if length > maxPayloadBytes || int64(length) > int64(len(data)-entryHeader) {
		return 0, 0, false
	}
	size = entryHeader + int(length)
	if binary.LittleEndian.Uint32(data[12:]) != checksum(data[:size], number, offset) {
		return 0, 0, false
	}
	return size, int64(binary.LittleEndian.Uint32(data[8:])), true
}

// scan finds the sound entries of a segment, in order, and the damaged spans between them. Every
// byte after the header belongs to one entry or one damaged span. A damaged header is damage, too,
// but costs no entry.
func scan(data []byte, number uint64) (entries, damage []span) {
	bad := func(from, to int) {
		if last := len(damage) - 1; last >= 0 && damage[last].to == int64(from) {
			damage[last].to = int64(to)
		} else {
			damage = append(damage, span{from: int64(from), to: int64(to)})
		}
	}
	if string(data[:min(segmentHeader, len(data))]) != string(newSegmentHeader(number)) {
		bad(0, min(segmentHeader, len(data)))
	}
	mark := binary.LittleEndian.AppendUint32(nil, marker)
	for at := min(segmentHeader, len(data)); at < len(data); {
		if size, records, ok := entryAt(data[at:], number, int64(at)); ok {
			entries = append(entries, span{int64(at), int64(at + size), records})
			at += size
			continue
		}
		// Go on at the next place where an entry may begin.
		next := len(data)
		if i := bytes.Index(data[at+1:], mark); i >= 0 {
			next = at + 1 + i
		}
		bad(at, next)
		at = next
	}
	return entries, damage
}

// laterFormat reports whether a segment says that a later release wrote it.
func laterFormat(data []byte) bool {
	return len(data) >= len(magic) && string(data[:len(magic)-1]) == magic[:len(magic)-1] &&
		data[len(magic)-1] > magic[len(magic)-1]
}

func segmentName(number uint64) string { return fmt.Sprintf("%016x%s", number, segmentExtension) }

func segmentNumber(path string) (uint64, bool) {
	text, found := strings.CutSuffix(filepath.Base(path), segmentExtension)
	if !found || len(text) != 16 {
		return 0, false
	}
	n, err := strconv.ParseUint(text, 16, 64)
	return n, err == nil
}

func (q *queue) path(number uint64) string { return filepath.Join(q.dir, segmentName(number)) }

func notify(ch chan struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
}

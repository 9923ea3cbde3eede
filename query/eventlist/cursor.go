package eventlist

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"time"

	"github.com/google/uuid"
)

// Position is the place of an event in the order of a list: by the time it was created, then by
// its place in the log, which no other event has.
type Position struct {
	CreatedAt time.Time // whole milliseconds
	TopicID   uuid.UUID
	Partition int32
	Offset    int64
}

// A cursor is, in base64url: version, digest of account and filter, position, CRC-32 of all that.
const (
	cursorVersion = 1
	cursorBytes   = 1 + 8 + 8 + 16 + 4 + 8 + 4
)

var (
	errCursor = errors.New("is not a cursor that this list gave out")
	errOther  = errors.New("belongs to a list with other filters: send the ones it came with, or start without a cursor")
)

// encodeCursor returns the cursor that goes on after a position in the list of the digest.
func encodeCursor(digest uint64, p Position) string {
	b := make([]byte, 0, cursorBytes)
	b = append(b, cursorVersion)
	b = binary.BigEndian.AppendUint64(b, digest)
	b = binary.BigEndian.AppendUint64(b, uint64(p.CreatedAt.UnixMilli()))
	b = append(b, p.TopicID[:]...)
	b = binary.BigEndian.AppendUint32(b, uint32(p.Partition))
	b = binary.BigEndian.AppendUint64(b, uint64(p.Offset))
	b = binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b))
	return base64.RawURLEncoding.EncodeToString(b)
}

// DecodeCursor returns the position of a cursor that was given out for the list of the digest.
// The errors are for the reader. A forged cursor is harmless: it is a place, not a permission.
func DecodeCursor(digest uint64, cursor string) (Position, error) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
	if err != nil || len(b) != cursorBytes || b[0] != cursorVersion {
		return Position{}, errCursor
	}
	sum := len(b) - 4
	if crc32.ChecksumIEEE(b[:sum]) != binary.BigEndian.Uint32(b[sum:]) {
		return Position{}, errCursor
	}
	ms := int64(binary.BigEndian.Uint64(b[9:]))
	p := Position{
		CreatedAt: time.UnixMilli(ms).UTC(),
		TopicID:   uuid.UUID(b[17:33]),
		Partition: int32(binary.BigEndian.Uint32(b[33:])),
		Offset:    int64(binary.BigEndian.Uint64(b[37:])),
	}
	if ms < earliest.UnixMilli() || ms > latest.UnixMilli() || p.Partition < 0 || p.Offset < 0 {
		return Position{}, errCursor
	}
	if binary.BigEndian.Uint64(b[1:]) != digest {
		return Position{}, errOther
	}
	return p, nil
}

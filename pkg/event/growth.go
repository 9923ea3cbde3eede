package event

import (
	"github.com/google/uuid"
	"google.golang.org/protobuf/encoding/protowire"
)

// growthVersion is the version of a record that is no event. A reader that does not know such records stops its partition before it, as
// before any newer record. By their ids readers tell those from noise.
const growthVersion = 1000

// AppendGrowth appends a record to b that says: from here on, the keys of the topic are distributed over so many partitions.
func AppendGrowth(b []byte, partitions int) []byte {
	b = appendVarint(b, fieldVersion, growthVersion)
	b = appendVarint(b, fieldPartitions, uint64(partitions))
	return appendUUID(appendUUID(b, fieldAccountID, uuid.Max), fieldEventID, uuid.Max)
}

// Growth returns the number of partitions that a record of AppendGrowth says.
func Growth(record []byte) (partitions int, ok bool) {
	const version = fieldVersion<<3 | wireVarint
	if len(record) < 3 || record[0] != version || record[1] != growthVersion&0x7f|twoBytes || record[2] != growthVersion>>7 {
		return 0, false
	}
	rest := record[3:]
	num, kind, n := protowire.ConsumeTag(rest)
	if n < 0 || num != fieldPartitions || kind != protowire.VarintType {
		return 0, false
	}
	count, n := protowire.ConsumeVarint(rest[n:])
	if n < 0 || count == 0 || count > maxPartitions {
		return 0, false
	}
	return int(count), true
}

const maxPartitions = 1 << 20

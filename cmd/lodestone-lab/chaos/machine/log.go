package machine

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// CutLog makes every copy of a partition in the directory of a cluster of brokers end before the
// batch that holds an offset, and returns where it ends then. No broker may run.
func CutLog(cluster, topic string, partition int32, at int64) (end int64, err error) {
	copies, err := filepath.Glob(filepath.Join(cluster, "kafka*", topic+"-"+strconv.Itoa(int(partition))))
	if err == nil && len(copies) == 0 {
		err = errors.New("no broker has it")
	}
	for _, dir := range copies {
		if err == nil {
			end, err = cutSegments(dir, at)
		}
	}
	if err != nil {
		return 0, fmt.Errorf("cut the log of %s/%d: %w", topic, partition, err)
	}
	return end, nil
}

func cutSegments(dir string, at int64) (end int64, err error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.log"))
	if err != nil {
		return 0, err
	}
	slices.Sort(paths) // their names are first offsets, of a fixed width
	for i, path := range paths {
		first, err := strconv.ParseInt(strings.TrimSuffix(filepath.Base(path), ".log"), 10, 64)
		if err != nil {
			return 0, err
		}
		if i > 0 && first > at {
			if err := os.Remove(path); err != nil { // its indexes go when Kafka finds no log for them
				return 0, err
			}
			continue
		}
		if end, err = cutSegment(path, first, at); err != nil {
			return 0, err
		}
	}
	return end, nil
}

// cutSegment ends a file of batches before the one that holds the offset, and returns the offset
// after its last record.
func cutSegment(path string, end, at int64) (int64, error) {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return 0, err
	}
	defer func() { _ = file.Close() }()
	const header = 27 // first offset, length, leader epoch, magic, checksum, attributes, number of the last record
	var b [header]byte
	for position := int64(0); ; {
		_, err := file.ReadAt(b[:], position)
		if errors.Is(err, io.EOF) {
			return end, nil
		}
		if err != nil {
			return 0, err
		}
		first, length, last := int64(binary.BigEndian.Uint64(b[:])), int64(binary.BigEndian.Uint32(b[8:])),
			int64(binary.BigEndian.Uint32(b[23:]))
		if length == 0 { // a file that was made with its full size
			return end, nil
		}
		if first+last >= at {
			return end, file.Truncate(position)
		}
		end, position = first+last+1, position+12+length
	}
}

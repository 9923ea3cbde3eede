package picture

import (
	"bytes"
	"encoding/binary"
	"iter"
)

// segments yields the marker and the payload of each segment of a JPEG before its first scan.
func segments(content []byte) iter.Seq2[byte, []byte] {
	return func(yield func(byte, []byte) bool) {
		if !bytes.HasPrefix(content, []byte("\xff\xd8")) {
			return
		}
		for rest := content[2:]; len(rest) >= 4 && rest[0] == 0xff && rest[1] != startOfScan; {
			length := int(binary.BigEndian.Uint16(rest[2:]))
			if length < 2 || 2+length > len(rest) || !yield(rest[1], rest[4:2+length]) {
				return
			}
			rest = rest[2+length:]
		}
	}
}

// Markers of segments.
const (
	baseline    = 0xc0 // and the next one
	progressive = 0xc2
	startOfScan = 0xda
	application = 0xe1
)

// isBaseline reports whether content is certainly a JPEG that is decoded block by block. A decoder
// passes over bytes between segments that segments does not: such a file is not taken for one.
func isBaseline(content []byte) bool {
	for marker := range segments(content) {
		switch {
		case marker == baseline || marker == baseline+1:
			return true
		case marker == progressive || marker < baseline || marker >= 0xd0 && marker <= 0xd9 ||
			marker == 0xff: // or without a length
			return false
		}
	}
	return false
}

// orientation returns how the pixels of a JPEG lie, as EXIF numbers it from 1 to 8, or 1 if no
// valid EXIF says so.
func orientation(content []byte) int {
	for marker, payload := range segments(content) {
		if tiff, found := bytes.CutPrefix(payload, []byte("Exif\x00\x00")); found && marker == application {
			return tiffOrientation(tiff)
		}
	}
	return 1
}

// tiffOrientation looks for the tag in the first directory of a TIFF structure.
func tiffOrientation(tiff []byte) int {
	const (
		headerBytes = 8
		entryBytes  = 12
		tag         = 0x0112
		shortType   = 3
	)
	if len(tiff) < headerBytes {
		return 1
	}
	var order binary.ByteOrder = binary.BigEndian
	if string(tiff[:2]) == "II" {
		order = binary.LittleEndian
	}
	at := int64(order.Uint32(tiff[4:]))
	if at+2 > int64(len(tiff)) {
		return 1
	}
	entries := tiff[at+2:]
	for range order.Uint16(tiff[at:]) {
		if len(entries) < entryBytes {
			return 1
		}
		if order.Uint16(entries) == tag && order.Uint16(entries[2:]) == shortType {
			if value := int(order.Uint16(entries[8:])); value >= 1 && value <= 8 {
				return value
			}
			return 1
		}
		entries = entries[entryBytes:]
	}
	return 1
}

package picture

import (
	"bytes"
	"encoding/binary"
)

// orientation returns how the pixels of a JPEG lie, as EXIF numbers it from 1 to 8, or 1 if nothing
// valid tells.
func orientation(content []byte) int {
	if !bytes.HasPrefix(content, []byte("\xff\xd8")) {
		return 1
	}
	for rest := content[2:]; len(rest) >= 4 && rest[0] == 0xff && rest[1] != 0xda; {
		length := int(binary.BigEndian.Uint16(rest[2:]))
		if length < 2 || 2+length > len(rest) {
			return 1
		}
		if segment := rest[4 : 2+length]; rest[1] == 0xe1 && bytes.HasPrefix(segment, []byte("Exif\x00\x00")) {
			return tiffOrientation(segment[6:])
		}
		rest = rest[2+length:]
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

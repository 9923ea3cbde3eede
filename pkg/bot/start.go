package bot

// minLiteral is the length of the shortest literal or word that is found by its start.
const minLiteral = 3

// starts is a set of the first three bytes of texts. It may have more than was added. At most
// places in the user agents of browsers none of the texts begins, and the set says so from memory
// that stays near the processor.
type starts [1 << startBits / 64]uint64

// startBits is how large the set is.
const startBits = 14

// startOf returns the element of the set for the last three bytes of four.
func startOf(last uint32) uint32 { return last << 8 * 0x85ebca6b >> (32 - startBits) }

// add adds a text, and returns its element.
func (s *starts) add(text []byte) uint32 {
	at := startOf(uint32(text[0])<<16 | uint32(text[1])<<8 | uint32(text[2]))
	s[at/64] |= 1 << (at % 64)
	return at
}

// has reports whether a text may begin with the last three bytes of four.
func (s *starts) has(last uint32) bool {
	at := startOf(last)
	return s[at/64]&(1<<(at%64)) != 0
}

package bot

// word is a literal and what it stands for.
type word struct {
	text string
	id   int
}

// literals finds all of many words in a text in one pass over it (Aho and Corasick's automaton).
// It is immutable.
type literals struct {
	class  [256]uint8 // of each byte; 0: in no word
	width  int        // number of classes
	next   []uint16   // state × class → state
	output [][]int    // ids of the words that end at a state
}

// maxStates is how many states the numbers of states can tell apart.
const maxStates = 1 << 16

// newLiterals builds the automaton: a tree of the words, whose missing branches then lead to the
// longest suffix that is in the tree as well.
func newLiterals(words []word) *literals {
	l := &literals{width: 1}
	for _, w := range words {
		for i := range len(w.text) {
			if c := w.text[i]; l.class[c] == 0 {
				l.class[c] = uint8(l.width)
				l.width++
			}
		}
	}
	l.grow()
	for _, w := range words {
		state := 0
		for i := range len(w.text) {
			branch := state*l.width + int(l.class[w.text[i]])
			if l.next[branch] == 0 {
				l.next[branch] = uint16(l.grow())
			}
			state = int(l.next[branch])
		}
		l.output[state] = append(l.output[state], w.id)
	}
	l.link()
	return l
}

// grow adds a state and returns it.
func (l *literals) grow() int {
	l.next = append(l.next, make([]uint16, l.width)...)
	l.output = append(l.output, nil)
	return len(l.output) - 1
}

// link fills the missing branches, nearest to the root first, so that those of a state's suffix,
// which is shorter, are complete when they are copied.
func (l *literals) link() {
	suffix := make([]uint16, len(l.output))
	queue := make([]uint16, 0, len(l.output))
	for c := range l.width {
		if s := l.next[c]; s != 0 {
			queue = append(queue, s)
		}
	}
	for len(queue) > 0 {
		state := int(queue[0])
		queue = queue[1:]
		back := int(suffix[state])
		l.output[state] = append(l.output[state], l.output[back]...)
		for c := range l.width {
			branch := state*l.width + c
			fallback := l.next[back*l.width+c]
			if child := l.next[branch]; child != 0 {
				suffix[child] = fallback
				queue = append(queue, child)
			} else {
				l.next[branch] = fallback
			}
		}
	}
}

// find calls fn with the id of each word in the text, as often as it occurs.
func (l *literals) find(text []byte, fn func(id int)) {
	state := 0
	for _, c := range text {
		state = int(l.next[state*l.width+int(l.class[c])])
		for _, id := range l.output[state] {
			fn(id)
		}
	}
}

package bot

import (
	"hash/maphash"
	"sync/atomic"

	"lodestone/pkg/event"
)

// memory remembers the rules of user agents seen lately. A few hundred of them make up nearly all traffic, and
// walking the automaton takes four to ten times as long as finding one here, more when its tables have left the caches
// (BenchmarkClassify). What is found is exact: the whole text is compared. It is bounded, and safe for concurrent use.
type memory struct {
	seed  maphash.Seed
	slots []slot
}

// slot holds the user agent that came last of those that share it.
type slot struct{ last atomic.Pointer[judged] }

type judged struct{ agent, rule string }

func newMemory() memory {
	const slots = 1024
	return memory{maphash.MakeSeed(), make([]slot, slots)}
}

// recall returns the rule of a user agent, or the slot in which to remember it.
func (m *memory) recall(agent []byte) (rule string, forget *slot) {
	s := &m.slots[maphash.Bytes(m.seed, agent)%uint64(len(m.slots))]
	if j := s.last.Load(); j != nil && j.agent == string(agent) {
		return j.rule, nil
	}
	return "", s
}

func (s *slot) remember(agent []byte, rule string) {
	if len(agent) <= event.MaxAgentBytes {
		s.last.Store(&judged{string(agent), rule})
	}
}

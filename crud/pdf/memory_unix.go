//go:build unix

package pdf

import (
	"syscall"

	"github.com/tetratelabs/wazero/experimental"
)

// memoryAllocator returns memory for PDFium that grows in place, where a Go slice would be copied
// and need twice as much.
func memoryAllocator() experimental.MemoryAllocator {
	return experimental.MemoryAllocatorFunc(func(_, limit uint64) experimental.LinearMemory {
		reserved, err := syscall.Mmap(-1, 0, int(limit), syscall.PROT_NONE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
		if err != nil {
			return &linearMemory{}
		}
		return &linearMemory{reserved: reserved}
	})
}

type linearMemory struct {
	reserved []byte
	usable   int
}

// Reallocate implements experimental.LinearMemory. It returns nil when there is no more.
func (g *linearMemory) Reallocate(size uint64) []byte {
	if size > uint64(len(g.reserved)) {
		return nil
	}
	const page = 64 << 10
	wanted := (int(size) + page - 1) / page * page
	if wanted > g.usable {
		wanted = min(wanted, len(g.reserved))
		if syscall.Mprotect(g.reserved[g.usable:wanted], syscall.PROT_READ|syscall.PROT_WRITE) != nil {
			return nil
		}
		g.usable = wanted
	}
	return g.reserved[:size]
}

// Free implements experimental.LinearMemory.
func (g *linearMemory) Free() {
	if g.reserved != nil {
		_ = syscall.Munmap(g.reserved)
		g.reserved = nil
	}
}

//go:build !unix

package pdf

import "github.com/tetratelabs/wazero/experimental"

// memoryAllocator returns nil: the memory is Go's.
func memoryAllocator() experimental.MemoryAllocator { return nil }

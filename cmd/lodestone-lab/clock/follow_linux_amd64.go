package clock

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Supported reports whether the clock of a process can be moved.
const Supported = true

// Follow moves the clock of this process by what the file says, from now on to its end. It is
// called once, before anything depends on the time.
func Follow(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("follow clock: %w", err)
	}
	defer func() { _ = file.Close() }() // the mapping keeps it
	ahead, err := unix.Mmap(int(file.Fd()), 0, fileBytes, unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return fmt.Errorf("follow clock: map %s: %w", path, err)
	}
	if err := redirect(uint64(uintptr(unsafe.Pointer(&ahead[0])))); err != nil { //nolint:gosec // machine code reads it there
		return fmt.Errorf("follow clock: %w", err)
	}
	return nil
}

// redirect makes the vDSO's functions that tell the time of day jump to ours.
func redirect(ahead uint64) error {
	from, to, err := vdso()
	if err != nil {
		return err
	}
	memory, err := os.OpenFile("/proc/self/mem", os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("open the memory of this process: %w", err)
	}
	defer func() { _ = memory.Close() }() // what was written is written
	image := make([]byte, to-from)
	if _, err := memory.ReadAt(image, from); err != nil {
		return fmt.Errorf("read the vDSO: %w", err)
	}
	parsed, err := elf.NewFile(bytes.NewReader(image))
	if err != nil {
		return fmt.Errorf("read the vDSO: %w", err)
	}
	symbols, err := parsed.DynamicSymbols()
	if err != nil {
		return fmt.Errorf("read the vDSO: %w", err)
	}
	replaced := 0
	for _, s := range symbols {
		code, ours := functions(ahead)[s.Name]
		if !ours || s.Value+jumpBytes > uint64(len(image)) {
			continue
		}
		place, err := unix.Mmap(-1, 0, len(code), unix.PROT_READ|unix.PROT_WRITE|unix.PROT_EXEC,
			unix.MAP_PRIVATE|unix.MAP_ANON)
		if err != nil {
			return fmt.Errorf("make room for code: %w", err)
		}
		copy(place, code)
		if _, err := memory.WriteAt(jump(uint64(uintptr(unsafe.Pointer(&place[0])))), from+int64(s.Value)); err != nil { //nolint:gosec // of a page that stays
			return fmt.Errorf("write to the vDSO: %w", err)
		}
		replaced++
	}
	if replaced == 0 {
		return errors.New("the vDSO has none of the functions that tell the time")
	}
	return nil
}

// vdso returns where the kernel put it.
func vdso() (from, to int64, err error) {
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return 0, 0, fmt.Errorf("find the vDSO: %w", err)
	}
	for line := range strings.Lines(string(maps)) {
		if strings.HasSuffix(line, "[vdso]\n") {
			_, err := fmt.Sscanf(line, "%x-%x", &from, &to)
			return from, to, err
		}
	}
	return 0, 0, errors.New("this process has no vDSO")
}

const jumpBytes = 12

// jump is mov rax, address; jmp rax.
func jump(address uint64) []byte {
	return append(binary.LittleEndian.AppendUint64([]byte{0x48, 0xb8}, address), 0xff, 0xe0)
}

// functions returns the code that replaces the vDSO's: each makes the system call, and adds the
// seconds that lie at the address to a time of day.
func functions(ahead uint64) map[string][]byte {
	// mov rcx, address; mov rcx, [rcx]
	load := append(binary.LittleEndian.AppendUint64([]byte{0x48, 0xb9}, ahead), 0x48, 0x8b, 0x09)
	join := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
	gettime := join(
		[]byte{0xb8, 228, 0, 0, 0, 0x0f, 0x05}, // mov eax, clock_gettime; syscall
		[]byte{0x85, 0xc0, 0x75, 0x19},         // test eax, eax; jnz end
		[]byte{0x85, 0xff, 0x74, 0x05},         // test edi, edi; jz add (CLOCK_REALTIME)
		[]byte{0x83, 0xff, 0x05, 0x75, 0x10},   // cmp edi, 5; jne end (CLOCK_REALTIME_COARSE)
		load,
		[]byte{0x48, 0x01, 0x0e}, // add [rsi], rcx
		[]byte{0xc3},             // end: ret
	)
	timeofday := join(
		[]byte{0xb8, 96, 0, 0, 0, 0x0f, 0x05},            // mov eax, gettimeofday; syscall
		[]byte{0x85, 0xc0, 0x75, 0x15, 0x48, 0x85, 0xff}, // test eax, eax; jnz end; test rdi, rdi
		[]byte{0x74, 0x10},                               // jz end
		load,
		[]byte{0x48, 0x01, 0x0f}, // add [rdi], rcx
		[]byte{0xc3},
	)
	seconds := join(
		[]byte{0xb8, 201, 0, 0, 0, 0x0f, 0x05}, // mov eax, time; syscall
		load,
		[]byte{0x48, 0x01, 0xc8, 0x48, 0x85, 0xff}, // add rax, rcx; test rdi, rdi
		[]byte{0x74, 0x03, 0x48, 0x89, 0x07, 0xc3}, // jz end; mov [rdi], rax; end: ret
	)
	return map[string][]byte{"__vdso_clock_gettime": gettime, "__vdso_gettimeofday": timeofday, "__vdso_time": seconds}
}

package child

import (
	"bytes"
	"os"
	"regexp"
	"slices"
	"sync"
)

const (
	logMaxBytes = 1 << 20 // then the file becomes NAME.log.1
	tailBytes   = 8 << 10
	tailLines   = 12
)

// logFile receives a child's output: a file of at most 1 MiB with one predecessor, and its end in
// memory. Writing never fails: otherwise the pipe would be closed and the child killed by its next
// message.
type logFile struct {
	path string

	mu   sync.Mutex
	file *os.File
	size int64
	last []byte
}

func newLogFile(path string) *logFile { return &logFile{path: path} }

// Write implements io.Writer.
func (l *logFile) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last = append(l.last, p...)
	if over := len(l.last) - tailBytes; over > 0 {
		l.last = append(l.last[:0], l.last[over:]...)
	}
	if l.file == nil || l.size > logMaxBytes {
		l.open()
	}
	if l.file != nil {
		n, err := l.file.Write(p)
		l.size += int64(n)
		if err != nil { // probably a full disk: the end in memory is still there
			l.closeLocked()
		}
	}
	return len(p), nil
}

func (l *logFile) open() {
	l.closeLocked()
	if info, err := os.Stat(l.path); err == nil && info.Size() > logMaxBytes {
		if err := os.Rename(l.path, l.path+".1"); err != nil {
			return
		}
	}
	file, err := os.OpenFile(l.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	l.file, l.size = file, 0
	if info, err := file.Stat(); err == nil {
		l.size = info.Size()
	}
}

func (l *logFile) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closeLocked()
}

func (l *logFile) closeLocked() {
	if l.file != nil {
		_ = l.file.Close() // nothing is buffered
		l.file = nil
	}
}

// startOver clears the output of an earlier process of the child.
func (l *logFile) startOver() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last = l.last[:0]
}

// stackLine matches a line of a stack trace without names, which is useless to a reader.
var stackLine = regexp.MustCompile(`^\d+\. \? @ 0x`)

// tail returns the last meaningful lines.
func (l *logFile) tail() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	lines := slices.DeleteFunc(bytes.Split(bytes.TrimSpace(l.last), []byte("\n")), func(line []byte) bool {
		return len(bytes.TrimSpace(line)) == 0 || stackLine.Match(line)
	})
	if len(lines) > tailLines {
		lines = lines[len(lines)-tailLines:]
	}
	return string(bytes.Join(lines, []byte("\n")))
}

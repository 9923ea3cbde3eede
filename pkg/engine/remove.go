package engine

import (
	"errors"
	"os"
	"syscall"
	"time"
)

// How RemoveDir tries.
const (
	removePatience = 10 * time.Second
	removePause    = 10 * time.Millisecond
)

// RemoveDir removes the directory of an engine that has ended, with everything in it. Where PostgreSQL or whoever
// started it was killed, its other processes notice a moment later, and may put a file into a directory that is just
// being emptied.
func RemoveDir(dir string) error {
	for begin := time.Now(); ; {
		if err := os.RemoveAll(dir); !errors.Is(err, syscall.ENOTEMPTY) || time.Since(begin) > removePatience {
			return err
		}
		<-time.After(removePause)
	}
}

package engine

import (
	"errors"
	"os"
	"syscall"
	"time"
)

// How RemoveDir tries.
const (
	removeTimeout = 10 * time.Second
	removePause   = 10 * time.Millisecond
)

// RemoveDir removes the directory of an engine that has ended, with everything in it. After PostgreSQL or its parent
// was killed, its other processes notice a little later, and may still create a file in a directory that is being
// emptied.
func RemoveDir(dir string) error {
	for begin := time.Now(); ; {
		if err := os.RemoveAll(dir); !errors.Is(err, syscall.ENOTEMPTY) || time.Since(begin) > removeTimeout {
			return err
		}
		<-time.After(removePause)
	}
}

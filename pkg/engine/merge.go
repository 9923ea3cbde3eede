package engine

import (
	"fmt"
	"sync"

	"lodestone/pkg/service"
)

// part is one of several services that start and stop together.
type part struct {
	name    string
	service service.Service
}

// watch merges the failures of several services into one channel.
type watch struct {
	failed chan error
	end    chan struct{}
	wg     sync.WaitGroup
}

func watchAll(parts []part) *watch {
	w := &watch{failed: make(chan error, len(parts)), end: make(chan struct{})}
	for _, p := range parts {
		failed := p.service.Failed()
		w.wg.Go(func() {
			select {
			case err := <-failed:
				w.failed <- fmt.Errorf("%s: %w", p.name, err)
			case <-w.end:
			}
		})
	}
	return w
}

func (w *watch) stop() {
	close(w.end)
	w.wg.Wait()
}

// Package service gives every background loop of Lodestone the same life cycle: it is started with
// a context, runs until it is stopped, and Stop waits until it has ended.
package service

import "context"

// Service is a part of a process that works in the background.
//
// Start and Stop are called from one goroutine; Failed may be read from any.
type Service interface {
	// Start begins the work and returns when the service is ready for others to use, or with
	// the reason why it cannot be. ctx bounds the start only, not the life of the service.
	Start(ctx context.Context) error
	// Stop ends the work and returns when nothing of it runs any more. ctx bounds the wait.
	// Stopping twice, or without a start, is harmless.
	Stop(ctx context.Context) error
	// Failed delivers the error of a service that ended without being stopped.
	Failed() <-chan error
}

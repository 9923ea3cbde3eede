package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"syscall"
	"time"

	"lodestone/pkg/config"
	"lodestone/pkg/service"
)

// listenAddress is an address to listen on, and the flag that it comes from.
type listenAddress struct{ setting, address string }

// Limits of the wait for addresses: a process that was just killed may hold them until the system
// has ended it.
const (
	freeWait = time.Second
	freePoll = 50 * time.Millisecond
)

// checkFree returns every address that cannot be listened on. Whoever starts much before it listens
// asks first.
func checkFree(ctx context.Context, addresses ...listenAddress) error {
	for begin := time.Now(); ; {
		err := tryAll(ctx, addresses)
		if err == nil || time.Since(begin) > freeWait {
			return err
		}
		if service.Sleep(ctx, freePoll) != nil {
			return err
		}
	}
}

// tryAll listens on every address at the same time, so that two that are the same are found as
// well.
func tryAll(ctx context.Context, addresses []listenAddress) error {
	var errs []error
	var held []net.Listener
	for _, a := range addresses {
		l, err := new(net.ListenConfig).Listen(ctx, "tcp", a.address)
		switch {
		case errors.Is(err, syscall.EADDRINUSE):
			errs = append(errs, config.Invalid(a.setting, "is "+a.address+", which is in use already",
				"stop the process that uses it, or give another address"))
		case errors.Is(err, syscall.EACCES):
			errs = append(errs, config.Invalid(a.setting, "is "+a.address+", which this user may not listen on",
				"give a port above 1023"))
		case err != nil:
			errs = append(errs, config.Invalid(a.setting, fmt.Sprintf("cannot be listened on (%v)", err),
				"give an address of this machine"))
		default:
			held = append(held, l)
		}
	}
	for _, l := range held {
		_ = l.Close() // an error shows when the address is taken in earnest
	}
	return errors.Join(errs...)
}

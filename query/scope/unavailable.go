package scope

import (
	"context"
	"errors"
	"io"
	"net"

	native "github.com/ClickHouse/clickhouse-go/v2"

	"lodestone/pkg/clickhouse"
)

// isBroken reports whether the connection failed, rather than the query.
func isBroken(err error) bool {
	if err == nil {
		return false
	}
	if _, answered := clickhouse.IsException(err); answered {
		return false
	}
	var network net.Error
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, net.ErrClosed) || errors.As(err, &network)
}

// IsUnavailable reports whether an error says that ClickHouse cannot be reached or has too much
// to do, so that the same query may go through later.
func IsUnavailable(err error) bool {
	if _, answered := clickhouse.IsException(err); answered {
		return !clickhouse.IsRefusal(err)
	}
	return isBroken(err) || errors.Is(err, native.ErrAcquireConnTimeout) || errors.Is(err, context.DeadlineExceeded)
}

// The codes of exceptions that say that a server cannot reach another shard (ErrorCodes.cpp).
const (
	socketTimeout   = 209
	networkError    = 210
	noShardAnswers  = 279 // ALL_CONNECTION_TRIES_FAILED
	readAfterTheEnd = 32
)

// isAway reports whether an error says that a server, or a shard that it asks, does not answer.
func isAway(err error) bool {
	code, answered := clickhouse.IsException(err)
	if !answered {
		return IsUnavailable(err)
	}
	return code == socketTimeout || code == networkError || code == noShardAnswers || code == readAfterTheEnd
}

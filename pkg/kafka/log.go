package kafka

import (
	"context"
	"log/slog"

	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/pkg/logline"
)

// clientLog passes the client's warnings and errors on. Its chatter about metadata and fetches
// stays out, even of debug logs.
type clientLog struct{ log *slog.Logger }

func newClientLog(log *slog.Logger) clientLog {
	return clientLog{slog.New(logline.Foreign(log.Handler()))}
}

func (l clientLog) Level() kgo.LogLevel { return kgo.LogLevelWarn }

func (l clientLog) Log(level kgo.LogLevel, msg string, keyvals ...any) {
	severity := slog.LevelWarn
	if level == kgo.LogLevelError {
		severity = slog.LevelError
	}
	l.log.Log(context.Background(), severity, "kafka client: "+msg, keyvals...)
}

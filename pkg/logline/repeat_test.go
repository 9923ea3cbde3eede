package logline_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/logline"
)

// A warning that happens again and again is one line a minute, with the number of those that were
// left out.
func TestARepeatedErrorIsALineAMinute(t *testing.T) {
	t.Parallel()
	refused := func(port int) error { return fmt.Errorf("dial tcp 127.0.0.1:%d: connection refused", port) }
	type line struct {
		level slog.Level
		text  string
		attrs []any
	}
	for name, c := range map[string]struct {
		lines []line // each every second, in turn, for two minutes and a half
		want  []string
	}{
		"one outage, many partitions and brokers": {
			[]line{{slog.LevelWarn, "cannot read", []any{"partition", 1, "error", refused(9092)}},
				{slog.LevelWarn, "cannot read", []any{"partition", 2, "error", refused(9093)}}},
			[]string{"partition=1", "left_out=59", "left_out=59"},
		},
		"another error": {
			[]line{{slog.LevelError, "cannot read", []any{"error", refused(1)}},
				{slog.LevelError, "cannot read", []any{"error", errors.New("closed")}}},
			[]string{"refused", "closed", "refused\" left_out=29", "closed left_out=29",
				"refused\" left_out=29", "closed left_out=29"},
		},
		"without an error, other fields": {
			[]line{{slog.LevelWarn, "too many", []any{"account_id", "a"}},
				{slog.LevelWarn, "too many", []any{"account_id", "b"}}},
			[]string{"=a", "=b", "=a left_out=29", "=b left_out=29", "=a left_out=29", "=b left_out=29"},
		},
		"another level": {
			[]line{{slog.LevelWarn, "x", nil}, {slog.LevelError, "x", nil}},
			[]string{"WARN", "ERROR", "WARN", "ERROR", "WARN", "ERROR"},
		},
	} {
		var out bytes.Buffer
		h := logline.Once(slog.NewTextHandler(&out, nil))
		begin := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
		for second := range 150 {
			l := c.lines[second%len(c.lines)]
			r := slog.NewRecord(begin.Add(time.Duration(second)*time.Second), l.level, l.text, 0)
			r.Add(l.attrs...)
			require.NoError(t, h.Handle(t.Context(), r))
		}
		got := strings.Split(strings.TrimSpace(out.String()), "\n")
		require.Len(t, got, len(c.want), "%s: %s", name, out.String())
		for i, want := range c.want {
			require.Contains(t, got[i], want, name)
		}
	}
}

// What is routine is never left out, and the logs of parts and of libraries share what was written.
func TestWhatIsNotLeftOut(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	log := slog.New(logline.Once(slog.NewTextHandler(&out, nil)))
	for range 3 {
		log.Info("ready")
		log.With("component", "query").Warn("slow", "error", "x 1")
		log.With("component", "crud").Warn("slow", "error", "x 2")
		slog.New(logline.Foreign(log.Handler())).Error("library", "err", errors.New("dial 3"), "addr", "a")
	}
	require.Equal(t, 3, strings.Count(out.String(), "msg=ready"))
	require.Equal(t, 2, strings.Count(out.String(), "msg=slow"))
	require.Equal(t, 1, strings.Count(out.String(), "msg=library"))
}

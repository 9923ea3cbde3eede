package logline

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"
)

const (
	// repeatAfter is how long a warning or an error is not written again.
	repeatAfter = time.Minute
	// maxRepeated bounds the different lines that are remembered.
	maxRepeated = 1000
)

// Once returns a handler that writes a warning or an error once a minute, however often it happens:
// an engine that is away fails every try of every part. The next line says how many were left out.
// Lines are the same if they have the same message and the same error, but for its digits: the
// partitions, ports and brokers that one outage concerns. Without an error, all fields count.
func Once(h slog.Handler) slog.Handler {
	return once{Handler: h, seen: &repeats{lines: map[string]*repeat{}}}
}

type once struct {
	slog.Handler
	with string // the fields of every line
	seen *repeats
}

type repeats struct {
	mu    sync.Mutex
	lines map[string]*repeat
}

type repeat struct {
	written time.Time
	left    int // out since then
}

// Handle implements slog.Handler.
func (o once) Handle(ctx context.Context, r slog.Record) error {
	if r.Level < slog.LevelWarn {
		return o.Handler.Handle(ctx, r)
	}
	left, again := o.seen.count(o.key(r), r.Time)
	if again {
		return nil
	}
	if left > 0 {
		r = r.Clone()
		r.AddAttrs(slog.Int("left_out", left))
	}
	return o.Handler.Handle(ctx, r)
}

// count returns how many lines were left out before this one, or that this one is left out as well.
func (s *repeats) count(key string, now time.Time) (left int, again bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	line := s.lines[key]
	if line != nil && now.Sub(line.written) < repeatAfter {
		line.left++
		return 0, true
	}
	if line != nil {
		left = line.left
	} else if len(s.lines) >= maxRepeated {
		clear(s.lines)
	}
	s.lines[key] = &repeat{written: now}
	return left, false
}

// key returns what is the same in lines about the same.
func (o once) key(r slog.Record) string {
	all, failure := "", ""
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "error" {
			failure = strings.Map(hideDigits, a.Value.String())
		}
		all += "\n" + a.String()
		return true
	})
	if failure != "" {
		all = "\n" + failure
	}
	return r.Level.String() + "\n" + o.with + "\n" + r.Message + all
}

func hideDigits(r rune) rune {
	if r >= '0' && r <= '9' {
		return -1
	}
	return r
}

// WithAttrs implements slog.Handler.
func (o once) WithAttrs(attrs []slog.Attr) slog.Handler {
	var with strings.Builder
	with.WriteString(o.with)
	for _, a := range attrs {
		with.WriteString("\n" + a.String())
	}
	return once{o.Handler.WithAttrs(attrs), with.String(), o.seen}
}

// WithGroup implements slog.Handler.
func (o once) WithGroup(name string) slog.Handler {
	return once{o.Handler.WithGroup(name), o.with + "\n" + name, o.seen}
}

// Package logline keeps lines of the log in one schema, which is the table of docs/logs.md: the
// names of fields, their types and units.
package logline

import (
	"context"
	"log/slog"
	"slices"
	"strings"
)

// Foreign returns a handler for the log of a library. The names that it gives its fields are its
// own: they become the text of the field "detail", and an error the field "error". What it logs as
// INFO is routine, and becomes DEBUG.
func Foreign(h slog.Handler) slog.Handler { return foreign{Handler: h} }

type foreign struct {
	slog.Handler
	with []slog.Attr
}

func routine(l slog.Level) slog.Level {
	if l == slog.LevelInfo {
		return slog.LevelDebug
	}
	return l
}

// Enabled implements slog.Handler.
func (f foreign) Enabled(ctx context.Context, l slog.Level) bool {
	return f.Handler.Enabled(ctx, routine(l))
}

// Handle implements slog.Handler.
func (f foreign) Handle(ctx context.Context, r slog.Record) error {
	line := slog.NewRecord(r.Time, routine(r.Level), r.Message, r.PC)
	var details []string
	add := func(a slog.Attr) bool {
		if a.Key == "err" || a.Key == "error" {
			line.AddAttrs(slog.String("error", a.Value.String()))
		} else {
			details = append(details, a.String())
		}
		return true
	}
	for _, a := range f.with {
		add(a)
	}
	r.Attrs(add)
	if len(details) > 0 {
		line.AddAttrs(slog.String("detail", strings.Join(details, " ")))
	}
	return f.Handler.Handle(ctx, line)
}

// WithAttrs implements slog.Handler.
func (f foreign) WithAttrs(attrs []slog.Attr) slog.Handler {
	return foreign{f.Handler, append(slices.Clip(f.with), attrs...)}
}

// WithGroup implements slog.Handler. Names of groups are dropped.
func (f foreign) WithGroup(string) slog.Handler { return f }

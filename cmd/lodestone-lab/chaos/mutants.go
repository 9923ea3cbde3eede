package chaos

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"lodestone/cmd/lodestone-lab/chaos/mutant"
	"lodestone/pkg/engine"
)

var errUnnoticed = errors.New("the run does not notice it")

// tryMutants breaks one rule after the other, and returns which were not noticed. A directory that is given is kept.
func tryMutants(ctx context.Context, dir string, log *slog.Logger) error {
	var errs []error
	for i, m := range mutant.All() {
		begin := time.Now()
		err := tryMutant(ctx, m, dir, i, log)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		verdict := "caught"
		if err != nil {
			verdict = "NOT CAUGHT"
			errs = append(errs, err)
		}
		fmt.Printf("%s: %s, in %v\n", m.Name, verdict, time.Since(begin).Round(time.Second))
	}
	return errors.Join(errs...)
}

// tryMutant returns nil if a rule that is broken is noticed.
func tryMutant(ctx context.Context, m mutant.Mutant, dir string, number int, log *slog.Logger) (err error) {
	if dir == "" {
		// Not below a directory that only we may enter: PostgreSQL, which is another user if we are root, passes through.
		if dir, err = os.MkdirTemp("", "lodestone-chaos-"); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, engine.RemoveDir(dir)) }()
	} else {
		dir = filepath.Join(dir, fmt.Sprint("mutant", number+1))
	}
	if err := errors.Join(os.MkdirAll(dir, 0o700), os.Chmod(dir, 0o711)); err != nil { //nolint:gosec // as above
		return err
	}
	if m.Package != "" {
		return m.RunTests(ctx, dir)
	}
	return runMutant(ctx, m, dir, log)
}

// runMutant lets a schedule run on programs that are broken, and returns nil if that shows.
func runMutant(ctx context.Context, m mutant.Mutant, dir string, log *slog.Logger) error {
	programs := filepath.Join(dir, "bin")
	if err := buildPrograms(ctx, programs, m.Name); err != nil {
		return err
	}
	o := options{
		Seed: 20261, Rate: 800, Senders: 8, Brokers: 1, Steps: m.Steps, Pause: 1500 * time.Millisecond, Recover: 10 * time.Minute,
		NoSpool: m.NoSpool, Dir: dir, Programs: programs, Log: log,
	}
	if m.Sign == mutant.Stuck {
		o.Recover = time.Minute
	}
	r, err := chaos(ctx, o)
	if m.Sign == mutant.Stuck && errors.Is(err, errStuck) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("mutant %q: %w", m.Name, err)
	}
	if shows := map[mutant.Sign]bool{
		mutant.Lost: r.Findings.Lost > 0, mutant.Doubled: r.Findings.Doubled > 0, mutant.Broken: len(r.Broken) > 0,
	}[m.Sign]; r.ok() || !shows {
		return errors.Join(fmt.Errorf("mutant %q: %w", m.Name, errUnnoticed), r.write(os.Stderr))
	}
	return nil
}

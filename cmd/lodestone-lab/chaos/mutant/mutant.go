// Package mutant builds programs in which one rule is broken on purpose. The chaos runner, or the
// test of a package, has to catch each of them: one that does not notice proves nothing about the
// rule.
package mutant

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"lodestone/cmd/lodestone-lab/overlay"
)

// Mutant is one rule that is broken, and what catches it: a schedule of faults, or else the tests
// of a package.
type Mutant struct {
	Name  string // says what is broken
	Edits []Edit
	Short bool // part of the short form, which `make lab` runs

	Steps   []string // the faults that show it
	NoSpool bool     // the collectors have no spool: it would save what is to be lost
	Sign    Sign     // by which the run shows it

	Package string // whose tests fail, relative to the product
	Test    string // pattern of those tests' names
}

// Sign is the kind of failure that a run finds.
type Sign string

// The signs.
const (
	Lost    Sign = "lost"    // acknowledged events are not stored
	Doubled Sign = "doubled" // events are stored twice
	Broken  Sign = "broken"  // a fault saw a rule broken
	Stuck   Sign = "stuck"   // the system did not recover
)

// Edit replaces a text of a source file, which must occur in it exactly once.
type Edit struct{ File, Old, New string }

// Find returns the mutant of a name.
func Find(name string) (Mutant, error) {
	for _, m := range All() {
		if m.Name == name {
			return m, nil
		}
	}
	return Mutant{}, fmt.Errorf("there is no mutant %q", name)
}

// Sources returns the changed sources. It fails if a text to be replaced is not there exactly once.
func (m Mutant) Sources(ctx context.Context) (overlay.Sources, error) {
	root, err := overlay.Root(ctx)
	if err != nil {
		return nil, err
	}
	sources := overlay.Sources{}
	for _, e := range m.Edits {
		source, read := sources[e.File]
		if !read {
			if source, err = os.ReadFile(filepath.Join(root, e.File)); err != nil {
				return nil, fmt.Errorf("mutant %q: %w", m.Name, err)
			}
		}
		if n := bytes.Count(source, []byte(e.Old)); n != 1 {
			return nil, fmt.Errorf("mutant %q: the text to be replaced occurs %d times in %s, not once: %s", m.Name, n, e.File,
				e.Old)
		}
		sources[e.File] = bytes.Replace(source, []byte(e.Old), []byte(e.New), 1)
	}
	return sources, nil
}

// ErrUnnoticed says that tests passed although their rule was broken.
var ErrUnnoticed = errors.New("the tests do not notice it")

// RunTests runs the tests that are to catch the mutant, and returns nil if one of them fails. The
// directory is for the changed sources.
func (m Mutant) RunTests(ctx context.Context, dir string) error {
	sources, err := m.Sources(ctx)
	if err != nil {
		return err
	}
	cmd, err := sources.Go(ctx, dir, "test", "-vet=off", "-count=1", "-failfast", "-run", m.Test, "lodestone/"+m.Package)
	if err != nil {
		return err
	}
	output, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err == nil:
		return fmt.Errorf("mutant %q: %w: %s", m.Name, ErrUnnoticed, output)
	case errors.As(err, &exit) && bytes.Contains(output, []byte("--- FAIL: ")):
		return nil
	default: // it does not compile, for instance
		return fmt.Errorf("mutant %q: run its tests: %w: %s", m.Name, err, output)
	}
}

// Package config says how a setting reaches a process: a flag, else the environment variable
// derived from it (--postgres-url: LODESTONE_POSTGRES_URL), else the file that the same variable
// with _FILE names, else the default.
package config

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// EnvPrefix begins every environment variable that Lodestone reads.
const EnvPrefix = "LODESTONE"

// Problem is one setting that cannot be used as given.
type Problem struct {
	Setting string // the flag, with its dashes
	Wrong   string // what is wrong, without the value when that is a secret
	Remedy  string // what to do
}

// Error says what is wrong with which setting, and what to do.
func (p *Problem) Error() string {
	return fmt.Sprintf("%s (%s) %s: %s", p.Setting, EnvName(p.Setting), p.Wrong, p.Remedy)
}

// Invalid returns a Problem as an error.
func Invalid(setting, wrong, remedy string) error {
	return &Problem{Setting: setting, Wrong: wrong, Remedy: remedy}
}

// IsInvalid reports whether an error comes from a setting, so that the user can correct it.
func IsInvalid(err error) bool {
	var p *Problem
	return errors.As(err, &p)
}

// Problems returns every problem in a tree of joined and wrapped errors.
func Problems(err error) []*Problem {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var all []*Problem
		for _, e := range joined.Unwrap() {
			all = append(all, Problems(e)...)
		}
		return all
	}
	if p, ok := errors.AsType[*Problem](err); ok {
		return []*Problem{p}
	}
	return nil
}

// EnvName returns the environment variable of a flag: --listen is LODESTONE_LISTEN.
func EnvName(flag string) string {
	name := strings.TrimLeft(flag, "-")
	return EnvPrefix + "_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
}

// Files resolves settings from the files named by their environment variables with _FILE appended, as container platforms
// hand over secrets. A trailing line break is not part of the value. It implements kong.Resolver.
type Files struct {
	Getenv func(string) string
	// Problems are the settings that are given twice or whose file cannot be read. The parser goes on beyond them, so that all are
	// found; the caller must refuse them.
	Problems []*Problem
}

// Validate implements kong.Resolver.
func (*Files) Validate(*kong.Application) error { return nil }

// Resolve implements kong.Resolver.
func (f *Files) Resolve(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	name := EnvName(flag.Name)
	path := f.Getenv(name + "_FILE")
	if path == "" {
		return nil, nil
	}
	if f.Getenv(name) != "" {
		f.refuse(flag, "is given twice", "set either "+name+" or "+name+"_FILE")
		return nil, nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		f.refuse(flag, "cannot be read from a file: "+err.Error(), "correct "+name+"_FILE")
		return nil, nil //nolint:nilerr // it is reported with all other problems
	}
	return strings.TrimRight(string(text), "\r\n"), nil
}

func (f *Files) refuse(flag *kong.Flag, wrong, remedy string) {
	setting := "--" + flag.Name
	if !slices.ContainsFunc(f.Problems, func(p *Problem) bool { return p.Setting == setting }) {
		f.Problems = append(f.Problems, &Problem{Setting: setting, Wrong: wrong, Remedy: remedy})
	}
}

// Package config says how a setting reaches a process: a flag, else the environment variable
// derived from it (--postgres-url: LODESTONE_POSTGRES_URL), else the file that the same variable
// with _FILE names, else the default.
package config

import (
	"errors"
	"fmt"
	"reflect"
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
	NoEnv   bool   // the setting has no environment variable
}

// Error says what is wrong with which setting, and what to do.
func (p *Problem) Error() string {
	if p.NoEnv {
		return fmt.Sprintf("%s %s: %s", p.Setting, p.Wrong, p.Remedy)
	}
	return fmt.Sprintf("%s (%s) %s: %s", p.Setting, EnvName(p.Setting), p.Wrong, p.Remedy)
}

// Invalid returns a Problem as an error.
func Invalid(setting, wrong, remedy string) error {
	return &Problem{Setting: setting, Wrong: wrong, Remedy: remedy}
}

// InvalidFlag is Invalid for a flag that FlagOnly is true of.
func InvalidFlag(flag, wrong, remedy string) error {
	return &Problem{Setting: flag, Wrong: wrong, Remedy: remedy, NoEnv: true}
}

// FlagOnly reports whether a value is taken from the command line alone, since it confirms a
// command or widens what it does: a variable may be there for another command. Such a flag has the
// tag env:"-".
func FlagOnly(flag *kong.Flag) bool { return flag.Tag.Get("env") == "-" }

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

// Files resolves settings from the files named by their environment variables with _FILE appended,
// as container platforms hand over secrets. A trailing line break is not part of the value. It
// implements kong.Resolver. They are read once, except for a secret that a Config takes in a method
// AfterApply(*Files), which the parser calls: the process notices when its file changes.
type Files struct {
	Getenv func(string) string
	// Problems are the settings that are given twice or whose file cannot be used. The parser goes on
	// beyond them, so that all are found; the caller must refuse them.
	Problems []*Problem

	resolved map[*string]*Secret // by the field that has the value
}

// Secret returns the secret of a field whose value came from a file, to be watched, or nil if the
// value came from elsewhere. check judges later values, and its errors must not repeat them.
func (f *Files) Secret(field *string, check func(text string) error) *Secret {
	s := f.resolved[field]
	if s != nil {
		s.check = check
	}
	return s
}

// Validate implements kong.Resolver.
func (*Files) Validate(*kong.Application) error { return nil }

// Resolve implements kong.Resolver.
func (f *Files) Resolve(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
	name := EnvName(flag.Name)
	path := f.Getenv(name + "_FILE")
	if path == "" || FlagOnly(flag) {
		return nil, nil
	}
	if f.Getenv(name) != "" {
		f.Refuse(flag, "is given twice", "set either "+name+" or "+name+"_FILE")
		return nil, nil
	}
	text, err := readSecret(path)
	if err != nil {
		f.Refuse(flag, "cannot be read from a file: "+err.Error(), "correct "+name+"_FILE, or the file")
		return nil, nil //nolint:nilerr // it is reported with all other problems
	}
	if field, ok := reflect.TypeAssert[*string](flag.Target.Addr()); ok {
		if f.resolved == nil {
			f.resolved = map[*string]*Secret{}
		}
		f.resolved[field] = NewSecret(SecretConfig{Setting: "--" + flag.Name, Path: path, Value: text})
	}
	return text, nil
}

// Refuse notes what is wrong with a setting. The parser goes on; the caller must look at Problems.
func (f *Files) Refuse(flag *kong.Flag, wrong, remedy string) {
	setting := "--" + flag.Name
	if !slices.ContainsFunc(f.Problems, func(p *Problem) bool { return p.Setting == setting }) {
		f.Problems = append(f.Problems, &Problem{Setting: setting, Wrong: wrong, Remedy: remedy})
	}
}

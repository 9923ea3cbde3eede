// Package config says how a setting reaches a process: a flag, else the environment variable
// derived from it (--postgres-url: LODESTONE_POSTGRES_URL), else the file that the same variable
// with _FILE names, else the default.
package config

import (
	"errors"
	"fmt"
	"os"
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

// IsInvalid reports whether an error comes from a setting, so that the user can mend it.
func IsInvalid(err error) bool {
	var p *Problem
	return errors.As(err, &p)
}

// EnvName returns the environment variable of a flag: --listen is LODESTONE_LISTEN.
func EnvName(flag string) string {
	name := strings.TrimLeft(flag, "-")
	return EnvPrefix + "_" + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
}

// FileResolver returns a resolver that reads a setting from the file named by its environment
// variable with _FILE appended, as container platforms hand over secrets. A trailing line break
// is not part of the value. Setting both the variable and its _FILE form is refused.
func FileResolver(getenv func(string) string) kong.Resolver {
	return kong.ResolverFunc(func(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
		name := EnvName(flag.Name)
		path := getenv(name + "_FILE")
		if path == "" {
			return nil, nil
		}
		if getenv(name) != "" {
			return nil, Invalid("--"+flag.Name, "is given twice", "set either "+name+" or "+name+"_FILE")
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("read %s_FILE: %w", name, err)
		}
		return strings.TrimRight(string(text), "\r\n"), nil
	})
}

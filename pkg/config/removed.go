package config

import (
	"slices"
	"strings"
)

// removed are settings that were removed, and what to do instead.
var removed = map[string]string{
	"--clickhouse-max-lag": "leave it out: each ClickHouse shard has one server",
}

// Removed returns a problem for each removed setting that the arguments or the environment give.
func Removed(args []string, getenv func(string) string) (problems []*Problem) {
	for setting, remedy := range removed {
		isFlag := func(arg string) bool { return arg == setting || strings.HasPrefix(arg, setting+"=") }
		if slices.ContainsFunc(args, isFlag) || getenv(EnvName(setting)) != "" {
			problems = append(problems, &Problem{Setting: setting, Wrong: "was removed", Remedy: remedy})
		}
	}
	slices.SortFunc(problems, func(a, b *Problem) int { return strings.Compare(a.Setting, b.Setting) })
	return problems
}

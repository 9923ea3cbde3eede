package grafanacheck

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// view is the selection on a dashboard: a time range and values of variables. A variable without
// values has all of them.
type view struct {
	from, to time.Time
	interval time.Duration
	values   map[string][]string
}

var (
	conditional = regexp.MustCompile(`\$__conditionalAll\(((?:[^()]|\([^()]*\))*), \$(\w+)\)`)
	quoted      = regexp.MustCompile(`\$\{(\w+):singlequote\}`)
	plain       = regexp.MustCompile(`\$\{(\w+)\}`)
	macro       = regexp.MustCompile(`\$__(\w+)\((\w+)\)`)
)

// expand fills in what Grafana and the plugin fill in: first the condition that is left out where
// all values of a variable are chosen, then variables, then macros.
func (v view) expand(t *testing.T, sql string) string {
	t.Helper()
	sql = conditional.ReplaceAllStringFunc(sql, func(found string) string {
		parts := conditional.FindStringSubmatch(found)
		if len(v.values[parts[2]]) == 0 {
			return "1=1"
		}
		return parts[1]
	})
	sql = quoted.ReplaceAllStringFunc(sql, func(found string) string {
		return "'" + strings.Join(v.values[quoted.FindStringSubmatch(found)[1]], "','") + "'"
	})
	sql = plain.ReplaceAllStringFunc(sql, func(found string) string {
		return strings.Join(v.values[plain.FindStringSubmatch(found)[1]], ",")
	})
	sql = macro.ReplaceAllStringFunc(sql, func(found string) string {
		parts := macro.FindStringSubmatch(found)
		switch parts[1] {
		case "timeFilter":
			return fmt.Sprintf("%[1]s >= toDateTime(%[2]d) AND %[1]s <= toDateTime(%[3]d)", parts[2], v.from.Unix(), v.to.Unix())
		case "timeInterval":
			return fmt.Sprintf("toStartOfInterval(toDateTime(%s), INTERVAL %d second)", parts[2], int(v.interval.Seconds()))
		}
		return found
	})
	require.NotContains(t, sql, "$", "a macro or a variable that is not known here")
	return sql
}

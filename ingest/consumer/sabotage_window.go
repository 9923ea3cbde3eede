//go:build chaos_no_window && !chaos_no_rule_r

package consumer

const (
	disableRuleR  = false
	disableWindow = true
)

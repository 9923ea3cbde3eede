//go:build chaos_no_rule_r

package consumer

const (
	disableRuleR  = true
	disableWindow = false
)

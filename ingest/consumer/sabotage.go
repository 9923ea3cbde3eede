//go:build !chaos_no_rule_r && !chaos_no_window

package consumer

// Switches that break the consumer on purpose, in builds with tags of their own and in no other:
// the chaos runner has to catch each of them.
const (
	disableRuleR  = false // trust the tokens instead of looking at what is stored
	disableWindow = false // store repeats
)

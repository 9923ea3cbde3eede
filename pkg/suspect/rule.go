// Package suspect names the rules by which a session looks like a browser's and behaves like a
// program's that checks links. What a rule finds is still counted: an account decides which rules
// it believes.
package suspect

import "lodestone/pkg/jsonschema"

// Rule is a rule, by its name.
type Rule string

// The rules. A session has the first one that applies, in this order.
const (
	Network  Rule = "network"   // the address is of a network in the operator's file
	Delivery Rule = "delivery"  // it began within seconds of the mail with the link
	NoInput  Rule = "no-input"  // several pages in seconds, and neither pointer, scroll nor key
	SamePath Rule = "same-path" // one browser did the same in many links
)

// Rules returns all rules.
func Rules() []Rule { return []Rule{Network, Delivery, NoInput, SamePath} }

// EnumValues implements jsonschema.Enum.
func (Rule) EnumValues() []string { return jsonschema.Values(Rules()) }

// What the rules go by. docs/bots.md says why.
const (
	// DeliverySeconds is how long after a mail was handed over an opening is no person's.
	DeliverySeconds = 30
	// NoInputPages is from how many pages on, and NoInputMS below how much time for each, no one reads
	// without touching anything.
	NoInputPages = 3
	NoInputMS    = 2000
	// SamePathLinks is in how many links one browser does the same, within SamePathSeconds.
	SamePathLinks   = 40
	SamePathSeconds = 600
)

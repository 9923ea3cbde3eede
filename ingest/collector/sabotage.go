//go:build !chaos_early_ack

package collector

// ackEarly breaks the collector on purpose, in a build with a tag of its own and in no other: the
// chaos runner has to catch it.
const ackEarly = false

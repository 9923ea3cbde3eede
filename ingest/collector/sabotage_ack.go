//go:build chaos_early_ack

package collector

const ackEarly = true // answer before the events are durable

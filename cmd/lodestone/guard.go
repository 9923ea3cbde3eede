package main

import (
	"lodestone/pkg/kafka"
	"lodestone/pkg/postgres"
)

// addGuard puts the check of Kafka's settings onto the stack, for the topics that the process uses.
// With mayMiss the process starts although they are missing.
func (p *process) addGuard(k kafka.Config, pool *postgres.Pool, mayMiss bool, topics ...string) error {
	guard, err := kafka.NewGuard(kafka.GuardConfig{Kafka: k, Topics: topics, AllowMissing: mayMiss},
		kafka.GuardDeps{Ledger: kafka.Ledger{Pool: pool}, Log: p.log, Registerer: p.metrics})
	if err != nil {
		return err
	}
	p.stack.Add("check of Kafka's settings", guard)
	return nil
}
